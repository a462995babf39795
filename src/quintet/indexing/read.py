"""Read a file once: its bytes, their hash, and the size and time that belong to exactly these bytes."""

import errno
import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from quintet.formats.decoding import UnreadableFile, decode_text

TOO_LARGE = "grew beyond the size cap"
# Flags that a system lacks are left out. O_NOFOLLOW: the file may have become a link since the walk.
# O_NONBLOCK: or a fifo, where open would wait for a writer. O_BINARY: Windows would change newlines.
FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOCTTY")
)


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file, unchanged, with their hash, size and modification time."""

    data: bytes
    sha256: str
    size: int
    modified_ns: int

    @property
    def text(self) -> str:
        """The decoded text, with `\\n` for every newline. Raises `UnreadableFile` if the bytes are not
        text."""
        return decode_text(self.data).replace("\r\n", "\n").replace("\r", "\n")


def read_file(location: str | Path, max_bytes: int) -> Content:
    """The content of a regular file of at most `max_bytes`. Raises `UnreadableFile` with the reason
    otherwise."""
    try:
        data, facts = _read_bytes(location, max_bytes)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnreadableFile("a symbolic link") from error
        raise UnreadableFile(f"cannot be read: {error.strerror or error}") from error
    return Content(data, sha256(data).hexdigest(), facts.st_size, facts.st_mtime_ns)


def _read_bytes(location: str | Path, max_bytes: int) -> tuple[bytes, os.stat_result]:
    descriptor = os.open(location, FLAGS)
    try:
        # Take size and time before reading: if the file changes meanwhile, its time is later than the one
        # in the index and the next run reads it again. The other way round it would count as indexed.
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise UnreadableFile("not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
    finally:
        os.close(descriptor)
    if len(data) > max_bytes:
        raise UnreadableFile(TOO_LARGE)
    return data, facts
