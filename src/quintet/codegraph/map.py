"""An outline of a repository within a token budget: the most important definitions, with their lines."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from quintet.model.documents import Json
from quintet.model.results import Note
from quintet.model.tokens import CHARS_PER_TOKEN, checked_budget, length, tokens
from quintet.ports.reading import CodeGraph, Node

WIDEST = 120  # characters of a signature
INDENT = "    "


@dataclass(frozen=True, slots=True)
class MapFile:
    """A file with the definitions that are shown, each after what it is inside of."""

    name: str
    nodes: tuple[Node, ...]
    depths: tuple[int, ...]

    @property
    def lines(self) -> list[str]:
        shown = zip(self.nodes, self.depths, strict=True)
        return [self.name, *(_line(node, depth) for node, depth in shown)]


@dataclass(frozen=True, slots=True)
class OutlineMap:
    """`shown` of `total` nodes (files and definitions) fit into `budget` tokens."""

    files: tuple[MapFile, ...]
    budget: int
    shown: int
    total: int
    notes: list[Note] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(line + "\n" for file in self.files for line in file.lines)

    @property
    def tokens(self) -> int:
        return tokens(self.text)

    def wire(self) -> dict[str, Json]:
        files: list[Json] = [{"path": file.name, "symbols": _fields(file)} for file in self.files]
        counts = {"budget": self.budget, "tokens": self.tokens, "shown": self.shown, "total": self.total}
        notes: list[Json] = [{"code": note["code"], "message": note["message"]} for note in self.notes]
        return {"map": self.text, **counts, "files": files, "notes": notes}


def _fields(file: MapFile) -> list[Json]:
    return [
        {"line": node.first_line, "kind": node.kind, "name": node.qualified_name, "signature": node.signature}
        for node in file.nodes
    ]


def outline_map(
    graph: CodeGraph,
    towards: Mapping[str, float],
    documents: Collection[str] | None,
    budget: int,
    *,
    several_roots: bool = False,
) -> OutlineMap:
    """Take nodes by importance, each with what it is defined in, while whole lines fit."""
    checked_budget(budget)
    ranked, total = graph.important(towards, budget, documents)
    parents = _parents(graph, [node for node, _ in ranked])
    chosen: dict[str, Node] = {}
    left = budget * CHARS_PER_TOKEN
    for node, _ in ranked:
        lineage = [ancestor for ancestor in _lineage(node, parents) if ancestor.id not in chosen]
        left -= sum(length(_shown(ancestor, parents, several_roots)) + 1 for ancestor in lineage)
        if left < 0:
            break
        chosen |= {ancestor.id: ancestor for ancestor in lineage}
    return OutlineMap(_files(chosen, parents, several_roots), budget, len(chosen), total)


def unfound(made: OutlineMap, query: str) -> OutlineMap:
    """The map of a query without results, which is ranked as if there were no query."""
    message = f"nothing was found for {query[:80]!r}, so the map is ranked without it"
    return replace(made, notes=[*made.notes, {"code": "query_unfound", "message": message}])


def _parents(graph: CodeGraph, nodes: Collection[Node]) -> dict[str, Node]:
    """These nodes and all their parents, by id."""
    known = {node.id: node for node in nodes}
    while missing := {node.parent for node in known.values() if node.parent} - known.keys():
        known |= graph.nodes(sorted(missing))
    return known


def _lineage(node: Node, known: Mapping[str, Node]) -> list[Node]:
    """The file, then what the node is inside of, then the node itself."""
    lineage = [node]
    while lineage[0].parent is not None:
        lineage.insert(0, known[lineage[0].parent])
    return lineage


def _shown(node: Node, known: Mapping[str, Node], several_roots: bool) -> str:
    depth = len(_lineage(node, known)) - 1
    return _line(node, depth) if depth else _name(node, several_roots)


def _name(node: Node, several_roots: bool) -> str:
    return f"{node.root}/{node.path}" if several_roots else node.path


def _line(node: Node, depth: int) -> str:
    text = " ".join(node.signature.split()) or f"{node.kind} {node.name}"
    cut = text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
    return f"{node.first_line:>5}  {INDENT * (depth - 1)}{cut}"


def _files(chosen: Mapping[str, Node], known: Mapping[str, Node], several: bool) -> tuple[MapFile, ...]:
    """Files in the order in which they were chosen, definitions by line, each after what it is inside of:
    in Go a method may stand far from its type."""
    members: dict[str, list[Node]] = {}
    for node in chosen.values():
        inside = members.setdefault(_lineage(node, known)[0].id, [])
        if node.parent is not None:
            inside.append(node)
    files = []
    for file, nodes in members.items():
        ordered = sorted(nodes, key=lambda node: [_place(ancestor) for ancestor in _lineage(node, known)])
        depths = tuple(len(_lineage(node, known)) - 1 for node in ordered)
        files.append(MapFile(_name(known[file], several), tuple(ordered), depths))
    return tuple(files)


def _place(node: Node) -> tuple[int, int, str, str]:
    return node.first_line, -node.last_line, node.qualified_name, node.id
