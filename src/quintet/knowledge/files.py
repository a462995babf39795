"""Files of a knowledge base: written whole or not at all, originals by what they hold."""

import os
import secrets
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import TypeVar

from quintet.errors import NotFound, StoreError
from quintet.indexing.disk import find_file
from quintet.indexing.files import FileProblem
from quintet.model.documents import Document

ORIGINALS = "files"
WAITS = (0.01, 0.02, 0.05, 0.1, 0.2) if os.name == "nt" else ()  # seconds
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file a document was made from. `digest` is the SHA-256 of what was indexed."""

    location: Path
    name: str
    mime_type: str
    size: int
    digest: str


def described(document: Document, location: Path, name: str) -> SourceFile:
    with suppress(OSError):  # it may go between two looks at it
        if location.is_file():
            size = location.stat().st_size
            return SourceFile(location, name, document.mime_type, size, document.content_hash)
    raise _no_file(name)


def file_of_source(document: Document, folder: str, most: int) -> SourceFile:
    """Reached through no link, so that it lies in the source's folder."""
    at = find_file(folder, document.path, most)
    if isinstance(at, FileProblem):
        linked = _has_link(folder, document.path)
        raise _behind_link(document.path) if linked else _no_file(document.path)
    return described(document, at.location, document.path.rpartition("/")[2])


def write_whole(file: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace a file in one step; a kill leaves the old one, or none. A durable one outlives a power cut."""
    fresh = file.with_name(f".{file.name}.{secrets.token_hex(6)}")
    try:
        with fresh.open("xb") as out:
            out.write(data)
            if durable:
                out.flush()
                os.fsync(out.fileno())
        patiently(lambda: fresh.replace(file))
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise StoreError(f"{file} cannot be written: {error.strerror or error}; check the disk") from error


def patiently(act: Callable[[], Result]) -> Result:
    """What Windows refuses while somebody else reads or replaces the same file, which takes a moment."""
    for seconds in WAITS:
        try:
            return act()
        except PermissionError:
            sleep(seconds)
    return act()


class Originals:
    """What was uploaded, each content once under its SHA-256."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / ORIGINALS

    def location(self, sha256: str) -> Path:
        return self._folder / sha256

    def keep(self, sha256: str, data: bytes) -> None:
        file = self.location(sha256)
        if not file.is_file():
            self._folder.mkdir(exist_ok=True)
            write_whole(file, data)

    def drop_all_but(self, wanted: Collection[str]) -> None:
        """What a run that was cut short left behind goes too."""
        if self._folder.is_dir():
            for file in self._folder.iterdir():
                if file.name not in wanted:
                    with suppress(PermissionError):  # on Windows, while it is read; the next write drops it
                        file.unlink(missing_ok=True)


def _has_link(root: str, path: str) -> bool:
    place = Path(root)
    return any((place := place / part).is_symlink() for part in path.split("/"))


def _behind_link(path: str) -> NotFound:
    return NotFound(
        f"a link is where the file {path!r} was, and links are not followed; sync its source",
        code="invalid_source_file_path",
    )


def _no_file(what: str) -> NotFound:
    return NotFound(f"the file of document {what!r} is not there any more", code="source_file_not_found")
