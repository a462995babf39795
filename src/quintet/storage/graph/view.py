"""One state of the code graph in memory: loaded by one scan, walked with rustworkx, shared by threads."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import apsw
import rustworkx

from quintet.contracts.contract import Expansion, Strategy
from quintet.model.symbols import Confidence, Relation
from quintet.ports.reading import CERTAIN_FIRST
from quintet.storage.sqlite.catalog import meta
from quintet.storage.sqlite.checksums import GRAPH, check_tables

RELATIONS: tuple[Relation, ...] = ("calls", "imports", "extends", "implements", "references", "contains")
# An edge in memory is one number: line * len(CODES) + code. A lower code is a surer edge.
CODES: tuple[tuple[Confidence, Relation], ...] = tuple(
    (confidence, relation) for confidence in CERTAIN_FIRST for relation in RELATIONS
)
CODE = (
    f"CASE confidence {' '.join(f'WHEN {name!r} THEN {at}' for at, name in enumerate(CERTAIN_FIRST))} END "
    f"* {len(RELATIONS)} + "
    f"CASE relation {' '.join(f'WHEN {name!r} THEN {at}' for at, name in enumerate(RELATIONS))} END"
)
BACKWARDS: Mapping[Strategy, tuple[Relation, ...]] = {
    "callers": ("calls",),
    "dependencies": (),
    "related": RELATIONS,
}
FORWARDS: Mapping[Strategy, tuple[Relation, ...]] = {
    "callers": (),
    "dependencies": ("calls", "imports", "extends", "implements"),
    "related": RELATIONS,
}
DAMPING = 0.85  # Page et al. 1998
PRECISION = 1e-6  # of all scores together; rustworkx's own default grows with the number of nodes
FLOW: Mapping[Confidence, float] = {"exact": 1.0, "likely": 0.5}  # an edge that is only possible adds nothing
CONTAINS_FLOW = 0.2  # an important file makes what it contains a little important


class GraphStep(NamedTuple):
    """One edge as it was walked: `to` is its target, or its source where it was walked backwards."""

    to: int
    code: int
    line: int
    forwards: bool


@dataclass(frozen=True, slots=True)
class ReachedNode:
    """A node, the seed that reached it, and the steps from that seed."""

    node: int
    seed: int
    steps: tuple[GraphStep, ...]


class GraphView:
    """Nodes are row numbers, so that edges can be read from the table as they are. `order` is the place of
    each node by path and line, which does not depend on the order of writing."""

    def __init__(self, epoch: str | None, connection: apsw.Connection) -> None:
        self.epoch = epoch
        check_tables(connection, GRAPH)
        nodes = connection.execute(
            "SELECT s.row, s.id, s.outline FROM outlines o JOIN documents d ON d.id = o.document "
            "JOIN roots r ON r.row = d.root JOIN symbols s ON s.outline = o.row "
            "ORDER BY d.path, s.first_line, r.name, s.number"
        )
        self.in_order = cast("list[tuple[int, str, int]]", nodes.fetchall())  # row, id, row of the outline
        if len(self.in_order) != connection.execute("SELECT count(*) FROM symbols").get:
            raise apsw.CorruptError("a symbol belongs to no document")
        self.ids = {row: node for row, node, _ in self.in_order}
        self.rows = {node: row for row, node, _ in self.in_order}
        self.outlines = {row: outline for row, _, outline in self.in_order}
        self.order = {row: place for place, (row, _, _) in enumerate(self.in_order)}
        self.graph: rustworkx.PyDiGraph[int, int] = rustworkx.PyDiGraph()
        self.graph.add_nodes_from(range(max(self.ids, default=-1) + 1))
        edges = connection.execute(
            f"SELECT source, target, line * {len(CODES)} + {CODE} FROM edges NOT INDEXED"
        )
        self.graph.add_edges_from(cast("list[tuple[int, int, int]]", edges.fetchall()))

    def reached(self, seeds: Sequence[Sequence[int]], expansion: Expansion) -> Iterator[list[ReachedNode]]:
        """Breadth first: a list of nodes for each distance, by seed, path and line. A seed is one node, or
        several that count as one. It does not reach itself.

        The walk goes on from each node for its two nearest seeds. Of a node that is itself a seed, the second
        is the seed that reached it.
        """
        walkable = _walkable(expansion)
        own: dict[int, int] = {}
        for seed, nodes in enumerate(seeds):
            for node in nodes:
                own.setdefault(node, seed)
        known = {node: [seed] for node, seed in own.items()}
        layer = [ReachedNode(node, seed, ()) for node, seed in own.items()]
        for _ in range(expansion.distance):
            ahead = []
            for here in layer:
                for step in self._steps(here.node, *walkable):
                    seen = known.setdefault(step.to, [])
                    if len(seen) < 2 and here.seed not in seen:
                        seen.append(here.seed)
                        ahead.append(ReachedNode(step.to, here.seed, (*here.steps, step)))
            layer = ahead
            if not layer:
                return
            nearest = [
                reached
                for reached in layer
                if known[reached.node].index(reached.seed) == (reached.node in own)
            ]
            yield sorted(nearest, key=lambda reached: (reached.seed, self.order[reached.node]))

    def _steps(self, node: int, forwards: frozenset[int], backwards: frozenset[int]) -> list[GraphStep]:
        """The steps from a node, by path and line, the most certain edge first."""
        steps = []
        if forwards:
            for _, target, edge in self.graph.out_edges(node):
                line, code = divmod(edge, len(CODES))
                if code in forwards:
                    steps.append(GraphStep(target, code, line, True))
        if backwards:
            for source, _, edge in self.graph.in_edges(node):
                line, code = divmod(edge, len(CODES))
                if code in backwards:
                    steps.append(GraphStep(source, code, line, False))
        return sorted(steps, key=lambda step: (self.order[step.to], step[1:]))

    @cached_property
    def _flows(self) -> "rustworkx.PyDiGraph[int, float]":
        """How much of a node's importance flows along each edge, with nodes by place. A node's edges to
        itself do not count."""
        flow = {code: _flow(confidence, relation) for code, (confidence, relation) in enumerate(CODES)}
        flows: rustworkx.PyDiGraph[int, float] = rustworkx.PyDiGraph()
        flows.add_nodes_from(range(len(self.ids)))
        edges = (
            (self.order[source], self.order[target], flow[edge % len(CODES)])
            for source, target, edge in self.graph.weighted_edge_list()
        )
        flows.add_edges_from([edge for edge in edges if edge[2] and edge[0] != edge[1]])
        return flows

    def importance(self, towards: Mapping[int, float]) -> list[float]:
        """PageRank by place, personalised on `towards` if that is given."""
        if not self.ids:
            return []
        seen_from = {self.order[row]: weight for row, weight in towards.items()}
        scores = dict(
            rustworkx.pagerank(
                self._flows,
                alpha=DAMPING,
                weight_fn=float,
                personalization=seen_from or None,
                tol=PRECISION / len(self.ids),
                max_iter=1000,
            )
        )
        return [scores[place] for place in range(len(self.ids))]


def _flow(confidence: Confidence, relation: Relation) -> float:
    return CONTAINS_FLOW if relation == "contains" else FLOW.get(confidence, 0.0)


def _walkable(expansion: Expansion) -> tuple[frozenset[int], frozenset[int]]:
    """The codes of edges to follow forwards, and those to follow backwards."""
    sure = [at for at, (confidence, _) in enumerate(CODES) if expansion.possible or confidence != "possible"]
    return (
        frozenset(at for at in sure if CODES[at][1] in FORWARDS[expansion.strategy]),
        frozenset(at for at in sure if CODES[at][1] in BACKWARDS[expansion.strategy]),
    )


class GraphCache:
    """Keeps the newest view. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._view: GraphView | None = None

    def view(self, connection: apsw.Connection) -> GraphView:
        epoch = meta(connection, "graph_epoch")
        with self._lock:
            if self._view is None or self._view.epoch != epoch:
                self._view = GraphView(epoch, connection)
            return self._view
