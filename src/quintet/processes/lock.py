"""A lock that one thread of one process can hold at a time: a file that the system locks."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from quintet.errors import Conflict, StoreError
from quintet.processes import private


@contextmanager
def hold_lock(file: Path, timeout: float, busy: str) -> Iterator[None]:
    """Hold the lock. After `timeout` seconds raise Conflict `busy_writer` with the message `busy`.

    A killed process leaves no lock behind. A missing folder is created.
    """
    lock = FileLock(file, timeout=timeout, thread_local=False, mode=private.FILE)
    try:
        lock.acquire()
    except Timeout:
        raise Conflict(busy, code="busy_writer") from None
    except OSError as error:
        raise disk_error(error, file) from error
    try:
        yield
    finally:
        lock.release()


def disk_error(error: OSError, path: Path) -> StoreError:
    place, reason = error.filename or path, error.strerror or error
    return StoreError(f"{place}: {reason}; check the disk and the permissions")
