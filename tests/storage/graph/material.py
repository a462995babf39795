"""Outlines and edges by hand, put into a real store."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from quintet.contracts.contract import Expansion
from quintet.model.documents import Chunk, Document, digest
from quintet.model.symbols import Edge, Outline, Relation, Symbol, node_ids
from quintet.ports.reading import Neighbour, Node, Root
from quintet.ports.writing import Entry
from quintet.storage.sqlite.store import SqliteStore

ROOT = "code"
Definitions = Mapping[str, tuple[int, int]]  # lines by dotted name, parents first


def outline(definitions: Definitions, *, lines: int = 100, language: str = "python", **more: Any) -> Outline:
    """A module of so many lines with these functions and, where others are inside, classes."""
    paths = [tuple(name.split(".")) for name in definitions]
    numbers = {path: at for at, path in enumerate(paths, start=1)}
    symbols = [Symbol("module", (), 1, lines)]
    for path, (first, last) in zip(paths, definitions.values(), strict=True):
        kind = (
            "class" if any(len(one) > len(path) and one[: len(path)] == path for one in paths) else "function"
        )
        parent = numbers.get(path[:-1], 0)
        symbols.append(Symbol(kind, path, first, last, parent, signature=f"def {path[-1]}()"))
    return Outline(language, tuple(symbols), **more)


def entry(
    path: str,
    found: Outline | None = None,
    chunks: Sequence[tuple[int, int]] = ((1, 100),),
    *,
    root: str = ROOT,
    language: str | None = "python",
) -> Entry:
    document = Document(root, path, path, "text/plain", language, 1, 0, "hash")
    made = tuple(
        Chunk(digest(document.id, str(at)), document.id, at, f"{path} part {at}", "", first, last)
        for at, (first, last) in enumerate(chunks)
    )
    return Entry(document, made, 0, "", found)


class Graph:
    """A store with its graph, by names: `a.py` is a document, `a.py:f` a symbol, `a.py#1` a chunk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = SqliteStore(folder)
        self.store.create()
        self.ids: dict[str, str] = {}

    def put(self, *entries: Entry) -> None:
        with self.store.writer(0) as writer, writer.batch():
            for one in entries:
                writer.put_root(Root(one.document.root, f"/{one.document.root}"))
                writer.put(one)
                self._learn(one)

    def _learn(self, one: Entry) -> None:
        path = one.document.path
        self.ids[path] = one.document.id
        self.ids |= {f"{path}#{chunk.sequence}": chunk.id for chunk in one.chunks}
        if one.outline is not None:
            ids = node_ids(one.document.id, one.outline)
            pairs = zip(one.outline.symbols, ids, strict=True)
            self.ids |= {f"{path}:{'.'.join(symbol.path)}": node for symbol, node in pairs if symbol.path}

    def remove(self, *paths: str) -> None:
        with self.store.writer(0) as writer, writer.batch():
            writer.remove(ROOT, paths)

    def link(self, *edges: tuple[str, Relation, str] | tuple[str, Relation, str, str, int]) -> None:
        """Edges as (source, relation, target[, confidence, line]); all there are."""
        by_document: dict[str, list[Edge]] = {
            node: [] for name, node in self.ids.items() if not set(":#") & set(name)
        }
        for source, relation, target, *rest in edges:
            confidence, line = rest or ("exact", 1)
            edge = Edge(self.ids[source], self.ids[target], relation, confidence, line)  # type: ignore[arg-type]
            by_document[self.ids[source.partition(":")[0]]].append(edge)
        with self.store.writer(0) as writer, writer.batch():
            writer.graph.link(ROOT, by_document)

    def name(self, node: str) -> str:
        return next(name for name, known in self.ids.items() if known == node)

    def expand(
        self,
        seeds: Sequence[str],
        strategy: Any,
        distance: int = 1,
        *,
        possible: bool = False,
        depth: int = 100,
    ) -> list[tuple[str, int | None]]:
        with self.store.snapshot() as snapshot:
            found = snapshot.graph.expand(
                [self.ids[seed] for seed in seeds], Expansion(strategy, distance, possible), depth
            )
        return [(self.name(hit.chunk_id), hit.distance) for hit in found]

    def walk(
        self, start: str, strategy: Any, distance: int = 1, *, possible: bool = False, limit: int = 100
    ) -> list[Neighbour]:
        with self.store.snapshot() as snapshot:
            return snapshot.graph.walk(self.ids[start], Expansion(strategy, distance, possible), limit)

    def nodes(self, name: str) -> list[Node]:
        with self.store.snapshot() as snapshot:
            return snapshot.graph.named(name)

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """What is stored, without row numbers."""
        connection = apsw.Connection(str(self.folder / "index.db"))
        try:
            return {
                "symbols": connection.execute(
                    "SELECT s.id, o.document, s.number, s.parent, s.kind, s.qualified_name, s.first_line "
                    "FROM symbols s JOIN outlines o ON o.row = s.outline ORDER BY s.id"
                ).fetchall(),
                "edges": connection.execute(
                    "SELECT a.id, b.id, e.relation, e.confidence, e.line FROM edges e "
                    "JOIN symbols a ON a.row = e.source JOIN symbols b ON b.row = e.target "
                    "ORDER BY 1, 2, 3, 4, 5"
                ).fetchall(),
                "unlinked": connection.execute("SELECT document FROM unlinked ORDER BY 1").fetchall(),
            }
        finally:
            connection.close()
