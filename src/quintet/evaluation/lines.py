"""Lines of files that anybody may have written: bounded, UTF-8, and each complaint names its line."""

import stat
from collections.abc import Iterator
from pathlib import Path

from quintet.errors import LimitError, UsageError

LONGEST_LINE = 16_000_000  # bytes: a book in one record
LONGEST_ID = 1_000  # characters


class Broken(Exception):  # noqa: N818  (never leaves this package)
    """What is wrong with a line: the sentence's second half."""


def numbered(file: Path, most: int) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, each with its number; at most `most` of them."""
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
        with file.open("rb") as opened:
            while data := opened.readline(LONGEST_LINE + 1):
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
        raise complaint(file, number, f"is not UTF-8 at byte {error.start}") from None


def complaint(file: Path, number: int, what: str) -> UsageError:
    return UsageError(f"line {number} of {file} {what}", details={"file": str(file), "line": number})


def checked_id(what: str, value: object) -> str:
    """An id as text: not blank, no control characters, no lone surrogates, not too long."""
    if not isinstance(value, str) or not value.strip():
        raise Broken(f"has no {what}; it must be text that is not blank")
    if len(value) > LONGEST_ID:
        raise Broken(f"has a {what} of {len(value)} characters; at most {LONGEST_ID} are taken")
    if any(ord(char) < 32 or 0xD800 <= ord(char) <= 0xDFFF for char in value):
        raise Broken(f"has a {what} with control characters or lone surrogates: {value[:80]!r}")
    return value
