"""Open files and folders by their full path without following a link anywhere in it.

A root is stored as a resolved path, and a walk takes no links. A link in the path of an indexed file was
therefore put there later, perhaps a moment ago, and may lead anywhere. A check before opening would leave a
gap. Instead each folder is opened inside the descriptor of the one above it, with O_NOFOLLOW; Linux' openat2
with RESOLVE_NO_SYMLINKS promises the same but needs more than Python's `os`.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

JUNCTION = 0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT, which Python defines on Windows only
DESCRIPTORS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")  # all systems but Windows

LONGEST = 4096  # bytes; PATH_MAX of Linux. Whatever else takes the whole path would fail with a longer one


def _flags(*names: str) -> int:
    """Flags that a system lacks are left out."""
    return os.O_RDONLY | sum(getattr(os, name, 0) for name in names)


# O_NONBLOCK: the file may have become a fifo, where open would wait for a writer. O_BINARY: Windows would
# change newlines. O_PATH: a folder that may be passed but not listed.
FILE = _flags("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOCTTY")
FOLDER = _flags("O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC")
PASSED = FOLDER | getattr(os, "O_PATH", 0)


def open_file(location: str | Path) -> int:
    """A descriptor of what is at `location`, an absolute path. OSError with ELOOP if a link is in the way."""
    if not DESCRIPTORS:
        return _open_checked(str(location))
    with _parent(location) as (folder, name):
        return os.open(name, FILE, dir_fd=folder)


def lstat(location: str | Path) -> os.stat_result:
    """The facts of what is at `location`. It may be a link itself; what leads to it may not."""
    if not DESCRIPTORS:
        return _facts_on_the_way(str(location))[-1]
    with _parent(location) as (folder, name):
        return os.stat(name, dir_fd=folder, follow_symlinks=False)


@contextmanager
def list_folder(location: str | Path) -> Iterator[list[os.DirEntry[str]]]:
    """The entries of a folder, to be used in the block. Their `path` is only a name on most systems."""
    if not DESCRIPTORS:
        yield _list_checked(str(location))
        return
    with _parent(location) as (folder, name):
        descriptor = _enter(name, folder, FOLDER)
    try:
        with os.scandir(descriptor) as listing:
            entries = list(listing)
        yield entries
    finally:
        os.close(descriptor)


def is_folder(location: str | Path) -> bool:
    """Whether `location` is a folder that no link leads to."""
    with suppress(OSError, ValueError):
        facts = lstat(location)
        return stat.S_ISDIR(facts.st_mode) and not is_junction(facts)
    return False


def is_junction(facts: os.stat_result) -> bool:
    """Windows' links to folders, which Python reports as folders."""
    return getattr(facts, "st_reparse_tag", 0) == JUNCTION


@contextmanager
def _parent(location: str | Path) -> Iterator[tuple[int, str]]:
    """The folder that holds `location`, and the name in it."""
    *above, name = _parts(location)
    descriptor = os.open("/", PASSED)
    try:
        for part in above:
            inner = _enter(part, descriptor, PASSED)
            os.close(descriptor)
            descriptor = inner
        yield descriptor, name
    finally:
        os.close(descriptor)


def _enter(name: str, folder: int, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except NotADirectoryError:
        raise _in_the_way(name) from None


def _parts(location: str | Path) -> list[str]:
    text = os.fspath(location)
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if not text.startswith("/") or ".." in parts:
        raise ValueError(f"{text!r} is not an absolute path without '..'")
    if len(os.fsencode(text)) >= LONGEST:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), text)
    return parts or ["."]


def _in_the_way(name: str) -> OSError:
    return OSError(errno.ELOOP, "a link or a file is in the place of a folder", name)


# Where a folder cannot be opened inside another, the facts of the whole path are taken before and after.
# They must be the same, without a link, and the file that was opened must be the one they end in.


def _open_checked(location: str) -> int:
    before = _facts_on_the_way(location)
    descriptor = os.open(location, FILE)
    try:
        opened = os.fstat(descriptor)
        _check_same(location, before, [*_facts_on_the_way(location)[:-1], opened])
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _list_checked(location: str) -> list[os.DirEntry[str]]:
    before = _facts_on_the_way(location)
    if stat.S_ISLNK(before[-1].st_mode) or is_junction(before[-1]):
        raise _in_the_way(location)
    with os.scandir(location) as listing:
        entries = list(listing)
    _check_same(location, before, _facts_on_the_way(location))
    return entries


def _facts_on_the_way(location: str) -> list[os.stat_result]:
    """The facts of every folder above `location`, none of them a link, and of what is there."""
    path = Path(location)
    facts = [os.lstat(place) for place in (*reversed(path.parents), path)]
    for place in facts[:-1]:
        if not stat.S_ISDIR(place.st_mode) or is_junction(place):
            raise _in_the_way(location)
    return facts


def _check_same(location: str, before: Iterable[os.stat_result], after: Iterable[os.stat_result]) -> None:
    if [(at.st_dev, at.st_ino) for at in before] != [(at.st_dev, at.st_ino) for at in after]:
        raise OSError(errno.ELOOP, "its path changed while it was opened", location)
