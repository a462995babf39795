"""A database on a disk that cannot be written. A real one is in `robustness/test_bad_store.py`."""

import os
import shutil
from pathlib import Path

import apsw
import pytest

import quintet
from quintet import Conflict, StoreError
from quintet.stores.sqlite import read_only


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
    connection = read_only.connected(file)
    assert _generation(connection) > 0
    assert not list(folder.glob("index.db-*"))
    with pytest.raises(apsw.ReadOnlyError):
        connection.execute("DELETE FROM meta")
    connection.close()


def test_what_a_writer_committed_meanwhile_is_seen(folder: Path, tmp_path: Path) -> None:
    file = folder / "index.db"
    before = read_only.seen(file)
    with quintet.open(folder) as index:
        (tmp_path / "files" / "c.txt").write_text("A third.\n", "utf-8")
        index.sync()
        assert read_only.seen(file).has_log
        connection = read_only.connected(file)
        assert _generation(connection) == index.status().generation
        connection.close()
        with pytest.raises(Conflict, match="try again"):
            read_only.check_unchanged(file, before)
        read_only.check_unchanged(file, read_only.seen(file))


def test_a_log_that_nobody_can_read_is_not_passed_over(folder: Path, tmp_path: Path) -> None:
    with quintet.open(folder) as index:
        (tmp_path / "files" / "c.txt").write_text("A third.\n", "utf-8")
        index.sync()
        copy = tmp_path / "copy"
        copy.mkdir()
        for name in ("index.db", "index.db-wal"):
            shutil.copy(folder / name, copy / name)
    with pytest.raises(StoreError, match="where it can be written"):
        read_only.connected(copy / "index.db")


def test_a_folder_that_can_be_written_is_no_read_only_disk(folder: Path) -> None:
    assert os.access(folder, os.W_OK)
    assert not read_only.is_read_only(folder)
