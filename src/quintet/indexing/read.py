"""Read a file once: its bytes, their text, and the facts that belong to exactly what was read."""

import codecs
import errno
import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

SNIFFED = 8192  # bytes looked at for a NUL, as git and grep do
# What only some systems have is left out there. O_NOFOLLOW: a file may become a link between walk and
# read; O_NONBLOCK: or a fifo, whose opening would wait for a writer; O_BINARY: Windows changes newlines.
FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOCTTY")
)
BOMS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


class Unreadable(Exception):  # noqa: N818  (a property of the file, not a failure of ours)
    """This file cannot be indexed; `reason` completes "it is …" or "it …" in a report."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Content:
    """What was read, as it was: `sha256` is of these bytes."""

    data: bytes
    sha256: str
    size: int
    modified_ns: int

    @property
    def text(self) -> str:
        """Newlines are `\\n`, a byte order mark is gone; `Unreadable` where the bytes are no text."""
        return decoded_text(self.data).replace("\r\n", "\n").replace("\r", "\n")


def read(location: str | Path, max_bytes: int) -> Content:
    """The content of a regular file of at most `max_bytes`; `Unreadable` says why there is none."""
    try:
        data, facts = _bytes(location, max_bytes)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unreadable("a symbolic link") from error
        raise Unreadable(f"cannot be read: {error.strerror or error}") from error
    return Content(data, sha256(data).hexdigest(), facts.st_size, facts.st_mtime_ns)


def _bytes(location: str | Path, max_bytes: int) -> tuple[bytes, os.stat_result]:
    descriptor = os.open(location, FLAGS)
    try:
        # Before reading: a change meanwhile then leaves a later time on the file than in the index, and
        # the next run looks again. The other way round it would pass for indexed.
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise Unreadable("not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
    finally:
        os.close(descriptor)
    if len(data) > max_bytes:
        raise Unreadable("grew beyond the size cap")
    return data, facts


def decoded_text(data: bytes) -> str:
    """Unicode by its byte order mark, else UTF-8; `Unreadable` where it is neither."""
    encoding = next((name for mark, name in BOMS if data.startswith(mark)), "utf-8")
    if encoding.startswith("utf-8") and b"\0" in data[:SNIFFED]:
        raise Unreadable("binary")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        # utf-8-sig counts from behind its mark
        start = error.start + (len(codecs.BOM_UTF8) if encoding == "utf-8-sig" else 0)
        name = encoding.removesuffix("-sig").upper()
        raise Unreadable(f"not valid {name} at byte {start}") from error
