"""What servers share: a model that loads behind the answers, vectors that follow the text."""

import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import quintet
from quintet.embed.hashing import HashingEmbedder
from quintet.errors import AccessError, LimitError, NotFound, QuintetError, StoreError
from quintet.query.search import Response
from quintet.serving import shared_index
from quintet.serving.shared_index import SharedIndex

PATIENCE = 60  # seconds; only a fault takes that long


class SlowEmbedder(HashingEmbedder):
    """A model that is not there until it is let go. It says when it is first asked."""

    kind = "canonical"
    identity = "slow-384"

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.released = threading.Event()
        self.broken = False

    def _wait(self) -> None:
        self.asked.set()
        assert self.released.wait(PATIENCE)
        if self.broken:
            raise OSError("the weights are gone")

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        self._wait()
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> np.ndarray | None:
        self._wait()
        return super().embed_query(text)


@pytest.fixture
def slow() -> Iterator[SlowEmbedder]:
    embedder = SlowEmbedder()
    yield embedder
    embedder.released.set()


@pytest.fixture
def waiting(library: Path, slow: SlowEmbedder) -> Iterator[SharedIndex]:
    """The shared to a library that is indexed and embedded, by a model that is not loaded again yet."""
    slow.released.set()
    with quintet.open(library / ".quintet", slow) as index:
        index.sync([library])
    slow.released.clear()
    slow.asked.clear()
    opened = SharedIndex(quintet.open(library / ".quintet", slow, model_seconds=0), base=library)
    yield opened
    slow.released.set()
    opened.close()


@pytest.mark.parametrize("contract", ["quintet", "rifflux", "harness", "cfs", "mcb"])
def test_the_first_answer_waits_for_the_model_and_is_the_whole_answer(
    library: Path, slow: SlowEmbedder, contract: str
) -> None:
    slow.released.set()
    with quintet.open(library / ".quintet", slow) as index:
        index.sync([library])
        whole = index.search("cache", contract)
    slow.released.clear()
    slow.asked.clear()
    shared = SharedIndex(quintet.open(library / ".quintet", slow, model_seconds=PATIENCE), base=library)
    answers: list[Response] = []
    asking = threading.Thread(target=lambda: answers.append(shared.search("cache", contract)))
    asking.start()
    assert slow.asked.wait(PATIENCE)
    assert answers == []
    slow.released.set()
    asking.join(PATIENCE)
    (first,) = answers
    shared.close()
    assert (first.status, first.notes, first.body) == (whole.status, whole.notes, whole.body)


@pytest.mark.parametrize("contract", ["quintet", "rifflux", "harness", "cfs", "mcb"])
def test_while_the_model_loads_text_alone_is_searched_and_a_note_says_so(
    waiting: SharedIndex, contract: str
) -> None:
    response = waiting.search("cache", contract)
    assert response.status == "degraded"
    assert [note["code"] for note in response.notes if note["code"].startswith("embedder")] == [
        "embedder_loading"
    ]
    assert response.body["results"]


def test_the_embedding_model_is_named_before_it_is_loaded(waiting: SharedIndex) -> None:
    assert waiting.search("cache", "rifflux").body["embedding_model"] == "slow-384"


def test_once_the_model_is_loaded_both_signals_answer(waiting: SharedIndex, slow: SlowEmbedder) -> None:
    waiting.search("cache")
    slow.released.set()
    assert waiting.search("cache", params={"mode": "semantic"}).status == "ok"  # this one waits
    loaded = waiting.search("cache")
    assert (loaded.status, loaded.notes) == ("ok", [])


def test_a_search_by_words_alone_does_not_load_the_model(waiting: SharedIndex, slow: SlowEmbedder) -> None:
    assert waiting.search("cache", params={"mode": "lexical"}).status == "ok"
    assert waiting.search("cache", "knowledge", {"search_method": "keyword"}).status == "ok"
    assert not slow.asked.is_set()


def test_a_search_by_meaning_alone_waits_for_the_model(waiting: SharedIndex, slow: SlowEmbedder) -> None:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(waiting.search("cache", "knowledge").status))
    thread.start()
    assert slow.asked.wait(PATIENCE)
    assert found == []
    slow.released.set()
    thread.join(PATIENCE)
    assert found == ["ok"]


def test_a_search_of_code_and_memory_waits_for_the_model_so_that_both_halves_are_whole(
    waiting: SharedIndex, slow: SlowEmbedder
) -> None:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(waiting.search_all("cache", None, {}, {}).status))
    thread.start()
    assert slow.asked.wait(PATIENCE)
    assert found == []
    slow.released.set()
    thread.join(PATIENCE)
    assert found == ["ok"]


def test_a_model_that_cannot_be_loaded_is_a_failed_leg(waiting: SharedIndex, slow: SlowEmbedder) -> None:
    slow.broken = True
    slow.released.set()
    response = waiting.search("cache", params={"mode": "semantic"})
    assert (response.status, response.body["results"]) == ("degraded", [])
    assert [note["code"] for note in response.notes] == ["leg_failed"]
    slow.broken = False


def test_a_reindex_returns_before_the_vectors_and_says_how_many_are_to_come(
    library: Path, slow: SlowEmbedder
) -> None:
    opened = SharedIndex(quintet.open(library / ".quintet", slow), base=library)
    done = opened.reindex()
    chunks = opened.index.status().chunks
    assert done.pending == chunks > 0
    assert opened.search("minutes", params={"mode": "lexical"}).body["results"]
    assert slow.asked.wait(PATIENCE)
    slow.released.set()
    opened.sync([str(library)])  # has its turn after the batch at hand
    assert opened.index.status().embedded == chunks
    opened.close()


def test_one_who_waits_for_the_writer_can_give_up(library: Path, slow: SlowEmbedder) -> None:
    class GivenUp(Exception):  # noqa: N818  (not an error)
        pass

    def give_up(stage: str, done: int, total: int) -> None:
        assert stage == "wait"
        raise GivenUp

    opened = SharedIndex(quintet.open(library / ".quintet", slow), base=library)
    opened.reindex()
    assert slow.asked.wait(PATIENCE)  # the embedding thread now writes
    with pytest.raises(GivenUp):
        opened.reindex(progress=give_up)
    slow.released.set()
    assert opened.reindex().report.indexed == 0
    opened.close()


def test_an_embedder_that_fails_leaves_the_text_searchable(library: Path, slow: SlowEmbedder) -> None:
    slow.broken = True
    slow.released.set()
    opened = SharedIndex(quintet.open(library / ".quintet", slow), base=library)
    opened.reindex()
    assert slow.asked.wait(PATIENCE)
    opened.close()
    with quintet.open(library / ".quintet", None) as index:
        assert index.search("minutes").body["results"]
        assert index.status().embedded == 0


def test_closing_ends_embedding_after_the_batch_at_hand(library: Path) -> None:
    opened = SharedIndex(quintet.open(library / ".quintet", "hashing", embed_batch=1), base=library)
    opened.reindex()
    opened.close()
    assert [one.name for one in threading.enumerate() if one.name.startswith("quintet-")] == []
    with pytest.raises(StoreError, match="was closed"):
        opened.index.status()


def test_registered_roots_and_allowed_folders_may_be_reached(library: Path, tmp_path: Path) -> None:
    for name in ("registered", "allowed", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "note.md").write_text(f"# {name}\n", "utf-8")
    with quintet.open(library / ".quintet", None) as index:
        index.sync([tmp_path / "registered"])
    opened = SharedIndex(quintet.open(library / ".quintet", None), base=library, allow=[tmp_path / "allowed"])
    for name in ("registered", "allowed"):
        assert opened.resolve(str(tmp_path / name / "note.md")) == tmp_path / name / "note.md"
    with pytest.raises(AccessError):
        opened.resolve(str(tmp_path / "other"))
    opened.close()


def test_a_working_folder_that_is_the_whole_disk_allows_nothing(library: Path) -> None:
    opened = SharedIndex(quintet.open(library / ".quintet", None), base=Path(library.anchor))
    with pytest.raises(AccessError):
        opened.reindex()
    assert opened.allowed == []
    opened.close()


def test_only_so_many_other_indexes_are_opened(shared: SharedIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_index, "OTHERS_MAX", 1)
    for name in ("one", "two"):
        quintet.open(shared.base / name / ".quintet", None).close()
    assert shared.search("x", db_path="one/.quintet").status == "never_indexed"
    with pytest.raises(LimitError, match="1 other indexes"):
        shared.search("x", db_path="two/.quintet")
    assert shared.search("x", db_path=".quintet").status == "never_indexed"  # its own is none of them


def test_a_part_of_an_index_is_not_an_index_of_its_own(shared: SharedIndex) -> None:
    with quintet.open(shared.base / "other" / ".quintet", None) as other:
        for index in (shared.index, other):
            index.memory.remember("the key is under the mat")
            index.knowledge.create("office").put("a hidden word", id="one")
            index.knowledge.archive("office")
    for folder in (".quintet", "other/.quintet"):
        for part in ("memory.db", "knowledge", "knowledge/office", "knowledge/office/index.db"):
            with pytest.raises(QuintetError) as refused:
                shared.search("word", "rifflux", db_path=f"{folder}/{part}")
            is_folder = part == "knowledge" and folder != ".quintet"
            assert refused.value.code == ("not_indexed" if is_folder else "invalid_path")
        for whole in (folder, f"{folder}/index.db"):
            assert shared.search("word", "rifflux", db_path=whole).status == "never_indexed"


def test_another_index_that_is_made_anew_answers_anew(shared: SharedIndex, tmp_path: Path) -> None:
    note, other = tmp_path / "note.md", shared.base / "other" / ".quintet"
    for word in ("apple", "pear"):
        note.write_text(f"# Title\n\n{word} tart\n", "utf-8")
        with quintet.open(other, None) as index:
            index.sync([note])
        found = shared.search(word, "rifflux", {"mode": "lexical"}, db_path="other/.quintet")
        assert [one["path"] for one in found.body["results"]] == ["note.md"]
        shutil.rmtree(other)
    other.mkdir()
    with pytest.raises(NotFound, match="there is no index in"):
        shared.search("pear", "rifflux", {"mode": "lexical"}, db_path="other/.quintet")


def test_a_folder_that_is_reached_in_two_ways_is_listed_once(shared: SharedIndex, library: Path) -> None:
    shared.sync([str(library)])
    assert shared.allowed == [library.resolve()]
