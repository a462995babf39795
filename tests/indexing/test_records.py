"""Records as documents: only what changed is written, and a run that was cut short is completed."""

from pathlib import Path

import pytest

from quintet.indexing.records import Record, record_entry, sync_records
from quintet.indexing.run import IndexRun, Report
from quintet.settings import Settings
from quintet.storage.sqlite.store import SqliteStore

RECORDS: list[Record] = [(f"d{number}", f"Title {number}", f"text number {number}") for number in range(6)]
SETTINGS = Settings(batch_files=2)


class Killed(BaseException):
    pass


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    made = SqliteStore(tmp_path)
    made.create()
    return made


def synced(store: SqliteStore, records: list[Record], killed_at: int | None = None) -> Report:
    def progress(stage: str, done: int, total: int) -> None:
        if done == killed_at:
            raise Killed

    with store.writer(1) as writer:
        run = IndexRun(writer, SETTINGS, lambda: 0, progress, Report())
        sync_records(run, "records", records)
        writer.settle()
    return run.report


def state(store: SqliteStore) -> str:
    with store.snapshot() as snapshot:
        return snapshot.tree.root


def test_only_what_is_new_or_changed_is_written(store: SqliteStore) -> None:
    assert synced(store, RECORDS).indexed == 6
    before = state(store)
    assert synced(store, RECORDS).indexed == 0
    assert state(store) == before
    assert synced(store, [*RECORDS[:5], ("d5", "Title 5", "other words")]).indexed == 1
    assert synced(store, RECORDS).indexed == 1
    assert state(store) == before


def test_what_is_gone_goes(store: SqliteStore) -> None:
    synced(store, RECORDS)
    synced(store, RECORDS[:2])
    with store.snapshot() as snapshot:
        assert sorted(snapshot.catalog.known("records")) == ["d0", "d1"]


def test_a_run_that_was_cut_short_is_completed_by_the_next(store: SqliteStore, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        synced(store, RECORDS, killed_at=4)
    assert synced(store, RECORDS).indexed == 2
    whole = SqliteStore(tmp_path / "whole")
    whole.create()
    synced(whole, RECORDS)
    assert state(store) == state(whole)


def test_the_title_is_the_heading_of_every_passage() -> None:
    entry = record_entry("records", ("d", " Two\nlines ", "words " * 1_000), Settings())
    assert len(entry.chunks) > 1
    assert {chunk.heading_path for chunk in entry.chunks} == {"Two lines"}


def test_a_title_alone_is_the_text() -> None:
    (chunk,) = record_entry("records", ("d", "Cocoa", " \n"), Settings()).chunks
    assert (chunk.content, chunk.heading_path) == ("Cocoa", "")


def test_a_record_without_any_text_has_no_passage() -> None:
    assert record_entry("records", ("d", "", ""), Settings()).chunks == ()


def test_an_id_that_looks_like_a_file_changes_nothing() -> None:
    plain, named = (record_entry("records", (id, "T", "# a\n\n- b"), Settings()) for id in ("x", "x.md"))
    assert [chunk.content for chunk in plain.chunks] == [chunk.content for chunk in named.chunks]


def test_what_no_database_can_hold_is_replaced() -> None:
    (chunk,) = record_entry("records", ("d", "a\0b", "c\0d\ud800e"), Settings()).chunks
    assert (chunk.heading_path, chunk.content) == ("a\ufffdb", "c\ufffdd\ufffde")
