"""The neighbours of a symbol in the code graph, found by its name or place."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypedDict, get_args

from quintet.contracts.contract import Expansion, Strategy
from quintet.errors import NotFound, UsageError
from quintet.model.documents import DocumentLines
from quintet.model.parameters import one_of, parameter, read, whole
from quintet.model.schema import Count, Lines
from quintet.model.symbols import Confidence
from quintet.ports.reading import CodeGraph, Neighbour, Node

MAX_DEPTH = 10  # hops, as in `mcb`
MAX_LIMIT = 1000
SEPARATORS = re.compile(r"::|[.#\\]")
CANDIDATES_SHOWN = 8
MAX_NAME = 1000  # characters of a name that is worth looking up


@dataclass(frozen=True, slots=True)
class Walk:
    """How far `related` walks, and along which edges."""

    strategy: Strategy = parameter("related", one_of(*get_args(Strategy)), "which edges to follow")
    depth: int = parameter(1, whole(1, MAX_DEPTH), "how many edges away a neighbour may be")
    limit: int = parameter(100, whole(1, MAX_LIMIT), "neighbours to return")


@dataclass(frozen=True, slots=True)
class RelatedSymbols:
    """The neighbours of `start`, breadth first. `more`: the limit left some out."""

    start: Node
    expansion: Expansion
    neighbours: tuple[Neighbour, ...]
    more: bool

    def wire(self) -> "RelatedFields":
        names = {node.id: node for node in (self.start, *(neighbour.node for neighbour in self.neighbours))}
        return {
            "start": node_fields(self.start),
            "strategy": self.expansion.strategy,
            "depth": self.expansion.distance,
            "possible": self.expansion.possible,
            "neighbours": [_neighbour_fields(neighbour, names) for neighbour in self.neighbours],
            "more": self.more,
        }


class NodeFields(TypedDict):
    """A definition or a file in the code graph."""

    id: str
    kind: str
    name: str
    root: str
    path: str
    lines: Lines
    signature: str
    docstring: str
    visibility: str
    is_test: bool


StepFields = TypedDict(
    "StepFields",
    {
        "from": str,
        "relation": str,
        "to": str,
        "confidence": Confidence,
        "root": str,
        "path": str,
        "line": int,
    },
)
StepFields.__doc__ = "An edge of the code graph, and the line that makes it."


class NeighbourFields(NodeFields):
    """A node near the start, with the path that leads to it."""

    distance: Count
    confidence: Confidence
    steps: list[StepFields]


class RelatedFields(TypedDict):
    """The neighbours of `start`, nearest first. `more`: the limit left some out."""

    start: NodeFields
    strategy: Strategy
    depth: Count
    possible: bool
    neighbours: list[NeighbourFields]
    more: bool


def place(node: Node, several_roots: bool) -> str:
    """The first line of a node, as `related` takes it."""
    path = f"{node.root}/{node.path}" if several_roots else node.path
    return f"{path}:{node.first_line}"


def node_fields(node: Node) -> NodeFields:
    return {
        "id": node.id,
        "kind": node.kind,
        "name": node.qualified_name,
        "root": node.root,
        "path": node.path,
        "lines": [node.first_line, node.last_line],
        "signature": node.signature,
        "docstring": node.docstring,
        "visibility": node.visibility,
        "is_test": node.is_test,
    }


def _neighbour_fields(neighbour: Neighbour, names: dict[str, Node]) -> NeighbourFields:
    steps: list[StepFields] = [
        {
            "from": names[step.source].qualified_name,
            "relation": step.relation,
            "to": names[step.target].qualified_name,
            "confidence": step.confidence,
            "root": names[step.source].root,
            "path": names[step.source].path,
            "line": step.line,
        }
        for step in neighbour.steps
    ]
    return {
        **node_fields(neighbour.node),
        "distance": neighbour.distance,
        "confidence": neighbour.confidence,
        "steps": steps,
    }


def related_symbols(
    graph: CodeGraph,
    reference: str,
    find_place: Callable[[str], DocumentLines | None],
    expansion: Expansion,
    limit: int,
) -> RelatedSymbols:
    """The neighbours of what `reference` names: a symbol, or else the place that `find_place` returns."""
    asked = {"strategy": expansion.strategy, "depth": expansion.distance, "limit": limit}
    walk = read("related", Walk, asked, {})
    expansion, limit = Expansion(walk.strategy, walk.depth, expansion.possible), walk.limit
    reference = _clean_reference(reference)
    start = _node_named(graph, reference)
    if start is None:
        lines = find_place(reference)
        start = None if lines is None else _node_at(graph, lines)
    if start is None:
        raise _unknown_symbol(graph, reference)
    neighbours = graph.walk(start.id, expansion, limit + 1)
    return RelatedSymbols(start, expansion, tuple(neighbours[:limit]), len(neighbours) > limit)


def _clean_reference(reference: str) -> str:
    """The name of a symbol or place as a person wrote it, without spaces around it."""
    reference = reference.strip()[:MAX_NAME]
    if not reference:
        raise UsageError("no symbol was given; name one, or a PATH:LINE", details={"parameter": "reference"})
    return reference


def _node_named(graph: CodeGraph, reference: str) -> Node | None:
    """The node of that name, if there is one. Definitions come before files, which can be named by path."""
    matches = _matches(graph, reference)
    candidates = [node for node in matches if node.parent is not None] or matches
    if len(candidates) > 1:
        raise _ambiguous(reference, candidates)
    return candidates[0] if candidates else None


def _node_at(graph: CodeGraph, lines: DocumentLines) -> Node | None:
    """The innermost definition around these lines, or else the file."""
    node = graph.at(lines.root, lines.path, lines.first, lines.last)
    if node is not None and node.parent is None and not 1 <= lines.first <= max(node.last_line, 1):
        raise NotFound(
            f"there is no line {lines.first} in {lines.path}; its lines are 1 to {max(node.last_line, 1)}",
            code="document_not_found",
        )
    return node


def _matches(graph: CodeGraph, reference: str) -> list[Node]:
    parts = [part for part in SEPARATORS.split(reference) if part]
    if not parts:
        return []
    tail = [node for node in graph.named(parts[-1]) if _names(node)[-len(parts) :] == parts]
    return [node for node in tail if parts in (_names(node), _names(node)[1:])] or tail


def _names(node: Node) -> list[str]:
    """The names of the root and of the node: a package that is indexed by itself goes by the name of its
    root."""
    return [node.root, *node.qualified_name.split(".")]


def _ambiguous(reference: str, candidates: Sequence[Node]) -> UsageError:
    several = len({node.root for node in candidates}) > 1
    shown = [f"{node.kind} {node.qualified_name} at {place(node, several)}" for node in candidates]
    listed = "; ".join(shown[:CANDIDATES_SHOWN])
    more = f"; and {len(shown) - CANDIDATES_SHOWN} more" if len(shown) > CANDIDATES_SHOWN else ""
    return UsageError(
        f"{reference!r} matches {len(shown)} symbols: {listed}{more}; give its full name, or its PATH:LINE",
        details={"candidates": [node_fields(node) for node in candidates[:MAX_LIMIT]]},
    )


def _unknown_symbol(graph: CodeGraph, reference: str) -> NotFound:
    if not graph.available:
        return NotFound(
            f"there is no symbol {reference!r}: this index has no symbols; index source code with "
            "'quintet index'",
            code="document_not_found",
        )
    last = SEPARATORS.split(reference)[-1] or reference
    near = get_close_matches(last, graph.names_like(last), n=5)
    hint = f"similar names: {', '.join(near)}" if near else "give a symbol, a path, or PATH:LINE"
    return NotFound(
        f"no symbol or document is called {reference!r}; {hint}",
        code="document_not_found",
        details={"near": near},
    )
