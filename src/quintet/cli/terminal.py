"""Standard output and standard error: UTF-8, plain in a pipe, free of control characters."""

import errno
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import IO, TYPE_CHECKING

from quintet.errors import StoreError

if TYPE_CHECKING:
    from quintet.model.results import Note

# Control characters, marks of writing direction, line separators, undecodable bytes.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class ReaderGone(Exception):  # noqa: N818  (not an error: the reader has seen enough)
    """The reader of standard output closed it, as `head` does."""


class Interrupted(Exception):  # noqa: N818  (not an error: someone pressed Ctrl-C)
    """A command was interrupted. The message says what it has done."""


class OutputFailed(StoreError):  # noqa: N818  (like its siblings)
    """Standard output could not be written, e.g. because the disk behind it is full."""


def safe(text: str) -> str:
    r"""One line that is safe to print: characters that a terminal would act on are escaped.

    >>> print(safe("a\x1b[31mb\nc"))
    a\x1b[31mb\nc
    """
    return UNSAFE.sub(_escaped, text)


def safe_lines(text: str) -> list[str]:
    r"""The same for text of several lines. Tabs become spaces.

    >>> safe_lines("a\r\n\tb\x07")
    ['a', '    b\\x07']
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [safe(line.expandtabs(4)) for line in lines]


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8, as Python passes it on
        return f"\\x{code - 0xDC00:02x}"
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(
        match[0], f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    )


def use_utf8() -> None:
    """Write UTF-8 whatever the locale is; an undecodable file name must not end the program."""
    for stream, errors in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)


def is_terminal(stream: IO[str] | None) -> bool:
    """False for a closed stream too, which is None or a closed file in Python."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


@contextmanager
def writing() -> Iterator[None]:
    """Wraps whatever writes results: a closed pipe raises `ReaderGone`, a full disk `OutputFailed`."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EPIPE or (os.name == "nt" and error.errno == errno.EINVAL):
            raise ReaderGone from None
        reason = error.strerror or str(error)
        raise OutputFailed(f"standard output cannot be written: {reason}; send it elsewhere") from error


def write(text: str) -> None:
    """Write results to standard output, unchanged."""
    if sys.stdout is None:
        return
    with writing():
        sys.stdout.write(text)
        sys.stdout.flush()


def write_lines(lines: Iterable[str]) -> None:
    """Write results line by line, each made safe."""
    write("".join(f"{safe(line)}\n" for line in lines))


def write_json(value: object) -> None:
    """Write one JSON document and a line end. On a terminal, characters that it would act on are escaped, as
    JSON allows; in a pipe or a file every character stays as it is."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if is_terminal(sys.stdout):
        text = UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    write(text + "\n")


def write_json_lines(values: "Iterable[object]") -> None:
    """Write each value as one line of JSON."""
    write("".join(json.dumps(value, ensure_ascii=False, default=str) + "\n" for value in values))


def tell(message: str) -> None:
    """Write one line for people to standard error."""
    if sys.stderr is None:
        return
    with suppress(OSError, ValueError):
        sys.stderr.write(safe(message) + "\n")
        sys.stderr.flush()


def tell_notes(notes: "Iterable[Note]") -> None:
    for note in notes:
        tell(f"note: {note['message']} [{note['code']}]")


def discard_output() -> None:
    """Send further output nowhere: otherwise Python complains about the closed pipe when it exits."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
