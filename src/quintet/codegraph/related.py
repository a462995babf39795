"""What is around a symbol: from what a person calls it to its neighbours in the code graph."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TypedDict, get_args

from quintet.contracts.contract import Expansion, Strategy
from quintet.errors import NotFound, UsageError
from quintet.model.schema import Count, Lines
from quintet.model.symbols import Confidence
from quintet.ports.reading import CodeGraph, Neighbour, Node
from quintet.query.places import Documents, encodable, locate

FARTHEST = 10  # hops, as in `mcb`
LIMIT = 1000
SEPARATORS = re.compile(r"::|[.#\\]")
CANDIDATES_SHOWN = 8
LONGEST = 1000  # characters of a name that is worth looking up


@dataclass(frozen=True, slots=True)
class Related:
    """The neighbours of `start`, breadth first. `more` says that the limit cut some off."""

    start: Node
    expansion: Expansion
    neighbours: tuple[Neighbour, ...]
    more: bool

    def wire(self) -> "RelatedFields":
        names = {node.id: node for node in (self.start, *(one.node for one in self.neighbours))}
        return {
            "start": node_fields(self.start),
            "strategy": self.expansion.strategy,
            "depth": self.expansion.distance,
            "possible": self.expansion.possible,
            "neighbours": [_neighbour(one, names) for one in self.neighbours],
            "more": self.more,
        }


class NodeFields(TypedDict):
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
    {"from": str, "relation": str, "to": str, "confidence": Confidence, "path": str, "line": int},
)


class NeighbourFields(NodeFields):
    distance: Count
    confidence: Confidence
    steps: list[StepFields]


class RelatedFields(TypedDict):
    start: NodeFields
    strategy: Strategy
    depth: Count
    possible: bool
    neighbours: list[NeighbourFields]
    more: bool


def place(node: Node) -> str:
    return f"{node.path}:{node.first_line}"


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


def _neighbour(neighbour: Neighbour, names: dict[str, Node]) -> NeighbourFields:
    steps: list[StepFields] = [
        {
            "from": names[step.source].qualified_name,
            "relation": step.relation,
            "to": names[step.target].qualified_name,
            "confidence": step.confidence,
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


def related(
    graph: CodeGraph, documents: Documents, base: Path, reference: str, expansion: Expansion, limit: int
) -> Related:
    """Walk from the one node that `reference` names: a symbol, PATH or PATH:LINE."""
    check(expansion, limit)
    start = find(graph, documents, base, reference)
    found = graph.walk(start.id, expansion, limit + 1)
    return Related(start, expansion, tuple(found[:limit]), len(found) > limit)


def check(expansion: Expansion, limit: int) -> None:
    for name, value, allowed in (
        ("strategy", expansion.strategy, get_args(Strategy)),
        ("depth", expansion.distance, range(1, FARTHEST + 1)),
        ("limit", limit, range(1, LIMIT + 1)),
    ):
        if type(value) is not type(allowed[0]) or value not in allowed:
            shown = (
                f"a whole number from {allowed[0]} to {allowed[-1]}"
                if isinstance(allowed, range)
                else f"one of {', '.join(allowed)}"
            )
            raise UsageError(f"{name} is {value!r}; it must be {shown}", details={"parameter": name})


def find(graph: CodeGraph, documents: Documents, base: Path, reference: str) -> Node:
    """The one node of that name. A file is meant only where no definition is: it can be named by its path."""
    reference = encodable(reference).strip()[:LONGEST]
    if not reference:
        raise UsageError("no symbol was given; name one, or a PATH:LINE", details={"parameter": "reference"})
    matching = _matching(graph, reference)
    candidates = [node for node in matching if node.parent is not None] or matching
    if len(candidates) > 1:
        raise _ambiguous(reference, candidates)
    if candidates:
        return candidates[0]
    return _placed(graph, documents, base, reference)


def _matching(graph: CodeGraph, reference: str) -> list[Node]:
    parts = [part for part in SEPARATORS.split(reference) if part]
    if not parts:
        return []
    tail = [node for node in graph.named(parts[-1]) if _names(node)[-len(parts) :] == parts]
    return [node for node in tail if parts in (_names(node), _names(node)[1:])] or tail


def _names(node: Node) -> list[str]:
    """Its full name behind that of its root, which a package that is indexed by itself is called by."""
    return [node.root, *node.qualified_name.split(".")]


def _placed(graph: CodeGraph, documents: Documents, base: Path, reference: str) -> Node:
    try:
        where = locate(reference, documents, base)
    except NotFound:
        raise _unknown(graph, reference) from None
    found = graph.at(where.root, where.path, where.first, where.last)
    if found is None:
        raise _unknown(graph, reference)
    if found.parent is None and not 1 <= where.first <= max(found.last_line, 1):
        raise NotFound(
            f"there is no line {where.first} in {where.path}; its lines are 1 to {max(found.last_line, 1)}",
            code="document_not_found",
        )
    return found


def _ambiguous(reference: str, candidates: Sequence[Node]) -> UsageError:
    shown = [f"{node.kind} {node.qualified_name} at {place(node)}" for node in candidates]
    some = "; ".join(shown[:CANDIDATES_SHOWN])
    more = f"; and {len(shown) - CANDIDATES_SHOWN} more" if len(shown) > CANDIDATES_SHOWN else ""
    return UsageError(
        f"{reference!r} may be any of {len(shown)}: {some}{more}; give its full name, or its PATH:LINE",
        details={"candidates": [node_fields(node) for node in candidates[:LIMIT]]},
    )


def _unknown(graph: CodeGraph, reference: str) -> NotFound:
    if not graph.available:
        return NotFound(
            f"nothing is called {reference!r}: this index holds no symbols; index source code with "
            "'quintet index'",
            code="document_not_found",
        )
    last = SEPARATORS.split(reference)[-1] or reference
    near = get_close_matches(last, graph.names_like(last), n=5)
    hint = f"near it: {', '.join(near)}" if near else "give a symbol, a path, or PATH:LINE"
    return NotFound(
        f"no symbol or document is called {reference!r}; {hint}",
        code="document_not_found",
        details={"near": near},
    )
