"""Read a file once: its bytes, their text, and the facts that belong to exactly what was read."""

import errno
import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from quintet.formats.decoding import UnreadableFile, decode_text

# What only some systems have is left out there. O_NOFOLLOW: a file may become a link between walk and
# read; O_NONBLOCK: or a fifo, whose opening would wait for a writer; O_BINARY: Windows changes newlines.
FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOCTTY")
)


@dataclass(frozen=True, slots=True)
class Content:
    """What was read, as it was: `sha256` is of these bytes."""

    data: bytes
    sha256: str
    size: int
    modified_ns: int

    @property
    def text(self) -> str:
        """Newlines are `\\n`, a byte order mark is gone; `UnreadableFile` where the bytes are no text."""
        return decode_text(self.data).replace("\r\n", "\n").replace("\r", "\n")


def read_file(location: str | Path, max_bytes: int) -> Content:
    """The content of a regular file of at most `max_bytes`; `UnreadableFile` says why there is none."""
    try:
        data, facts = _bytes(location, max_bytes)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnreadableFile("a symbolic link") from error
        raise UnreadableFile(f"cannot be read: {error.strerror or error}") from error
    return Content(data, sha256(data).hexdigest(), facts.st_size, facts.st_mtime_ns)


def _bytes(location: str | Path, max_bytes: int) -> tuple[bytes, os.stat_result]:
    descriptor = os.open(location, FLAGS)
    try:
        # Before reading: a change meanwhile then leaves a later time on the file than in the index, and
        # the next run looks again. The other way round it would pass for indexed.
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise UnreadableFile("not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
    finally:
        os.close(descriptor)
    if len(data) > max_bytes:
        raise UnreadableFile("grew beyond the size cap")
    return data, facts
