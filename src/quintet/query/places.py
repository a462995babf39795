"""Find the document that a person means: by the path that search shows, a path on disk, or `root/path`."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol
from unicodedata import normalize

from quintet.errors import NotFound, UsageError
from quintet.model.documents import DocumentLines, digest
from quintet.ports.reading import Root

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
LINES = re.compile(r"(?P<path>.+):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?(?: \(page \d{1,9}\))?", re.DOTALL)


class Documents(Protocol):
    def roots(self) -> list[Root]: ...

    def known(self, root: str) -> Mapping[str, object]:
        """The documents of a root by path."""
        ...

    def documents_below(self, path: str, root: str | None) -> list[tuple[str, str]]:
        """Root and path of the document at `path`, or of all below that folder."""
        ...


def names_of(paths: Paths) -> list[str]:
    """The paths as text; a single path counts as a list of one."""
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    return [os.fspath(path) for path in listed]


def encodable(reference: str) -> str:
    """The reference without lone surrogates, which no path in an index holds."""
    if not isinstance(reference, str):
        raise UsageError(f"{reference!r} names nothing; give a path, PATH:FIRST-LAST or an id, as text")
    return reference.encode("utf-8", "replace").decode()


def as_indexed(path: str, separator: str = os.sep) -> str:
    """A path as an index stores it on every system: `/`-separated, NFC."""
    return normalize("NFC", path.replace(separator, "/"))


def locate(reference: str, documents: Documents, base: Path) -> DocumentLines:
    """The one document `PATH` or `PATH:FIRST-LAST` names."""
    place = find_place(reference, documents, base)
    if place is None:
        raise NotFound(
            f"nothing indexed is called {reference!r}; give a chunk id or a path as search shows it",
            code="document_not_found",
        )
    return place


def find_place(reference: str, documents: Documents, base: Path) -> DocumentLines | None:
    """The one document `PATH` or `PATH:FIRST-LAST` names, if it is indexed."""
    matches = documents_named(reference, documents, base)
    lines = LINES.fullmatch(reference)
    first, last = 1, 10**9
    if not matches and lines:
        matches = documents_named(lines["path"], documents, base)
        first, last = line_range(lines)
    if not matches:
        return None
    if len(matches) > 1:
        raise _ambiguous(reference, matches)
    return DocumentLines(*matches[0], first, last)


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


def root_or_documents(
    reference: str, documents: Documents, base: Path
) -> tuple[Root | None, list[tuple[str, str]]]:
    """The root of that name, or else every document at or below that path of a single root."""
    root = root_named(reference, documents.roots(), base)
    if root is not None:
        return root, []
    matches = documents_named(reference, documents, base)
    if not matches:
        raise _nothing_named(reference)
    if len({root for root, _ in matches}) > 1:
        raise _ambiguous(reference, matches)
    return None, matches


def ids_below(references: Sequence[str], documents: Documents, base: Path) -> set[str] | None:
    """The ids of all documents at or below any of these paths; None, meaning all, where no path is given."""
    ids: set[str] = set()
    for reference in map(encodable, references):
        root = root_named(reference, documents.roots(), base)
        if root is not None:
            below = [(root.name, path) for path in documents.known(root.name)]
        else:
            below = documents_named(reference, documents, base)
        if not below:
            raise _nothing_named(reference)
        ids |= {digest(name, path) for name, path in below}
    return ids if references else None


def _nothing_named(reference: str) -> NotFound:
    return NotFound(
        f"nothing indexed is called {reference!r}; 'quintet status' lists the roots",
        code="document_not_found",
    )


def _ambiguous(reference: str, matches: Sequence[tuple[str, str]]) -> UsageError:
    shown = ", ".join(f"{root}/{path}" for root, path in matches[:5])
    return UsageError(f"{reference!r} matches {len(matches)} documents ({shown}); name one of them")


def documents_named(reference: str, documents: Documents, base: Path) -> list[tuple[str, str]]:
    """Every document at or below that path, by the first way to read it that matches any."""
    for root, path in _readings(reference, documents.roots(), base):
        matches = documents.documents_below(path, root)
        if matches:
            return matches
    return []


def root_named(reference: str, roots: Sequence[Root], base: Path) -> Root | None:
    """The root of that name or in that folder."""
    if not reference.strip():
        raise UsageError("no path was given; name a document, a folder or a root")
    name, folder = as_indexed(reference), str(_absolute(reference, base))
    return next((root for root in roots if name == root.name or folder == root.location), None)


def _readings(reference: str, roots: Sequence[Root], base: Path) -> Iterator[tuple[str | None, str]]:
    location = _absolute(reference, base)
    for root in roots:
        if location is not None and location.is_relative_to(root.location):
            yield root.name, as_indexed(str(location.relative_to(root.location)))
    path = as_indexed(reference)
    plain = [(None, path.strip("/"))]
    named = [
        (root.name, path.removeprefix(root.name + "/").strip("/"))
        for root in roots
        if path.startswith(root.name + "/")
    ]
    yield from [*named, *plain] if len(roots) > 1 else [*plain, *named]  # as paths are printed, first


def _absolute(reference: str, base: Path) -> Path | None:
    try:
        return (base / reference).resolve()
    except (OSError, RuntimeError, ValueError):  # a NUL, a loop of links, a name too long
        return None
