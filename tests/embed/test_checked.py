"""Whatever an embedder does, what comes out is canonical or an error of the tree."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from quintet.embed import CheckedEmbedder, load_embedder
from quintet.embed.hashing import HashingEmbedder
from quintet.errors import NotFound, QuintetError, StoreError, UsageError


@dataclass
class Own:
    """An embedder somebody wrote: it answers what it is told to."""

    answer: Any = None
    identity: Any = "own"
    dimensions: Any = 2
    raises: Exception | None = None
    closed: list[str] = field(default_factory=list)

    def embed_documents(self, texts: Sequence[str]) -> Any:
        if self.raises:
            raise self.raises
        return self.answer

    def embed_query(self, text: str) -> Any:
        return self.embed_documents([text])

    def close(self) -> None:
        self.closed.append("closed")


def test_floats_become_canonical_integers() -> None:
    checked = CheckedEmbedder(Own(np.array([[3.0, 4.0]])))
    assert checked.embed_documents(["text"]).tolist() == [[19660, 26214]]


@pytest.mark.parametrize("kind", (np.int8, np.int16, np.uint16, np.int32, np.float32))
def test_integers_of_any_size_are_scaled_like_floats(kind: type[np.generic]) -> None:
    """The type of an array says nothing about its length."""
    answer = np.array([[3, 4], [30, 40], [0, 0]], kind)
    made = CheckedEmbedder(Own(answer)).embed_documents(["one", "two", "three"])
    assert made.dtype == np.int16 and made.tolist() == [[19660, 26214], [19660, 26214], [0, 0]]
    alone = CheckedEmbedder(Own(answer[1])).embed_query("text")
    assert alone is not None and alone.tolist() == [19660, 26214]


@pytest.mark.parametrize("answer", [[[1.0]], [[1.0, 2.0, 3.0]], [1.0, 2.0], [], 7])
def test_a_wrong_shape_is_named(answer: object) -> None:
    with pytest.raises(StoreError, match=r"own returned shape .*expected \(1, 2\)"):
        CheckedEmbedder(Own(np.array(answer))).embed_documents(["text"])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_are_no_numbers_are_refused(value: float) -> None:
    with pytest.raises(QuintetError, match="NaN or infinity"):
        CheckedEmbedder(Own(np.array([[value, 1.0]]))).embed_documents(["text"])


def test_foreign_exceptions_become_errors_of_the_tree_and_ours_stay() -> None:
    with pytest.raises(StoreError, match="own failed: ZeroDivisionError: by zero"):
        CheckedEmbedder(Own(raises=ZeroDivisionError("by zero"))).embed_query("text")
    with pytest.raises(NotFound):
        CheckedEmbedder(Own(raises=NotFound("gone"))).embed_documents(["text"])


def test_words_instead_of_numbers_are_an_error_of_the_tree() -> None:
    with pytest.raises(StoreError, match="expected real numbers"):
        CheckedEmbedder(Own([["a", "b"]])).embed_documents(["text"])


def test_no_embedding_for_a_query_stays_none() -> None:
    assert CheckedEmbedder(Own(None)).embed_query("text") is None


@pytest.mark.parametrize("identity", ["", "  ", None, 7])
def test_an_identity_must_be_a_text(identity: object) -> None:
    with pytest.raises(UsageError, match="identity"):
        CheckedEmbedder(Own(identity=identity))


@pytest.mark.parametrize("dimensions", [0, -1, 65_537, True, "384", None])
def test_dimensions_must_be_a_sensible_number(dimensions: object) -> None:
    with pytest.raises(UsageError, match="dimensions"):
        CheckedEmbedder(Own(dimensions=dimensions))


def test_closing_reaches_the_embedder_if_it_can_be_closed() -> None:
    own = Own()
    CheckedEmbedder(own).close()
    assert own.closed == ["closed"]
    CheckedEmbedder(HashingEmbedder()).close()


def test_hashing_is_loaded_by_name_and_says_what_it_is() -> None:
    hashing = load_embedder("hashing")
    assert isinstance(hashing, CheckedEmbedder)
    assert (hashing.identity, hashing.kind, hashing.canonical) == ("hash-384", "hashing", False)
    assert hashing.embed_documents([]).shape == (0, 384)


def test_hashing_likens_inflections_and_not_strangers() -> None:
    one, other, stranger = HashingEmbedder().embed_documents(["indexing files", "indexed files", "a tide"])
    assert np.dot(one, other) > 0
    assert abs(np.dot(one, stranger)) < np.dot(one, other)


def test_hashing_gives_text_without_words_a_zero_vector() -> None:
    vector = CheckedEmbedder(HashingEmbedder()).embed_query("?! \ud800")
    assert vector is not None
    assert not vector.any()


class Ahead(Own):
    """Reads all batches before it answers the first."""

    def embed_batches(self, batches: Iterable[Sequence[str]]) -> Iterator[Any]:
        for texts in list(batches):
            yield self.embed_documents(texts)


@pytest.mark.parametrize("kind", (Own, Ahead))
def test_batches_are_checked_one_by_one(kind: type[Own]) -> None:
    checked = CheckedEmbedder(kind([[3, 4], [0, 0]]))
    answers = checked.embed_batches([["one", "two"], ["three", "four"], ["five"]])
    assert [next(answers).tolist() for _ in range(2)] == [[[19660, 26214], [0, 0]]] * 2
    with pytest.raises(StoreError, match=r"shape \(2, 2\); expected \(1, 2\)"):
        next(answers)


@pytest.mark.parametrize("kind", (Own, Ahead))
def test_an_exception_in_a_batch_becomes_one_of_ours(kind: type[Own]) -> None:
    checked = CheckedEmbedder(kind(raises=ConnectionError("the line is dead")))
    with pytest.raises(StoreError, match="the line is dead"):
        next(checked.embed_batches([["text"]]))
