"""Read a file once: its bytes, their hash, and the size and time that belong to exactly these bytes."""

import errno
import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from quintet.formats.decoding import UnreadableFile, decode_text
from quintet.indexing.no_links import open_file

TOO_LARGE = "grew beyond the size cap"


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
    otherwise. `location` is absolute, and no part of it may be a link."""
    try:
        data, facts = _read_bytes(location, max_bytes)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnreadableFile("a symbolic link, or behind one") from error
        raise UnreadableFile(f"cannot be read: {error.strerror or error}") from error
    return Content(data, sha256(data).hexdigest(), facts.st_size, facts.st_mtime_ns)


def _read_bytes(location: str | Path, max_bytes: int) -> tuple[bytes, os.stat_result]:
    descriptor = open_file(location)
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
