"""From what a person calls a document to the document: a path as shown, on disk, or behind a root's name."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from unicodedata import normalize

from quintet.errors import NotFound, UsageError
from quintet.model.documents import Passage, digest
from quintet.ports.reading import Root

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
LINES = re.compile(r"(?P<path>.+):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?", re.DOTALL)


class Documents(Protocol):
    def roots(self) -> list[Root]: ...

    def known(self, root: str) -> Mapping[str, object]:
        """The documents of a root by path."""
        ...

    def documents_below(self, path: str, root: str | None) -> list[tuple[str, str]]:
        """Root and path of the document at `path`, or of all below that folder."""
        ...


@dataclass(frozen=True, slots=True)
class Located:
    """One document, and the lines of it that are wanted."""

    root: str
    path: str
    first: int = 1
    last: int = 10**9

    def cut(self, passages: Sequence[Passage]) -> list[Passage]:
        return [p for p in passages if p.chunk.first_line <= self.last and p.chunk.last_line >= self.first]


def names_of(paths: Paths) -> list[str]:
    """Several paths, or a single one."""
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    return [os.fspath(path) for path in several]


def encodable(reference: str) -> str:
    """Lone surrogates cannot be looked up: no path in an index holds one."""
    if not isinstance(reference, str):
        raise UsageError(f"{reference!r} names nothing; give a path, PATH:FIRST-LAST or an id, as text")
    return reference.encode("utf-8", "replace").decode()


def as_indexed(path: str, separator: str = os.sep) -> str:
    """A path as an index holds it, which is the same on every system: `/`-separated, NFC."""
    return normalize("NFC", path.replace(separator, "/"))


def locate(reference: str, documents: Documents, base: Path) -> Located:
    """The one document `PATH` or `PATH:FIRST-LAST` names."""
    found = documents_named(reference, documents, base)
    lines = LINES.fullmatch(reference)
    first, last = 1, 10**9
    if not found and lines:
        found = documents_named(lines["path"], documents, base)
        first, last = line_range(lines)
    if not found:
        raise NotFound(
            f"nothing indexed is called {reference!r}; give a chunk id or a path as search shows it",
            code="document_not_found",
        )
    if len(found) > 1:
        raise _ambiguous(reference, found)
    return Located(*found[0], first, last)


def line_range(lines: "re.Match[str]") -> tuple[int, int]:
    """The lines that a match of LINES names."""
    first = int(lines["first"])
    last = int(lines["last"] or first)
    if last < first:
        raise UsageError(
            f"{lines[0]!r} ends before it begins; write the lines as FIRST-LAST, such as {last}-{first}",
            details={"parameter": "reference"},
        )
    return first, last


def documents_in_one_root(reference: str, documents: Documents, base: Path) -> list[tuple[str, str]]:
    """Every document at or below that path, which must not mean places in several roots."""
    found = documents_named(reference, documents, base)
    if len({root for root, _ in found}) > 1:
        raise _ambiguous(reference, found)
    return found


def ids_below(references: Sequence[str], documents: Documents, base: Path) -> set[str] | None:
    """The ids of all documents at or below any of these; None where nothing is named, for all there are."""
    found: set[str] = set()
    for reference in map(encodable, references):
        root = root_named(reference, documents.roots(), base)
        if root is not None:
            below = [(root.name, path) for path in documents.known(root.name)]
        else:
            below = documents_named(reference, documents, base)
        if not below:
            raise NotFound(
                f"nothing indexed is called {reference!r}; 'quintet status' lists the roots",
                code="document_not_found",
            )
        found |= {digest(name, path) for name, path in below}
    return found if references else None


def _ambiguous(reference: str, found: Sequence[tuple[str, str]]) -> UsageError:
    some = ", ".join(f"{root}/{path}" for root, path in found[:5])
    return UsageError(f"{reference!r} may be any of {len(found)} documents ({some}); name one of them")


def documents_named(reference: str, documents: Documents, base: Path) -> list[tuple[str, str]]:
    """Every document at or below that path, by the first reading of it that finds any."""
    for root, path in _readings(reference, documents.roots(), base):
        found = documents.documents_below(path, root)
        if found:
            return found
    return []


def root_named(reference: str, roots: Sequence[Root], base: Path) -> Root | None:
    """The root of that name or in that folder."""
    if not reference.strip():
        raise UsageError("no path was given; name a document, a folder or a root")
    name, place = as_indexed(reference), str(_absolute(reference, base))
    return next((root for root in roots if name == root.name or place == root.location), None)


def _readings(reference: str, roots: Sequence[Root], base: Path) -> Iterator[tuple[str | None, str]]:
    place = _absolute(reference, base)
    for root in roots:
        if place is not None and place.is_relative_to(root.location):
            yield root.name, as_indexed(str(place.relative_to(root.location)))
    spelt = as_indexed(reference)
    yield None, spelt.strip("/")
    for root in roots:
        if spelt.startswith(root.name + "/"):
            yield root.name, spelt.removeprefix(root.name + "/").strip("/")


def _absolute(reference: str, base: Path) -> Path | None:
    try:
        return (base / reference).resolve()
    except (OSError, RuntimeError, ValueError):  # a NUL, a loop of links, a name too long
        return None
