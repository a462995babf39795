"""Make a folder beside its final place, so that it appears there complete or not at all."""

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from quintet.processes import private
from quintet.processes.lock import disk_error, hold_lock

CURRENT_FOLDER, EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
UNSUPPORTED = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


@contextmanager
def staging_folder(target: Path, kind: str) -> Iterator[Path]:
    """A new folder `.NAME.KIND` beside `target`. At the end, whatever has that name is removed.

    A killed process leaves it behind; the next one with the same target removes it first.
    """
    staging = target.with_name(f".{target.name}.{kind}")
    lock = target.with_name(f"{staging.name}.lock")
    with hold_lock(lock, 0, f"another process is making {target}; wait until it has finished"):
        try:
            _put_back(target)
            _remove(staging)
            staging.mkdir(private.FOLDER)
            yield staging
            flush(staging.parent)
        except OSError as error:
            raise disk_error(error, staging) from error
        finally:
            with suppress(OSError):
                _remove(staging)
            with suppress(OSError):  # Windows keeps it while it is held
                lock.unlink()


def swap(staging: Path, target: Path) -> None:
    """Put `staging` in the place of `target`, which gets its name. On Linux this is one step.

    Elsewhere a kill between the two steps leaves both folders under other names: see `_put_back`.
    """
    if not _exchange(staging, target):
        aside = _aside(target)
        target.rename(aside)
        staging.rename(target)
        aside.rename(staging)


def _put_back(target: Path) -> None:
    """What a swap in two steps left behind when it was killed."""
    aside = _aside(target)
    if aside.exists():
        if target.exists():
            _remove(aside)
        else:
            aside.rename(target)


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.name}.replaced")


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step. False if the system cannot."""
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "renameat2"):
        return False
    names = os.fsencode(one), os.fsencode(other)
    if library.renameat2(CURRENT_FOLDER, names[0], CURRENT_FOLDER, names[1], EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(other))


def flush(*places: Path) -> None:
    """Wait until files and folders are on the disk. Windows cannot flush a folder."""
    for place in places:
        if private.HAS_MODES or not place.is_dir():
            descriptor = os.open(place, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
