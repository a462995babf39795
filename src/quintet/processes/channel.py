"""Messages between a process and its workers: bytes after their length, through a pipe."""

import os
from typing import IO

HEADER = 8  # bytes of a message's length, big-endian
MAX_BYTES = 2**40  # of a message, unless the receiver sets a limit


class TooLarge(Exception):  # noqa: N818
    """The sender announced a message larger than the limit."""


def send(stream: IO[bytes], message: bytes) -> None:
    stream.write(len(message).to_bytes(HEADER, "big"))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes], max_bytes: int = MAX_BYTES) -> bytes | None:
    """The next message; None if the sender is gone."""
    header = stream.read(HEADER)
    if len(header) < HEADER:
        return None
    length = int.from_bytes(header, "big")
    if length > max_bytes:
        raise TooLarge
    message = stream.read(length)
    return message if len(message) == length else None


def code_version(file: str) -> str:
    """Identifies the code in a source file. Call it on import: an upgrade may replace the file later, and a
    worker that starts then runs other code than its parent."""
    try:
        return f"{file} {os.stat(file).st_mtime_ns}"  # noqa: PTH116  (`__file__` is a string)
    except OSError:  # the module is in an archive
        return file
