"""Folders and files that only their owner can read, whatever the umask says.

An index holds the text of everything that was indexed. Windows has no such modes: there a folder passes its
permissions on to what is made in it.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

FILE, FOLDER = 0o600, 0o700
OTHERS = 0o077
HAS_MODES = os.name == "posix"
_CREATE = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def make_folder(folder: Path) -> None:
    """Make a folder unless it exists. The one above it must exist: somebody may have deleted an index."""
    folder.mkdir(FOLDER, exist_ok=True)


def open_new(file: Path, *, exclusive: bool = False) -> BinaryIO:
    """Open an empty file for reading and writing, in place of an old one unless `exclusive`."""
    flags = _CREATE | (os.O_EXCL if exclusive else os.O_TRUNC)
    return os.fdopen(os.open(file, flags, FILE), "w+b")


def open_existing_or_new(file: Path) -> BinaryIO:
    return os.fdopen(os.open(file, _CREATE, FILE), "r+b")


def write_new(file: Path, data: bytes) -> None:
    with open_new(file) as target:
        target.write(data)


def open_to_others(folder: Path) -> Iterator[Path]:
    """What other accounts may read of a folder: itself, and the files and folders in it. No link counts."""
    if HAS_MODES:
        for place in (folder, *sorted(folder.rglob("*"))):
            with suppress(FileNotFoundError):
                mode = place.lstat().st_mode
                if mode & OTHERS and (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                    yield place


def close_to_others(folder: Path) -> None:
    """Take the rights of other accounts away from all that is in a folder, and from itself."""
    for place in open_to_others(folder):
        with suppress(FileNotFoundError):
            place.chmod(stat.S_IMODE(place.lstat().st_mode) & ~OTHERS)
