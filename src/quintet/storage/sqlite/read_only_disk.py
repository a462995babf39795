"""An index on a read-only disk: in an image, or on a volume that is mounted read-only.

SQLite shares a database through files beside it, which it cannot create there. If another machine writes,
they exist, and the database is opened as usual. Otherwise it is opened as immutable. If it changes all the
same, everything that was read of it is invalid.
"""

import os
from pathlib import Path
from typing import NamedTuple

import apsw

from quintet.errors import Conflict, StoreError

READ_ONLY = apsw.SQLITE_OPEN_READONLY
AS_IT_IS = READ_ONLY | apsw.SQLITE_OPEN_URI
ATTEMPTS = 5  # a writer that finishes deletes its files, maybe between two of our checks


class FileFingerprint(NamedTuple):
    """Tells whether a database changed: every writer creates a log before anything else."""

    modified_ns: int
    size: int
    has_log: bool


def is_read_only(folder: Path) -> bool:
    """Permissions do not count: another user of this machine might write at any moment."""
    return hasattr(os, "statvfs") and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def fingerprint(file: Path) -> FileFingerprint:
    about, log = file.stat(), _beside(file, "-wal")
    return FileFingerprint(about.st_mtime_ns, about.st_size, log.exists() and log.stat().st_size > 0)


def connect_read_only(file: Path) -> tuple[apsw.Connection, FileFingerprint | None]:
    """A connection, and the fingerprint that the file must keep if it was opened as immutable."""
    for _ in range(ATTEMPTS):
        now = fingerprint(file)
        if not now.has_log:
            return apsw.Connection(f"{file.absolute().as_uri()}?immutable=1", flags=AS_IT_IS), now
        if _beside(file, "-shm").exists():
            connection = apsw.Connection(str(file), flags=READ_ONLY)
            try:
                connection.pragma("user_version")
            except apsw.CantOpenError:
                connection.close()
            else:
                return connection, None
    raise StoreError(
        f"{file} is on a read-only disk, and its last writer did not finish; run 'quintet status' once "
        "where it is writable"
    )


def check_unchanged(file: Path, before: FileFingerprint) -> None:
    if fingerprint(file) != before:
        raise Conflict(
            f"{file} is on a read-only disk and was changed since it was opened; open it again, or "
            "restart the server"
        )


def _beside(file: Path, ending: str) -> Path:
    file = file.resolve()
    return file.with_name(file.name + ending)
