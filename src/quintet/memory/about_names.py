"""Finds the file, lines or symbol that a memory is about, from the name that the caller gave."""

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from quintet.errors import UsageError
from quintet.model.memories import About
from quintet.ports.reading import CodeGraph, Node, Root
from quintet.query.places import LINES, Documents, as_indexed, documents_named, line_range

SEPARATORS = re.compile(r"::|[.#\\]")
NO_SYMBOLS = ("module", "document")
SHOWN = 5


def find_subject(name: str, documents: Documents, graph: CodeGraph, base: Path) -> About:
    """What `name` means: a file that is or could be indexed, lines of it, or a symbol.

    A name that means nothing is kept as it is. A name that could mean several things is refused.
    """
    lines = LINES.fullmatch(name)
    for path in (name, lines["path"] if lines else ""):
        file = _find_file(path, documents, base) if path else None
        if file is not None:
            root, indexed_path = file
            return About(indexed_path, root=root, lines=_range(lines) if lines and path != name else None)
    nodes = _definitions(name, graph)
    if len(nodes) > 1:
        places = ", ".join(f"{node.path}:{node.first_line}-{node.last_line}" for node in nodes[:SHOWN])
        raise UsageError(f"{name!r} is defined in {len(nodes)} places ({places}); name one of them")
    for node in nodes:
        return About(node.path, node.qualified_name, node.root, (node.first_line, node.last_line))
    return About(path=name) if "/" in name else About(symbol=name)


def stored_spelling(name: str, documents: Documents, base: Path) -> str:
    """A path as memories about it store it, however the caller writes it; any other name as it is."""
    files = _files_named(name, documents, base)
    if len(files) != 1 or name == files[0][1]:  # the same path may be in several roots
        return name
    return "/".join(files[0])


def _range(lines: "re.Match[str]") -> tuple[int, int]:
    first, last = line_range(lines)
    return max(first, 1), max(last, 1)


def _find_file(name: str, documents: Documents, base: Path) -> tuple[str, str] | None:
    files = _files_named(name, documents, base)
    if len(files) > 1:
        examples = ", ".join(f"{root}/{path}" for root, path in files[:SHOWN])
        raise UsageError(f"{name!r} matches {len(files)} documents ({examples}); name one of them")
    return files[0] if files else _find_unindexed(name, documents.roots(), base)


def _files_named(name: str, documents: Documents, base: Path) -> list[tuple[str, str]]:
    """Root and path of the indexed files with that name, without the files below a folder of that name."""
    last = PurePosixPath(as_indexed(name)).name
    files = documents_named(name, documents, base)
    return [(root, path) for root, path in files if PurePosixPath(path).name == last]


def _find_unindexed(name: str, roots: Sequence[Root], base: Path) -> tuple[str, str] | None:
    """A file in an indexed folder that the index does not hold."""
    try:
        place = (base / name).resolve(strict=True)
        if place.is_file():
            for root in roots:
                if place.is_relative_to(root.location):
                    return root.name, as_indexed(str(place.relative_to(root.location)))
    except (OSError, RuntimeError, ValueError):  # missing, a NUL, a loop of links, a name that is too long
        pass
    return None


def _definitions(name: str, graph: CodeGraph) -> list[Node]:
    parts = [part for part in SEPARATORS.split(name) if part]
    if not parts:
        return []
    suffix = "." + ".".join(parts)
    nodes = [node for node in graph.named(parts[-1]) if node.kind not in NO_SYMBOLS]
    return [node for node in nodes if f".{node.qualified_name}".endswith(suffix)]
