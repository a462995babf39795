"""Lines of untrusted files: bounded, UTF-8, and every error names its line."""

import stat
from collections.abc import Iterator
from pathlib import Path

from quintet.errors import LimitError, UsageError

LONGEST_LINE = 16_000_000  # bytes: a book in one record
LONGEST_ID = 1_000  # characters


class MalformedLine(Exception):  # noqa: N818  (never leaves this package)
    """What is wrong with a line, as the end of a sentence that begins with its number."""


def numbered_lines(file: Path, most: int) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, each with its number. More than `most` are refused."""
    count = 0
    for number, data in enumerate(_raw(file), start=1):
        text = _decoded(file, number, data)
        if not text.strip():
            continue
        count += 1
        if count > most:
            raise LimitError(f"{file} has more than {most} lines; split it")
        yield number, text.rstrip("\r\n")


def _raw(file: Path) -> Iterator[bytes]:
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # a pipe might never end
            raise UsageError(f"{file} is not a file; name one", code="invalid_path")
        with file.open("rb") as stream:
            while data := stream.readline(LONGEST_LINE + 1):
                if len(data) > LONGEST_LINE:
                    raise LimitError(f"a line of {file} is longer than {LONGEST_LINE} bytes; shorten it")
                yield data
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{file} cannot be read: {reason}", code="invalid_path") from error


def _decoded(file: Path, number: int, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise line_error(file, number, f"is not UTF-8 at byte {error.start}") from None


def line_error(file: Path, number: int, what: str) -> UsageError:
    return UsageError(f"line {number} of {file} {what}", details={"file": str(file), "line": number})


def checked_id(what: str, value: object) -> str:
    """The id if it is text: not blank, not too long, without control characters and lone surrogates."""
    if not isinstance(value, str) or not value.strip():
        raise MalformedLine(f"has no {what}; it must be text that is not blank")
    if len(value) > LONGEST_ID:
        raise MalformedLine(f"has a {what} of {len(value)} characters; at most {LONGEST_ID} are allowed")
    if any(ord(char) < 32 or 0xD800 <= ord(char) <= 0xDFFF for char in value):
        raise MalformedLine(f"has a {what} with control characters or lone surrogates: {value[:80]!r}")
    return value
