"""The code graph: loading and walking 100,000 nodes, and an index run over a tree of source files.

    python bench/graph.py [FOLDER OF SOURCE]

Figures go to standard output as JSON. The first part writes outlines through the store, the second indexes
FOLDER (by default the package that NumPy installs) without vectors.
"""

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import quintet
from quintet.contracts.contract import Expansion, Strategy
from quintet.model import Chunk, Document, digest
from quintet.ports import Entry, Root
from quintet.stores.sqlite.store import SqliteStore
from quintet.symbols import Edge, Outline, Relation, Symbol, node_ids

FILES, FUNCTIONS, EDGES = 2_000, 49, 500_000  # with the modules 100,000 nodes
RELATIONS: tuple[Relation, ...] = ("calls", "calls", "calls", "imports", "references")
ROUNDS = 25


def entry(number: int) -> Entry:
    document = Document("code", f"p{number % 40}/m{number}.py", "", "text/x-python", "python", 1, 0, "h")
    lines = [(10 * at + 1, 10 * at + 9) for at in range(FUNCTIONS)]
    symbols = [Symbol("module", (), 1, 10 * FUNCTIONS)]
    symbols += [Symbol("function", (f"f{at}",), *where, 0) for at, where in enumerate(lines)]
    chunks = tuple(
        Chunk(digest(document.id, str(at)), document.id, at, f"f{at} {number}", "", *where)
        for at, where in enumerate(lines)
    )
    return Entry(document, chunks, 0, "", Outline("python", tuple(symbols)))


def synthetic(store: SqliteStore) -> list[str]:
    """Fill the store; the ids of all nodes. Few nodes are called by many, as in real code."""
    chance, entries = random.Random(7), [entry(number) for number in range(FILES)]
    with store.writer(0) as writer:
        with writer.batch():
            writer.put_root(Root("code", "/code"))
        for start in range(0, FILES, 250):
            with writer.batch():
                for one in entries[start : start + 250]:
                    writer.put(one)
        ids = [node for one in entries if one.outline for node in node_ids(one.document.id, one.outline)]
        edges: dict[str, list[Edge]] = {one.document.id: [] for one in entries}
        for number in range(EDGES):
            source = chance.randrange(len(ids))
            target = int(len(ids) * chance.random() ** 3)
            holder = entries[source // (FUNCTIONS + 1)].document.id
            edges[holder].append(
                Edge(ids[source], ids[target], chance.choice(RELATIONS), "exact", number % 90 + 1)
            )
        with writer.batch():
            writer.link("code", edges)
    return ids


def milliseconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return round((time.perf_counter() - start) * 1000, 2)


def walks(store: SqliteStore, ids: list[str]) -> dict[str, object]:
    chance, figures = random.Random(3), {}
    with store.snapshot() as snapshot:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        figures["load_ms"] = milliseconds(lambda: snapshot.graph.walk(ids[0], Expansion("callers", 1), 1))
        figures["load_mb"] = round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, 1)
        strategies: tuple[Strategy, ...] = ("callers", "dependencies", "related")
        for strategy in strategies:
            for distance in (1, 2, 10):
                expansion = Expansion(strategy, distance)
                taken = [
                    milliseconds(lambda: snapshot.graph.expand(chance.sample(ids, 10), expansion, 20))  # noqa: B023
                    for _ in range(ROUNDS)
                ]
                figures[f"expand_{strategy}_{distance}_p50_ms"] = median(taken)
                figures[f"expand_{strategy}_{distance}_max_ms"] = max(taken)
        figures["first_map_ms"] = milliseconds(lambda: snapshot.graph.important({}, 1024))
        figures["map_ms"] = milliseconds(lambda: snapshot.graph.important({ids[5]: 1.0}, 1024))
    return figures


def source_tree(folder: Path, place: Path) -> dict[str, object]:
    with quintet.open(place, None) as index:
        first = index.sync([folder])
        (graph,) = [check.message for check in index.doctor() if check.name == "graph"]
        again = index.sync([folder])
    symbols = int(graph.split()[0])
    return {
        "files": first.indexed,
        "graph": graph,
        "files_per_second": round(first.indexed / first.seconds, 1),
        "symbols_per_second": round(symbols / first.seconds, 1),
        "stages": {name: round(seconds, 2) for name, seconds in first.stages.items()},
        "run_without_changes_seconds": round(again.seconds, 2),
    }


def main() -> None:
    import numpy

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(numpy.__file__).parent
    with tempfile.TemporaryDirectory() as temporary:
        store = SqliteStore(Path(temporary) / "synthetic")
        store.create()
        start = time.perf_counter()
        ids = synthetic(store)
        figures = {"nodes": len(ids), "edges": EDGES, "write_seconds": round(time.perf_counter() - start, 1)}
        figures |= walks(store, ids)
        store.close()
        print(json.dumps(figures, indent=2))
        print(json.dumps(source_tree(folder, Path(temporary) / "tree"), indent=2))


if __name__ == "__main__":
    main()
