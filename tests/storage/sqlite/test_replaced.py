"""An index that is deleted, and maybe made anew, under a process that has it open."""

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import apsw
import numpy as np
import pytest

import quintet
from quintet.errors import Conflict, NotFound, StoreError
from quintet.indexing import watch
from quintet.model.text_query import TextQuery
from quintet.storage.sqlite.migrations import MIGRATIONS
from quintet.storage.text.postings import cache as postings_cache


def make(folder: Path, word: str) -> Path:
    """An index of one file with that word, in the place of any other."""
    shutil.rmtree(folder, ignore_errors=True)
    notes = folder.parent / "notes"
    notes.mkdir(exist_ok=True)
    (notes / "a.md").write_text(f"# Title\n\n{word} tart\n", "utf-8")
    with quintet.open(folder, "hashing") as index:
        index.sync([notes])
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / ".quintet", "apple")


@pytest.fixture
def index(folder: Path) -> Iterator[quintet.Index]:
    """It has read and written before: its connections are there to be used again."""
    with quintet.open(folder, "hashing") as opened:
        opened.sync()
        opened.memory.remember("an old memory")
        assert found(opened, "apple") == ["a.md"]
        yield opened


def found(index: quintet.Index, word: str) -> list[str]:
    results = index.search(word, "rifflux", mode="lexical").body["results"]
    assert isinstance(results, list)
    return [str(result["path"]) for result in results if isinstance(result, dict)]


def open_files() -> list[str]:
    links = Path("/proc/self/fd")
    if not links.is_dir():
        pytest.skip("open files can be listed on Linux only")
    return [str(one.readlink()) for one in links.iterdir() if one.is_symlink()]


def test_an_index_that_was_made_anew_answers_instead_of_the_deleted_one(
    index: quintet.Index, folder: Path
) -> None:
    make(folder, "pear")
    assert (found(index, "pear"), found(index, "apple tart pie")) == (["a.md"], ["a.md"])
    assert [one.chunk.content for one in index.get("a.md")] == ["# Title\n\npear tart"]


def test_what_is_written_goes_into_the_index_that_was_made_anew(
    index: quintet.Index, folder: Path, tmp_path: Path
) -> None:
    make(folder, "pear")
    (tmp_path / "notes" / "b.md").write_text("plum jam\n", "utf-8")
    index.sync()
    index.memory.remember("a new memory")
    with quintet.open(folder, "hashing") as fresh:
        assert (found(fresh, "plum"), found(fresh, "pear")) == (["b.md"], ["a.md"])
        assert [one["text"] for one in fresh.memory.timeline()] == ["a new memory"]


def test_no_connection_to_a_deleted_index_is_kept(index: quintet.Index, folder: Path) -> None:
    with index._store.snapshot() as snapshot:
        make(folder, "pear")
        assert found(index, "pear") == ["a.md"]
        assert snapshot.catalog.roots()  # of its own moment, to its end
    with index._store.writer(0):
        pass
    assert not [file for file in open_files() if "index.db" in file and "deleted" in file]
    assert found(index, "tart") == ["a.md"]


def test_an_index_that_is_gone_says_so_and_stays_gone_until_it_is_made_again(
    index: quintet.Index, folder: Path
) -> None:
    shutil.rmtree(folder)
    for ask in (
        lambda: index.search("apple"),
        index.sync,
        index.embed,
        index.status,
        lambda: index.memory.recall("memory"),
        lambda: index.memory.remember("another"),
    ):
        with pytest.raises(NotFound, match="there is no index in") as gone:
            ask()
        assert gone.value.message == f"there is no index in {folder}; make one with 'quintet index'"
        assert not folder.exists()
    assert watch._root_folders(index) == {}
    make(folder, "pear")
    assert found(index, "pear") == ["a.md"]
    assert list(watch._root_folders(index)) == [str(folder.parent / "notes")]


@pytest.mark.parametrize("text_index", ["fts5", "tantivy"])
def test_a_search_under_way_answers_and_brings_no_folder_back(
    folder: Path, text_index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings_cache, "SMALL", 1)
    with quintet.open(folder, "hashing", text_index=text_index) as index:
        with index._store.snapshot() as snapshot:
            snapshot.catalog.counts()
            shutil.rmtree(folder)
            vector = np.full(384, 1_000, np.int16)
            assert len(snapshot.vectors.search(vector, 5)) == 1
            with nullcontext() if text_index == "fts5" else pytest.raises(StoreError):
                assert len(snapshot.text.search(TextQuery(("apple",)), 5)) == 1
        assert not folder.exists()


def test_a_run_whose_index_becomes_another_ends_and_leaves_that_one_alone(
    index: quintet.Index, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes" / "b.md").write_text("plum jam\n", "utf-8")

    def replaced(stage: str, done: int, total: int) -> None:
        if stage == "text" and (tmp_path / "notes" / "b.md").exists():
            (tmp_path / "notes" / "b.md").unlink()
            make(folder, "pear")

    with pytest.raises(StoreError, match="was replaced while it was being written; run the command again"):
        index.sync(progress=replaced)
    assert (found(index, "plum"), found(index, "pear")) == ([], ["a.md"])


def test_an_index_of_a_newer_schema_is_refused_when_it_takes_the_place_of_another(
    index: quintet.Index, folder: Path
) -> None:
    connection = apsw.Connection(str(make(folder, "pear") / "index.db"))
    connection.pragma("user_version", len(MIGRATIONS) + 1)
    connection.close()
    for _ in range(2):
        with pytest.raises(Conflict, match="upgrade Quintet"):
            index.search("pear")
