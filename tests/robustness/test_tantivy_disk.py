"""The tantivy index when its disk is full or cannot be written."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quintet
from quintet import StoreError

if TYPE_CHECKING:
    from conftest import Mounts


def _notes(folder: Path, count: int, words: int) -> Path:
    folder.mkdir()
    for number in range(count):
        text = " ".join(f"word{number * words + at}" for at in range(words))
        (folder / f"{number:03d}.txt").write_text(f"cache {text}\n", "utf-8")
    return folder


def _found(index: quintet.Index) -> list[tuple[str, float]]:
    answer = index.search("cache word7", mode="lexical").answer
    assert answer is not None
    return [(item.item_id, item.score) for item in answer.ranked]


def test_a_full_disk_is_an_error_that_says_what_to_do_and_with_room_all_is_well(
    tmpfs: "Mounts", tmp_path: Path
) -> None:
    disk = tmpfs.make("disk", "40m")
    notes = _notes(tmp_path / "notes", 40, 500)
    with quintet.open(disk / "index", None) as index:
        index.sync([notes])
    used = sum(file.stat().st_size for file in disk.rglob("*") if file.is_file())
    tmpfs.remount(disk, f"size={used + 200_000}")
    with quintet.open(disk / "index", None, text_index="tantivy") as index:
        with pytest.raises(StoreError, match="check the disk"):
            _found(index)
        tmpfs.remount(disk, "size=60m")
        assert _found(index)
        assert all(check.ok for check in index.doctor())


def test_a_disk_that_cannot_be_written_is_searched_from_memory(tmpfs: "Mounts", tmp_path: Path) -> None:
    disk = tmpfs.make("disk", "40m")
    with quintet.open(disk / "index", None, text_index="tantivy") as index:
        index.sync([_notes(tmp_path / "notes", 4, 50)])
        before = _found(index)
    tmpfs.remount(disk, "ro")
    with quintet.open(disk / "index", None, text_index="tantivy") as index:
        assert before and _found(index) == before
        assert all(check.ok for check in index.doctor())
    tmpfs.remount(disk, "rw")
