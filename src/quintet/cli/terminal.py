"""Standard output and error: UTF-8, plain in a pipe, and nothing in them that a terminal would obey."""

import errno
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import IO

from quintet.errors import StoreError

# Control characters, what turns the direction of writing round, line separators, undecodable bytes.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class ReaderGone(Exception):  # noqa: N818  (not an error: the reader has seen enough)
    """Whoever read standard output closed it, as `head` does."""


class OutputFailed(StoreError):  # noqa: N818  (named as its siblings are)
    """Standard output could not be written, e.g. because the disk behind it is full."""


def safe(text: str) -> str:
    r"""One line that is safe to print: what a terminal would act on is spelt out.

    >>> print(safe("a\x1b[31mb\nc"))
    a\x1b[31mb\nc
    """
    return UNSAFE.sub(_spelt, text)


def safe_lines(text: str) -> list[str]:
    r"""The same for text of several lines. Tabs become spaces.

    >>> safe_lines("a\r\n\tb\x07")
    ['a', '    b\\x07']
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [safe(line.expandtabs(4)) for line in lines]


def _spelt(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8, as Python passes it on
        return f"\\x{code - 0xDC00:02x}"
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(
        match[0], f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    )


def prepare() -> None:
    """Say UTF-8 whatever the locale is; a name that no encoding knows must not end the program."""
    for stream, errors in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)


def is_terminal(stream: IO[str] | None) -> bool:
    """False also where the stream is closed: Python then has None or a closed file there."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def is_debugging() -> bool:
    """Whether faults are shown with where they happened, which may quote what files hold."""
    return os.environ.get("QUINTET_DEBUG") == "1"


@contextmanager
def writing() -> Iterator[None]:
    """Around everything that writes results: a reader that left and a full disk are told apart."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EPIPE or (os.name == "nt" and error.errno == errno.EINVAL):
            raise ReaderGone from None
        reason = error.strerror or str(error)
        raise OutputFailed(f"standard output cannot be written: {reason}; send it elsewhere") from error


def write(text: str) -> None:
    """Results, as they are."""
    if sys.stdout is None:
        return
    with writing():
        sys.stdout.write(text)
        sys.stdout.flush()


def document(value: object) -> None:
    """One JSON document and a line end."""
    write(json.dumps(value, ensure_ascii=False, default=str) + "\n")


def tell(message: str) -> None:
    """One line for people, on standard error."""
    if sys.stderr is None:
        return
    with suppress(OSError, ValueError):
        sys.stderr.write(safe(message) + "\n")
        sys.stderr.flush()


def abandon() -> None:
    """Write no more to standard output: else Python complains of the closed pipe when it exits."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
