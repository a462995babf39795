"""An index on a disk that cannot be written from here: part of an image, or of a volume that somebody else
keeps up to date.

SQLite shares a database by files beside it, which it could not make there. While somebody writes, they exist,
and it is read as ever. Otherwise it is taken for one that stays as it is, and looked at around every read.
"""

import os
from pathlib import Path
from typing import NamedTuple

import apsw

from quintet.errors import Conflict, StoreError

READ_ONLY = apsw.SQLITE_OPEN_READONLY
AS_IT_IS = READ_ONLY | apsw.SQLITE_OPEN_URI


class Seen(NamedTuple):
    """What tells a database from what it was a moment ago: every writer makes a log before anything else."""

    modified_ns: int
    size: int
    has_log: bool


def is_read_only(folder: Path) -> bool:
    """Not a matter of permissions: another user of this machine might write at any moment."""
    return hasattr(os, "statvfs") and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def seen(file: Path) -> Seen:
    about, log = file.stat(), _beside(file, "-wal")
    return Seen(about.st_mtime_ns, about.st_size, log.exists() and log.stat().st_size > 0)


def connected(file: Path) -> apsw.Connection:
    if not seen(file).has_log:
        return apsw.Connection(f"{file.absolute().as_uri()}?immutable=1", flags=AS_IT_IS)
    if not _beside(file, "-shm").exists():
        raise StoreError(
            f"{file} is on a disk that cannot be written, and its last writer did not get to the end; "
            "run 'quintet status' once where it can be written, and copy it anew"
        )
    return apsw.Connection(str(file), flags=READ_ONLY)


def check_unchanged(file: Path, before: Seen) -> None:
    if not before.has_log and seen(file) != before:
        raise Conflict(f"{file} changed while it was read; try again", code="busy_writer")


def _beside(file: Path, ending: str) -> Path:
    return file.with_name(file.name + ending)
