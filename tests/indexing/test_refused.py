"""What cannot be indexed is not taken for new, run after run."""

from pathlib import Path

import pytest

import quintet
from quintet.storage.sqlite.store import SqliteStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.md").write_text("words", "utf-8")
    (folder / "b.md").write_bytes(b"\x00\x01")
    (folder / "inner" / "c.md").write_bytes(b"not UTF-8: \xe9 ")
    return folder


def lag(index: quintet.Index) -> tuple[int, int]:
    found = index.status().lag
    return found.added, found.refused


def test_refused_files_are_counted_apart(folder: Path, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", None) as index:
        index.sync([folder])
        assert lag(index) == (0, 2)
        (folder / "b.md").write_bytes(b"\x00\x01\x02")
        assert lag(index) == (1, 1)
        index.sync()
        assert lag(index) == (0, 2)


def test_what_the_walk_leaves_out_counts_too(folder: Path, tmp_path: Path) -> None:
    (folder / "outside.md").symlink_to(tmp_path / "elsewhere.md")
    (tmp_path / "elsewhere.md").write_text("words", "utf-8")
    with quintet.open(tmp_path / "index", None) as index:
        assert len(index.sync([folder]).problems) == 3
        assert lag(index) == (0, 3)


def test_a_run_over_a_part_keeps_what_it_did_not_see(folder: Path, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", None) as index:
        index.sync([folder])
        (folder / "inner" / "c.md").write_text("now it is text", "utf-8")
        index.sync([folder / "inner"])
        assert lag(index) == (0, 1)


def test_a_run_that_finds_nothing_new_changes_nothing(folder: Path, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", None) as index:
        index.sync([folder])
        before = index.status().generation
        index.sync()
        assert index.status().generation == before


def test_no_name_is_kept_of_a_root_that_was_forgotten(folder: Path, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", None) as index:
        index.sync([folder])
        index.forget("notes")
    store = SqliteStore(tmp_path / "index")
    with store.snapshot() as snapshot:
        assert snapshot.catalog.refused() == {}
    store.close()


def test_a_folder_that_is_excluded_as_a_whole_is_explained(folder: Path, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", None, include=["nope/**"]) as index:
        (note,) = index.sync([folder]).notes
    assert note["code"] == "nothing_found"
    assert str(folder) in note["message"]
    assert "include (nope/**)" in note["message"]
