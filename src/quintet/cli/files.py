"""Files that a user names on the command line, to read from or write to."""

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quintet.errors import StoreError, UsageError

if TYPE_CHECKING:
    from quintet.ports.reading import Root
    from quintet.serving.views import View

STANDARD_INPUT = "-"
LARGEST_JSON = 50_000_000  # bytes; a receipt has some kilobytes, a proof as many as its document


def read_json_file(file: Path) -> object:
    """The JSON in a file or on standard input. The content is untrusted, so its size is limited."""
    content = _content(file)
    if len(content) > LARGEST_JSON:
        raise UsageError(f"{file} is larger than any receipt or proof ({LARGEST_JSON} bytes)")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not JSON: {str(error)[:200]}") from error


def _content(file: Path) -> bytes:
    if str(file) == STANDARD_INPUT:
        return sys.stdin.buffer.read(LARGEST_JSON + 1)
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # a pipe might never end
            raise UsageError(f"{file} is not a file; '-' reads standard input", code="invalid_path")
        with file.open("rb") as stream:
            return stream.read(LARGEST_JSON + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise unreadable(str(file), error) from error


def unreadable(name: str, error: OSError | ValueError) -> UsageError:
    reason = getattr(error, "strerror", None) or error
    return UsageError(f"{name} cannot be read: {reason}", code="invalid_path")


def read_text_from_input(limit: int = -1) -> str:
    """Standard input as text; empty if it is closed."""
    return sys.stdin.buffer.read(limit).decode("utf-8", "replace") if sys.stdin else ""


def write_json_file(file: Path, value: object) -> None:
    write_file(file, json.dumps(value, indent=1) + "\n")


def write_file(file: Path, text: str) -> None:
    """Write the whole text or nothing."""
    try:
        target = file.resolve()
        if str(file) == "-" or (target.exists() and not target.is_file()):  # a device must not become a file
            raise UsageError(f"{file} is not a file; name one to write to", code="invalid_path")
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            draft.write_text(text, "utf-8", newline="\n")
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"{file} cannot be written: {reason}; choose another place") from error


def openable_paths(views: "Iterable[View]", roots: "Sequence[Root]") -> Iterator[str]:
    """The file of each result, once: relative to the current folder if it lies below it, else absolute.

    A document of a knowledge base has no file to open; it is named.
    """
    locations = {root.name: Path(root.location) for root in roots}
    here, seen = Path.cwd(), set()
    for view in views:
        folder = locations.get(view.root or "")
        path = Path(view.path) if folder is None else folder / view.path
        shown = str(path.relative_to(here) if path.is_relative_to(here) else path)
        if shown not in seen:
            seen.add(shown)
            yield shown
