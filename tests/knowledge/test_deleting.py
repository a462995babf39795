"""A base is deleted while others look it up, read and write it: it is unknown, and nothing brings it back."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

import quintet
from quintet.errors import NotFound, StoreError
from quintet.knowledge import KnowledgeBase
from quintet.knowledge.documents import Upload
from quintet.knowledge.registration import RegistrationFile
from quintet.knowledge.runs import SyncRun
from quintet.ports.reading import Root
from quintet.processes import lock
from quintet.storage.sqlite.store import SqliteStore


@pytest.fixture
def other(index: quintet.Index, tmp_path: Path) -> Iterator[quintet.Index]:
    """The same index, opened once more, as by another process."""
    with quintet.open(tmp_path / ".quintet", "hashing") as opened:
        yield opened


def between(monkeypatch: pytest.MonkeyPatch, holder: Any, name: str, act: Callable[[], object]) -> None:
    """Let something happen once, right after the next call of that function."""
    real = getattr(holder, name)

    def followed(*given: Any, **more: Any) -> Any:
        found = real(*given, **more)
        monkeypatch.setattr(holder, name, real)
        act()
        return found

    monkeypatch.setattr(holder, name, followed)


def refused(ask: Callable[[], object]) -> str:
    with pytest.raises(NotFound) as error:
        ask()
    return error.value.code


def test_a_base_that_goes_while_it_is_looked_up_is_unknown_and_stays_gone(
    index: quintet.Index, base: KnowledgeBase, other: quintet.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.put("a word", id="one")
    between(monkeypatch, RegistrationFile, "read", lambda: index.knowledge.delete("docs"))
    assert refused(lambda: other.knowledge.get("docs")) == "unknown_index"
    assert not (index.folder / "knowledge" / "docs").exists()
    assert other.knowledge.create("docs").documents() == []


def test_a_base_whose_database_is_lost_says_so_instead_of_being_empty(
    index: quintet.Index, base: KnowledgeBase, other: quintet.Index
) -> None:
    base.put("a word", id="one")
    (index.folder / "knowledge" / "docs" / "index.db").unlink()
    with pytest.raises(StoreError, match="missing; move it away and import the last export"):
        other.knowledge.get("docs")
    assert [one["state"] for one in other.knowledge.list()] == ["error"]


def test_a_base_that_goes_while_it_is_used_is_unknown_and_not_a_broken_disk(
    index: quintet.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    uses: list[Callable[[KnowledgeBase], object]] = [
        lambda base: base.documents(),
        lambda base: base.describe(),
        lambda base: base.get("one"),
        lambda base: base.search("word"),
        lambda base: base.put("another word"),
        lambda base: base.put_many([Upload(b"another word"), Upload(b"and another")]),
        lambda base: base.delete("one"),
        lambda base: base.embed(),
    ]
    for use in uses:
        base = index.knowledge.create("docs")
        base.put("a word", id="one")
        between(monkeypatch, RegistrationFile, "read", lambda: index.knowledge.delete("docs"))
        assert refused(partial(use, base)) == "unknown_index"
        assert not (index.folder / "knowledge" / "docs").exists()


def test_a_base_that_goes_while_somebody_waits_to_write_is_unknown(
    base: KnowledgeBase, other: quintet.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(FileLock):
        """The base goes after the lock has looked for its folder, and before it makes its file there."""

        def _acquire(self) -> None:
            monkeypatch.undo()
            other.knowledge.delete("docs")
            super()._acquire()

    monkeypatch.setattr(lock, "FileLock", Late)
    assert refused(lambda: base.put("a word")) == "unknown_index"


def test_a_base_that_goes_while_a_source_is_synced_is_unknown(
    base: KnowledgeBase, other: quintet.Index, tmp_path: Path
) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.md").write_text("a word", "utf-8")
    base.add_source("papers")

    def progress(run: SyncRun) -> None:
        if run.path:
            other.knowledge.delete("docs")

    assert refused(lambda: base.sync_source("papers", progress=progress)) == "unknown_index"
    assert not (tmp_path / ".quintet" / "knowledge" / "docs").exists()


def test_whoever_read_an_older_registration_does_not_close_the_base_that_came_after_it(
    index: quintet.Index, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    remade = []

    def remake() -> None:
        index.knowledge.delete("docs")
        remade.append(index.knowledge.create("docs"))

    between(monkeypatch, RegistrationFile, "read", remake)
    assert index.knowledge.get("docs") is remade[0]
    assert remade[0].documents() == []


def test_a_store_that_is_closed_while_somebody_writes_lets_them_finish(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store")
    store.create()
    with store.writer(0) as writer:
        with writer.batch():
            writer.put_root(Root("docs", "/docs"))
            closing = threading.Thread(target=store.close)
            closing.start()
            closing.join()
        with pytest.raises(StoreError, match="was closed"), writer.batch():
            pass
    again = SqliteStore(tmp_path / "store")
    with again.snapshot() as snapshot:
        assert [root.name for root in snapshot.catalog.roots()] == ["docs"]
    again.close()
    assert not list((tmp_path / "store").glob("index.db-*"))  # the last connection takes them along
