"""A lock between threads and processes."""

from pathlib import Path

import pytest

from quintet.errors import Conflict, StoreError
from quintet.processes.lock import hold_lock


def test_a_held_lock_is_refused_with_the_message_of_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with (
        hold_lock(file, 0, "first"),
        pytest.raises(Conflict, match="in use") as error,
        hold_lock(file, 0, "the lock is in use"),
    ):
        pass
    assert error.value.code == "busy_writer"


def test_a_released_lock_can_be_held_again(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), hold_lock(tmp_path / "lock", 0, "busy"):
            raise ZeroDivisionError


def test_a_missing_folder_is_created(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "lock"
    with hold_lock(file, 0, "busy"):
        assert file.parent.is_dir()


def test_a_place_that_cannot_be_written_is_a_failed_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="check the disk"), hold_lock(tmp_path / "file" / "lock", 0, "busy"):
        pass
