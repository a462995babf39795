"""Files of a knowledge base: the originals of uploads, and the files of sources."""

import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import TypeVar

from quintet.errors import NotFound, StoreError
from quintet.indexing.disk import find_file
from quintet.indexing.files import FileProblem
from quintet.indexing.no_links import lstat
from quintet.model.documents import Document
from quintet.processes import private

ORIGINALS = "files"
WAITS = (0.01, 0.02, 0.05, 0.1, 0.2) if os.name == "nt" else ()  # seconds between two tries
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file a document was made from. `digest` is the SHA-256 of what was indexed."""

    location: Path
    name: str
    mime_type: str
    size: int
    digest: str


def describe_file(document: Document, location: Path, name: str) -> SourceFile:
    with suppress(OSError):
        facts = lstat(location)
        if stat.S_ISREG(facts.st_mode):
            return SourceFile(location, name, document.mime_type, facts.st_size, document.content_hash)
    raise _no_file(name)


def describe_source_file(document: Document, folder: str, max_bytes: int) -> SourceFile:
    """The file in the folder of its source. Links are not followed, since they could lead outside."""
    file = find_file(folder, document.path, max_bytes)
    if isinstance(file, FileProblem):
        is_link = _has_link(folder, document.path)
        raise _behind_link(document.path) if is_link else _no_file(document.path)
    return describe_file(document, Path(file.full_path), document.path.rpartition("/")[2])


def replace_file(file: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace a file in one step. A kill leaves the old file; with `durable` so does a power cut."""
    new_file = file.with_name(f".{file.name}.{secrets.token_hex(6)}")
    try:
        with private.open_new(new_file, exclusive=True) as out:
            out.write(data)
            if durable:
                out.flush()
                os.fsync(out.fileno())
        retry_on_windows(lambda: new_file.replace(file))
    except OSError as error:
        new_file.unlink(missing_ok=True)
        raise StoreError(f"{file} cannot be written: {error.strerror or error}; check the disk") from error


def retry_on_windows(act: Callable[[], Result]) -> Result:
    """Try again while another process reads or replaces the same file, which Windows does not share."""
    for seconds in WAITS:
        try:
            return act()
        except PermissionError:
            sleep(seconds)
    return act()


class Originals:
    """The uploaded files. Each content is stored once, under its SHA-256."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve() / ORIGINALS

    def location(self, sha256: str) -> Path:
        return self._folder / sha256

    def keep(self, sha256: str, data: bytes) -> None:
        file = self.location(sha256)
        if not file.is_file():
            private.make_folder(self._folder)
            replace_file(file, data)

    def damaged(self, wanted: Collection[str]) -> list[str]:
        """Those that are missing, or whose content is not what was uploaded."""
        return [sha256 for sha256 in sorted(wanted) if not self.is_right(sha256)]

    def is_right(self, sha256: str) -> bool:
        try:
            with self.location(sha256).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == sha256
        except OSError:
            return False

    def drop_all_but(self, wanted: Collection[str]) -> None:
        """Also drops what an interrupted upload left behind."""
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
        f"the file {path!r} is now a link, and links are not followed; sync its source",
        code="invalid_source_file_path",
    )


def _no_file(name: str) -> NotFound:
    return NotFound(f"the file of document {name!r} no longer exists", code="source_file_not_found")
