"""From what a memory is said to be about to the file, lines or symbol that is meant."""

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


def subject(name: str, documents: Documents, graph: CodeGraph, base: Path) -> About:
    """The one thing `name` means: an indexed file, a file in an indexed folder, lines of one, or a symbol.

    A name that means nothing yet is kept as it is; one that may mean several things is refused.
    """
    lines = LINES.fullmatch(name)
    for path in (name, lines["path"] if lines else ""):
        found = _file(path, documents, base) if path else None
        if found is not None:
            return About(found[1], root=found[0], lines=_range(lines) if lines and path != name else None)
    nodes = _definitions(name, graph)
    if len(nodes) > 1:
        places = ", ".join(f"{one.path}:{one.first_line}-{one.last_line}" for one in nodes[:SHOWN])
        raise UsageError(f"{name!r} is defined in {len(nodes)} places ({places}); name one of these")
    for node in nodes:
        return About(node.path, node.qualified_name, node.root, (node.first_line, node.last_line))
    return About(path=name) if "/" in name else About(symbol=name)


def spelt(name: str, documents: Documents, base: Path) -> str:
    """A path as memories about it hold it, however it is written here; any other name as it is."""
    found = _called(name, documents, base)
    if len(found) != 1 or name == found[0][1]:  # the same path may be in several roots
        return name
    return "/".join(found[0])


def _range(lines: "re.Match[str]") -> tuple[int, int]:
    first, last = line_range(lines)
    return max(first, 1), max(last, 1)


def _file(name: str, documents: Documents, base: Path) -> tuple[str, str] | None:
    found = _called(name, documents, base)
    if len(found) > 1:
        some = ", ".join(f"{root}/{path}" for root, path in found[:SHOWN])
        raise UsageError(f"{name!r} may be any of {len(found)} documents ({some}); name one of them")
    return found[0] if found else _unindexed(name, documents.roots(), base)


def _called(name: str, documents: Documents, base: Path) -> list[tuple[str, str]]:
    """The indexed files of that name: not what lies below a folder of that name."""
    below = documents_named(name, documents, base)
    last = PurePosixPath(as_indexed(name)).name
    return [one for one in below if PurePosixPath(one[1]).name == last]


def _unindexed(name: str, roots: Sequence[Root], base: Path) -> tuple[str, str] | None:
    """A file that lies in an indexed folder, though the index does not hold it."""
    try:
        place = (base / name).resolve(strict=True)
        if place.is_file():
            for root in roots:
                if place.is_relative_to(root.location):
                    return root.name, as_indexed(str(place.relative_to(root.location)))
    except (OSError, RuntimeError, ValueError):  # not there, a NUL, a loop of links, a name too long
        pass
    return None


def _definitions(name: str, graph: CodeGraph) -> list[Node]:
    parts = [part for part in SEPARATORS.split(name) if part]
    if not parts:
        return []
    wanted = "." + ".".join(parts)
    nodes = [node for node in graph.named(parts[-1]) if node.kind not in NO_SYMBOLS]
    return [node for node in nodes if f".{node.qualified_name}".endswith(wanted)]
