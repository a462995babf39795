"""A database on a disk that cannot be written. A real one is in `robustness/test_bad_store.py`."""

import os
import shutil
from pathlib import Path

import apsw
import pytest

import quintet
from quintet import Conflict, StoreError
from quintet.storage.sqlite import read_only_disk
from quintet.storage.sqlite.database import Database


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index that was closed."""
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.txt").write_text("A lantern in the fog.\n", "utf-8")
    (files / "b.txt").write_text("A harbour at dawn.\n", "utf-8")
    with quintet.open(tmp_path / "image" / "index", "hashing") as index:
        index.sync([files])
    return tmp_path / "image" / "index"


def _generation(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT value FROM meta WHERE key = 'generation'").get)


def test_a_database_that_nobody_writes_is_read_without_files_beside_it(folder: Path) -> None:
    file = folder / "index.db"
    connection, fixed = read_only_disk.connect_read_only(file)
    assert fixed == read_only_disk.fingerprint(file)
    assert _generation(connection) > 0
    assert not list(folder.glob("index.db-*"))
    with pytest.raises(apsw.ReadOnlyError):
        connection.execute("DELETE FROM meta")
    connection.close()


def test_a_database_that_somebody_writes_is_read_as_ever(folder: Path, tmp_path: Path) -> None:
    file, link = folder / "index.db", tmp_path / "link.db"
    link.symlink_to(file)
    before = read_only_disk.fingerprint(file)
    with quintet.open(folder) as index:
        (tmp_path / "files" / "c.txt").write_text("A third.\n", "utf-8")
        index.sync()
        for name in (file, link):
            connection, fixed = read_only_disk.connect_read_only(name)
            assert fixed is None
            assert _generation(connection) == index.status().generation
            connection.close()
        with pytest.raises(Conflict, match="open it again"):
            read_only_disk.check_unchanged(file, before)
        read_only_disk.check_unchanged(file, read_only_disk.fingerprint(file))


def test_what_was_read_while_the_file_changed_counts_no_more(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_only_disk, "is_read_only", lambda folder: True)
    database = Database(folder / "index.db")
    with database.reading() as connection:
        assert _generation(connection) > 0
    monkeypatch.undo()
    with pytest.raises(Conflict, match="open it again"), database.reading():
        with quintet.open(folder) as index:
            (tmp_path / "files" / "c.txt").write_text("A third.\n", "utf-8")
            index.sync()
        raise KeyError("what a torn page may lead to")
    with pytest.raises(Conflict, match="open it again"), database.reading():
        pass
    database.close()


def test_an_older_schema_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = apsw.Connection(str(folder / "index.db"))
    connection.pragma("user_version", 4)
    connection.close()
    monkeypatch.setattr(read_only_disk, "is_read_only", lambda folder: True)
    with pytest.raises(StoreError, match="older Quintet"):
        quintet.open(folder)


def test_a_log_that_nobody_can_read_is_not_passed_over(folder: Path, tmp_path: Path) -> None:
    with quintet.open(folder) as index:
        (tmp_path / "files" / "c.txt").write_text("A third.\n", "utf-8")
        index.sync()
        copy = tmp_path / "copy"
        copy.mkdir()
        for name in ("index.db", "index.db-wal"):
            shutil.copy(folder / name, copy / name)
    with pytest.raises(StoreError, match="where it is writable"):
        read_only_disk.connect_read_only(copy / "index.db")


def test_a_folder_that_can_be_written_is_no_read_only_disk(folder: Path) -> None:
    assert os.access(folder, os.W_OK)
    assert not read_only_disk.is_read_only(folder)


def test_where_nothing_was_remembered_before_there_is_nothing_to_recall(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_only_disk, "is_read_only", lambda folder: True)
    with quintet.open(folder) as index:
        for _ in range(2):
            assert index.memory.recall("lantern").status == "never_indexed"
        assert (index.memory.timeline(), index.memory.export()) == ([], [])
        both = index.search_all("lantern")
        assert both.body["code"] and both.body["memory"] == []
        with pytest.raises(StoreError, match="for writing"):
            index.memory.remember("a lantern")
    assert not (folder / "memory.db").exists()
