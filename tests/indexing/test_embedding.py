"""Vectors are made once for each text, by one embedder, and never stand in the way of text search."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quintet
from quintet import Conflict, QuintetError, StoreError, UsageError


class Counting:
    """An embedder of the port that remembers which texts it was given."""

    def __init__(self, identity: str = "counting-8", dimensions: int = 8) -> None:
        self.identity = identity
        self.dimensions = dimensions
        self.seen: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        self.seen += texts
        return np.array([self._vector(text) for text in texts])

    def embed_query(self, text: str) -> np.ndarray | None:
        return self._vector(text)

    def _vector(self, text: str) -> np.ndarray:
        letters = [sum(map(ord, text[place :: self.dimensions])) for place in range(self.dimensions)]
        return np.array(letters, np.float64)


class Broken(Counting):
    """Answers documents or queries with whatever it was told to."""

    def __init__(self, answer: Callable[[Any], Any], *, queries: bool = False) -> None:
        super().__init__("broken-8")
        self._answer = answer
        self._queries = queries

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        return super().embed_documents(texts) if self._queries else self._answer(texts)

    def embed_query(self, text: str) -> np.ndarray | None:
        return self._answer([text])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.txt").write_text(f"The lantern of {name}.\n", "utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


def test_every_text_is_embedded_once(folder: Path, files: Path) -> None:
    embedder = Counting()
    (files / "again.txt").write_text("The lantern of a.\n", "utf-8")
    with quintet.open(folder, embedder) as index:
        report = index.sync([files])
        index.sync()
        index.sync(force=True)
        assert sorted(embedder.seen) == ["The lantern of a.", "The lantern of b.", "The lantern of c."]
        assert (report.embedded, index.status().embedded) == (4, 4)


def test_text_that_moves_is_not_embedded_again(folder: Path, files: Path) -> None:
    embedder = Counting()
    with quintet.open(folder, embedder) as index:
        index.sync([files])
        embedder.seen.clear()
        (files / "a.txt").rename(files / "z.txt")
        (files / "b.txt").write_text("The lantern of c.\n", "utf-8")
        (files / "c.txt").write_text("The lantern of b.\n", "utf-8")
        index.sync()
        assert embedder.seen == []
        (files / "b.txt").write_text("Something new.\n", "utf-8")
        index.sync()
        assert embedder.seen == ["Something new."]


def test_vectors_that_nothing_needs_are_dropped(folder: Path, files: Path) -> None:
    with quintet.open(folder, Counting()) as index:
        index.sync([files])
        before = index.status().state_root
        (files / "d.txt").write_text("For a moment.\n", "utf-8")
        index.sync()
        (files / "d.txt").unlink()
        index.sync()
        assert index.status().state_root == before


def test_the_embedder_of_an_index_is_remembered_and_another_is_refused(folder: Path, files: Path) -> None:
    with quintet.open(folder, Counting()) as index:
        index.sync([files])
        assert index.status().embedder == "counting-8"
    for other in (Counting("other-8"), "hashing"):
        with pytest.raises(Conflict, match="counting-8") as caught:
            quintet.open(folder, other)
        assert (caught.value.code, caught.value.exit_code) == ("index_mismatch", 4)


def test_the_same_name_with_other_dimensions_is_refused(folder: Path, files: Path) -> None:
    with quintet.open(folder, Counting("model", 8)) as index:
        index.sync([files])
    with pytest.raises(Conflict) as caught, quintet.open(folder, Counting("model", 16)) as index:
        (files / "d.txt").write_text("Something new.\n", "utf-8")
        index.sync()
    assert caught.value.code == "index_mismatch"
    with quintet.open(folder, Counting("model", 8)) as index:
        assert index.search("lantern").status == "ok"


def test_two_that_open_an_empty_index_with_different_embedders_do_not_mix(folder: Path, files: Path) -> None:
    with quintet.open(folder, Counting("one")) as one, quintet.open(folder, Counting("two")) as two:
        one.sync([files])
        with pytest.raises(Conflict) as caught:
            two.sync([files])
        assert caught.value.code == "index_mismatch"
        assert one.status().embedder == "one"


def test_without_an_embedder_nothing_is_refused(folder: Path, files: Path) -> None:
    with quintet.open(folder, Counting()) as index:
        index.sync([files])
    with quintet.open(folder, None) as index:
        response = index.search("lantern", "rifflux")
        assert (len(response.body["results"]), response.status) == (3, "degraded")
        assert [note["code"] for note in response.notes] == ["embedder_missing"]
        (files / "d.txt").write_text("One more lantern.\n", "utf-8")
        assert index.sync().indexed == 1
        assert (index.status().embedded, index.status().embedder) == (3, "counting-8")
    embedder = Counting()
    with quintet.open(folder, embedder) as index:
        assert [note["code"] for note in index.search("lantern").notes] == ["partly_embedded"]
        index.sync()
        assert embedder.seen == ["One more lantern."]


def test_an_embedder_that_is_left_out_is_the_one_of_the_index(folder: Path, files: Path) -> None:
    with quintet.open(folder, "hashing") as index:
        index.sync([files])
    with quintet.open(folder) as index:
        assert index.embedder is not None
        assert index.embedder.identity == index.status().embedder
        assert index.search("lantern").status == "ok"


def test_an_embedder_that_quintet_cannot_load_is_asked_for_before_writing(folder: Path, files: Path) -> None:
    with quintet.open(folder, Counting()) as index:
        index.sync([files])
    with quintet.open(folder) as index:
        assert len(index.search("lantern").body["results"]) == 3
        with pytest.raises(Conflict, match="counting-8"):
            index.sync()


BAD: list[Callable[[Any], Any]] = [
    lambda texts: np.zeros((len(texts), 7)),
    lambda texts: np.zeros((len(texts) + 1, 8)),
    lambda texts: np.zeros(8 * len(texts) + 1),
    lambda texts: np.full((len(texts), 8), np.nan),
    lambda texts: np.full((len(texts), 8), np.inf),
    lambda texts: [["x"] * 8] * len(texts),
    lambda texts: [[1], [1, 2]],
    lambda texts: None,
    lambda texts: "vector",
    lambda texts: np.full((len(texts), 8), 1j),
    lambda texts: 1 / 0,
]


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("answer", BAD)
def test_an_embedder_that_fails_gives_one_of_our_errors_and_text_stays_searchable(
    folder: Path, files: Path, answer: Callable[[Any], Any]
) -> None:
    with quintet.open(folder, Broken(answer)) as index:
        with pytest.raises(QuintetError) as caught:
            index.sync([files])
        assert caught.value.message.splitlines() == [caught.value.message]
        found = index.search("lantern", "rifflux", mode="lexical")
        assert (len(found.body["results"]), found.status) == (3, "ok")
    with quintet.open(folder, None) as index:
        assert len(index.search("lantern").body["results"]) == 3


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("answer", BAD[:6] + BAD[8:])
def test_a_query_that_cannot_be_embedded_is_answered_by_the_text_leg_with_a_note(
    folder: Path, files: Path, answer: Callable[[Any], Any]
) -> None:
    with quintet.open(folder, Broken(answer, queries=True)) as index:
        index.sync([files])
        response = index.search("lantern", "rifflux")
        assert (len(response.body["results"]), response.status) == (3, "degraded")
        assert [note["code"] for note in response.notes] == ["leg_failed"]
        with pytest.raises(UsageError) as caught:
            index.search("lantern", "knowledge")
        assert caught.value.code == "embeddings_unavailable"


def test_a_query_without_an_embedding_is_answered_by_the_text_leg(folder: Path, files: Path) -> None:
    with quintet.open(folder, Broken(lambda _: None, queries=True)) as index:
        index.sync([files])
        response = index.search("lantern", "rifflux")
        assert (len(response.body["results"]), response.status) == (3, "degraded")
        assert index.search("lantern", "rifflux", mode="semantic").body["results"] == []


@pytest.mark.parametrize("identity", [None, "", " ", 7])
def test_an_embedder_without_a_name_is_refused(folder: Path, identity: Any) -> None:
    with pytest.raises(UsageError, match="identity"):
        quintet.open(folder, Counting(identity))


@pytest.mark.parametrize("dimensions", [None, 0, -1, True, 1.5, 10**9])
def test_an_embedder_without_sensible_dimensions_is_refused(folder: Path, dimensions: Any) -> None:
    with pytest.raises(UsageError, match="dimensions"):
        quintet.open(folder, Counting("x", dimensions))


def test_a_run_that_stops_while_embedding_goes_on_where_it_was(folder: Path, files: Path) -> None:
    class Failing(Counting):
        def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
            if len(self.seen) == 2:
                raise ConnectionError("the line is dead")
            return super().embed_documents(texts)

    with quintet.open(folder, Failing(), embed_batch=1) as index:
        with pytest.raises(StoreError, match="the line is dead"):
            index.sync([files])
        assert index.status().embedded == 2
    embedder = Counting()
    with quintet.open(folder, embedder) as index:
        index.sync()
        assert len(embedder.seen) == 1


def _records(folder: Path, numbers: Iterable[int]) -> Path:
    folder.mkdir()
    lines = [f'"The lantern of {number}."\n' for number in numbers]
    (folder / "records.jsonl").write_text("".join(lines), "utf-8")
    return folder


def test_vectors_that_wait_for_a_commit_are_kept_when_a_run_stops(folder: Path, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("embed", 36):  # nothing is written between the 33rd and the 37th
            raise KeyboardInterrupt

    with quintet.open(folder, Counting(), embed_batch=1) as index:
        with pytest.raises(KeyboardInterrupt):
            index.sync([_records(tmp_path / "many", range(50))], progress=stop)
        assert index.status().embedded == 36


def test_a_kill_costs_at_most_an_eighth_of_what_was_embedded(folder: Path, tmp_path: Path) -> None:
    kept: dict[int, int] = {}
    with quintet.open(folder, Counting(), embed_batch=1) as index, quintet.open(folder, None) as other:

        def look(stage: str, done: int, total: int) -> None:
            if stage == "embed":
                kept[done] = other.status().embedded

        index.sync([_records(tmp_path / "many", range(50))], progress=look)
    assert list(kept) == list(range(51))
    assert all(done - written <= done // 8 for done, written in kept.items())
    assert any(written < done for done, written in kept.items())


def test_a_text_that_comes_again_while_its_vector_waits_is_embedded_once(
    folder: Path, tmp_path: Path
) -> None:
    embedder = Counting()
    twice = [number for pair in range(0, 50, 2) for number in (pair, pair + 1, pair, pair + 1)]
    with quintet.open(folder, embedder, embed_batch=1) as index:
        index.sync([_records(tmp_path / "many", twice)])
        assert index.status().embedded == 100
    assert len(embedder.seen) == len(set(embedder.seen)) == 50


def test_generated_code_is_searched_by_text_only(files: Path, folder: Path) -> None:
    (files / "wire_pb2.py").write_text("def lantern_message():\n    return 1\n", "utf-8")
    (files / "notes-min.md").write_text("# Minutes\n\nThe lantern was mended.\n", "utf-8")
    embedder = Counting()
    with quintet.open(folder, embedder) as index:
        report = index.sync([files])
        status = index.status()
        assert (report.embedded, report.pending) == (status.embedded, 0) == (4, 0)
        assert (status.chunks, status.text_only) == (5, 1)
        found = index.search("lantern_message", mode="lexical")
        assert found.answer is not None
        assert found.answer.passages[found.answer.ranked[0].best_chunk].document.path == "wire_pb2.py"
        assert "partly_embedded" not in [note["code"] for note in index.search("lantern").notes]
        index.reembed(Counting("counting-16", 16))
        assert (index.status().embedded, index.status().text_only) == (4, 1)
        checks = {check.name: check for check in index.doctor()}
    assert not any("lantern_message" in text for text in embedder.seen)
    assert checks["vectors"].ok and "1 of generated code" in checks["vectors"].message
