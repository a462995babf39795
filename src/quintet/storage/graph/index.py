"""The code graph of one snapshot."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import apsw
import numpy as np

from quintet.contracts.contract import Expansion
from quintet.model.results import Hit
from quintet.model.symbols import Edge
from quintet.ports.reading import Neighbour, Node, Rows
from quintet.storage.graph.view import CODES, GraphCache, GraphStep, GraphView, ReachedNode

NODE = (
    "SELECT s.id, p.id, s.kind, s.name, s.qualified_name, s.signature, s.docstring, r.name, d.path, "
    "s.first_line, s.last_line, s.visibility, s.is_test FROM symbols s "
    "JOIN outlines o ON o.row = s.outline JOIN documents d ON d.id = o.document "
    "JOIN roots r ON r.row = d.root LEFT JOIN symbols p ON p.outline = s.outline AND p.number = s.parent"
)
ORDER = "ORDER BY d.path, s.first_line, r.name, s.number"
SHOWN = (
    "SELECT c.first_line, c.last_line, c.document, s.kind FROM symbols s "
    "JOIN outlines o ON o.row = s.outline JOIN documents d ON d.id = o.document "
    "JOIN chunks c ON c.document = d.row AND c.node = s.id WHERE s.row = ? ORDER BY c.first_line"
)
# Of no chunk, though a chunk of something around it may show it.
UNSHOWN = "s.id NOT IN (SELECT node FROM chunks WHERE document = ? AND node IS NOT NULL) ORDER BY s.number"
OVERLOADS = (
    "SELECT s.row FROM symbols seed JOIN symbols s ON s.outline = seed.outline AND s.row <> seed.row "
    f"AND s.qualified_name = seed.qualified_name WHERE seed.row = ? AND {UNSHOWN}"
)
OTHERS = f"SELECT row, first_line, last_line FROM symbols s WHERE outline = ? AND number > 0 AND {UNSHOWN}"
AT_ONCE = 500  # ids in one statement
NAMES = 2_000  # candidates for similar names
ALIKE = 3  # leading letters that similar names share


class SqliteCodeGraph:
    """SQLite answers for names and places; the view, loaded when needed, for walks and importance."""

    def __init__(self, connection: apsw.Connection, views: GraphCache) -> None:
        self._connection = connection
        self._views = views

    @property
    def available(self) -> bool:
        """Whether there is more than documents without relations."""
        exists = self._connection.execute(
            "SELECT EXISTS (SELECT 1 FROM symbols WHERE parent IS NOT NULL) OR EXISTS (SELECT 1 FROM edges)"
        )
        return bool(exists.get)

    def expand(
        self, seeds: Sequence[str], expansion: Expansion, depth: int, within: Rows | None = None
    ) -> list[Hit]:
        view = self._views.view(self._connection)
        started = list(dict.fromkeys(self._rows(view, seeds)))
        together = [self._together(view, row, expansion) for row in started]
        allowed = None if within is None else set(within.tolist())
        outlines = None if within is None else self._outlines_of(within)
        hits: dict[str, Hit] = {}
        for layer in view.reached(together, expansion):
            for reached in layer:
                if len(hits) == depth:
                    return list(hits.values())
                if outlines is not None and view.outlines[reached.node] not in outlines:
                    continue
                chunk = self._chunk(view, reached)
                if chunk is None or (allowed is not None and chunk[0] not in allowed):
                    continue
                _, chunk_id, node = chunk
                if node != view.ids[started[reached.seed]]:  # not a part of the seed itself
                    distance = len(reached.steps)
                    hits.setdefault(node, Hit(chunk_id, 1 / distance, float(distance), distance))
        return list(hits.values())

    def _rows(self, view: GraphView, seeds: Sequence[str]) -> Iterator[int]:
        """The rows of the seeds. A seed is a node, or a chunk, which stands for its document."""
        for seed in seeds:
            holder = self._connection.execute(
                "SELECT coalesce(c.node, d.id) FROM chunks c JOIN documents d ON d.row = c.document "
                "WHERE c.id = ?",
                (seed,),
            ).get
            row = view.rows.get(holder or seed)
            if row is not None:
                yield row

    def _together(self, view: GraphView, row: int, expansion: Expansion) -> list[int]:
        """A seed with its overloads, and with the symbols that its own chunks show, such as the methods of a
        small class: these have the edges. The strategy `related` reaches the latter anyway."""
        shown: Any = self._connection.execute(SHOWN, (row,)).fetchall()
        if not shown:
            return [row]
        document, kind = shown[0][2:]
        rows = [row, *(other for (other,) in self._connection.execute(OVERLOADS, (row, document)))]
        if expansion.strategy == "related" or kind in ("function", "method"):
            return rows
        starts = [first for first, *_ in shown]
        others: Any = self._connection.execute(OTHERS, (view.outlines[row], document))
        for other, first, last in others:
            at = bisect_right(starts, first) - 1
            if at >= 0 and last <= shown[at][1]:
                rows.append(other)
        return rows

    def _outlines_of(self, rows: Rows) -> set[int]:
        if not len(rows):
            return set()
        outlines = self._connection.execute(
            "SELECT DISTINCT o.row FROM chunks c JOIN documents d ON d.row = c.document "
            "JOIN outlines o ON o.document = d.id WHERE c.row IN (SELECT value FROM carray(?))",
            (apsw.carray(np.ascontiguousarray(rows)),),
        )
        return {row for (row,) in outlines}

    def _chunk(self, view: GraphView, reached: ReachedNode) -> tuple[int, str, str] | None:
        """Where a node is shown: at its first line. A document is shown where it names what led to it."""
        last = reached.steps[-1]
        named = not last.forwards and CODES[last.code][1] == "references"
        chunks = self._connection.execute(
            "SELECT c.row, c.id, coalesce(c.node, c.id) FROM symbols s JOIN outlines o ON o.row = s.outline "
            "JOIN documents d ON d.id = o.document JOIN chunks c ON c.document = d.row, "
            "(SELECT ? AS named) WHERE s.id = ? ORDER BY "
            "c.first_line > iif(s.number, s.first_line, named), "
            "iif(c.first_line > iif(s.number, s.first_line, named), c.sequence, -c.first_line), "
            "c.sequence LIMIT 1",
            (last.line if named else 0, view.ids[reached.node]),
        )
        return next(iter(chunks), None)

    def named(self, name: str) -> list[Node]:
        return self._nodes(f"{NODE} WHERE s.name = ? {ORDER}", (name,))

    def names_like(self, text: str) -> list[str]:
        rows = self._connection.execute(
            "SELECT DISTINCT name FROM symbols WHERE instr(lower(name), lower(?1)) "
            "OR substr(lower(name), 1, ?2) = substr(lower(?1), 1, ?2) ORDER BY name LIMIT ?3",
            (text, ALIKE, NAMES),
        )
        return [name for (name,) in rows]

    def at(self, root: str, path: str, first: int, last: int) -> Node | None:
        nodes = self._nodes(
            f"{NODE} WHERE r.name = ? AND d.path = ? "
            "AND (s.number = 0 OR (s.first_line <= ? AND s.last_line >= ?)) "
            "ORDER BY s.number = 0, s.last_line - s.first_line, s.number DESC LIMIT 1",
            (root, path, first, last),
        )
        return nodes[0] if nodes else None

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]:
        by_id = {}
        for portion, marks in _portions(ids):
            nodes = self._nodes(f"{NODE} WHERE s.id IN ({marks})", portion)
            by_id.update({node.id: node for node in nodes})
        return by_id

    def documented(self) -> list[Node]:
        return self._nodes(f"{NODE} WHERE s.docstring <> '' {ORDER}", ())

    def walk(self, start: str, expansion: Expansion, limit: int) -> list[Neighbour]:
        view = self._views.view(self._connection)
        reached: list[ReachedNode] = []
        for layer in view.reached([[view.rows[start]]], expansion):
            reached += layer[: limit - len(reached)]
            if len(reached) == limit:
                break
        nodes = self.nodes([view.ids[neighbour.node] for neighbour in reached])
        return [
            Neighbour(nodes[view.ids[neighbour.node]], _edges(view, start, neighbour.steps))
            for neighbour in reached
        ]

    def important(
        self, towards: Mapping[str, float], limit: int, documents: Collection[str] | None = None
    ) -> tuple[list[tuple[Node, float]], int]:
        view = self._views.view(self._connection)
        seen_from = {row: weight for node, weight in towards.items() for row in self._rows(view, [node])}
        scores = view.importance(seen_from)
        wanted = self._wanted(view, documents)
        best = sorted(wanted, key=lambda place: (-round(scores[place], 12), place))[:limit]
        ids = [view.in_order[place][1] for place in best]
        nodes = self.nodes(ids)
        return [(nodes[node], scores[place]) for node, place in zip(ids, best, strict=True)], len(wanted)

    def _wanted(self, view: GraphView, documents: Collection[str] | None) -> Sequence[int]:
        """The places of all nodes in these documents."""
        if documents is None:
            return range(len(view.ids))
        outlines: set[int] = set()
        for ids, marks in _portions(documents):
            rows = self._connection.execute(f"SELECT row FROM outlines WHERE document IN ({marks})", ids)
            outlines.update(row for (row,) in rows)
        return [place for place, (_, _, outline) in enumerate(view.in_order) if outline in outlines]

    def _nodes(self, statement: str, values: Sequence[Any]) -> list[Node]:
        rows = self._connection.execute(statement, values)
        return [Node(*cast(Any, (*values, bool(is_test)))) for *values, is_test in rows]


def _edges(view: GraphView, start: str, steps: Sequence[GraphStep]) -> tuple[Edge, ...]:
    """The steps as edges, each from its source to its target, whatever the direction of the walk."""
    here, edges = start, []
    for step in steps:
        there = view.ids[step.to]
        source, target = (here, there) if step.forwards else (there, here)
        confidence, relation = CODES[step.code]
        edges.append(Edge(source, target, relation, confidence, step.line))
        here = there
    return tuple(edges)


def _portions(ids: Iterable[str]) -> Iterator[tuple[list[str], str]]:
    unique = list(dict.fromkeys(ids))
    for start in range(0, len(unique), AT_ONCE):
        portion = unique[start : start + AT_ONCE]
        yield portion, ", ".join("?" * len(portion))
