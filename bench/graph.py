"""The code graph: loading, walking and searching 100,000 nodes, and an index run over 1,000 Python files.

    python bench/graph.py                        both parts
    python bench/graph.py --nodes 2000 --files 50   a quick look
    python bench/graph.py FOLDER --json FILE     another tree of source; the figures into a file

The first part writes outlines and edges through the store, gives every chunk a hashed vector and asks `mcb`
with `related` of radius 2. The second indexes FOLDER without vectors; by default as many of the installed
packages as it takes. Figures are printed as JSON.
"""

import argparse
import hashlib
import json
import os
import random
import resource
import shutil
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import quintet
from quintet.contracts.contract import Expansion, Strategy
from quintet.model.documents import Chunk, Document, digest
from quintet.model.symbols import Edge, Outline, Relation, Symbol, node_ids
from quintet.ports.reading import Root
from quintet.ports.writing import Entry
from quintet.storage.sqlite.store import SqliteStore

NODES, FUNCTIONS, EDGES_PER_NODE = 100_000, 49, 5  # a module holds 49 functions
FILES = 1_000
RELATIONS: tuple[Relation, ...] = ("calls", "calls", "calls", "imports", "references")
ROUNDS = 25
QUERIES = 200
WORDS_SHARED = 2_000  # what functions are about; the n-th word is n times rarer than the first
EXPANSION = {"related": {"radius": 2}}
MODIFIED = 1_700_000_000  # seconds; long enough ago that a file's date can be trusted


class MadeUp:
    """A tree of source whose functions are a few words each, on disk and as entries of an index."""

    def __init__(self, nodes: int, folder: Path) -> None:
        self._chance = random.Random(7)
        syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
        self._words = ["".join(self._chance.choices(syllables, k=3)) for _ in range(WORDS_SHARED)]
        self._weights = [1 / (place + 1) for place in range(WORDS_SHARED)]
        self.folder = folder
        self.entries = [self._entry(number) for number in range(-(-nodes // (FUNCTIONS + 1)))]
        self.ids = [
            node
            for entry in self.entries
            if entry.outline
            for node in node_ids(entry.document.id, entry.outline)
        ]

    def _entry(self, number: int) -> Entry:
        bodies = [self._function(at) for at in range(FUNCTIONS)]
        path, source = f"p{number % 40}/m{number}.py", "".join(bodies).encode()
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source)
        os.utime(place, (MODIFIED, MODIFIED))
        modified, content = MODIFIED * 1_000_000_000, hashlib.sha256(source).hexdigest()
        document = Document("code", path, "", "text/x-python", "python", len(source), modified, content)
        lines = [(10 * at + 1, 10 * at + 9) for at in range(FUNCTIONS)]
        symbols = [Symbol("module", (), 1, 10 * FUNCTIONS)]
        symbols += [Symbol("function", (f"f{at}",), *where, 0) for at, where in enumerate(lines)]
        chunks = tuple(
            Chunk(digest(document.id, str(at)), document.id, at, bodies[at], "", *where)
            for at, where in enumerate(lines)
        )
        return Entry(document, chunks, 2 * modified, "", Outline("python", tuple(symbols)))

    def _function(self, at: int) -> str:
        said = [" ".join(self._chance.choices(self._words, self._weights, k=6)) for _ in range(8)]
        return f"def f{at}():\n" + "".join(f"    # {line}\n" for line in said) + "\n"

    def edges(self) -> dict[str, list[Edge]]:
        """Few nodes are called by many, as in real code."""
        found: dict[str, list[Edge]] = {entry.document.id: [] for entry in self.entries}
        for number in range(EDGES_PER_NODE * len(self.ids)):
            source = self._chance.randrange(len(self.ids))
            target = int(len(self.ids) * self._chance.random() ** 3)
            holder = self.entries[source // (FUNCTIONS + 1)].document.id
            relation = self._chance.choice(RELATIONS)
            found[holder].append(Edge(self.ids[source], self.ids[target], relation, "exact", number % 90 + 1))
        return found

    def queries(self) -> list[str]:
        """Three words each, as functions have them, so that something is found."""
        return [" ".join(self._chance.choices(self._words, self._weights, k=3)) for _ in range(QUERIES)]


def write(store: SqliteStore, made: MadeUp) -> None:
    with store.writer(0) as writer:
        with writer.batch():
            writer.put_root(Root("code", str(made.folder)))
        for start in range(0, len(made.entries), 250):
            with writer.batch():
                for entry in made.entries[start : start + 250]:
                    writer.put(entry)
        with writer.batch():
            writer.graph.link("code", made.edges())


def milliseconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return round((time.perf_counter() - start) * 1000, 2)


def share(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def walks(store: SqliteStore, ids: list[str]) -> dict[str, Any]:
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


def searches(place: Path, queries: Sequence[str]) -> dict[str, Any]:
    """`mcb` over all three signals; the first search loads the graph and the vectors."""
    with quintet.open(place, "hashing") as index:
        embedding = milliseconds(index.embed)
        first = milliseconds(lambda: index.search(queries[0], "mcb", graph_expansion=EXPANSION))
        taken, results, notes = [], 0, set()
        for query in queries[1:]:
            start = time.perf_counter()
            response = index.search(query, "mcb", graph_expansion=EXPANSION)
            taken.append(round((time.perf_counter() - start) * 1000, 2))
            results += len(response.answer.ranked) if response.answer else 0
            notes |= {note["code"] for note in response.notes}
    return {
        "embed_seconds": round(embedding / 1000, 1),
        "first_ms": first,
        "p50_ms": median(taken),
        "p95_ms": share(taken, 0.95),
        "max_ms": max(taken),
        "searches": len(taken),
        "results": results,
        "notes": sorted(notes),
    }


def synthetic(nodes: int, place: Path) -> dict[str, Any]:
    made = MadeUp(nodes, place / "code")
    store = SqliteStore(place / "index")
    store.create()
    writing = milliseconds(lambda: write(store, made))
    figures = {
        "nodes": len(made.ids),
        "edges": EDGES_PER_NODE * len(made.ids),
        "write_seconds": round(writing / 1000, 1),
        **walks(store, made.ids),
    }
    store.close()
    return {**figures, "mcb_related_2": searches(place / "index", made.queries())}


def installed(count: int, place: Path) -> Path:
    """A copy of the Python files of installed packages, whole packages in order, until there are `count`."""
    packages = sorted(
        (module.parent for module in Path(sysconfig.get_path("purelib")).glob("*/__init__.py")), reverse=True
    )
    copied = 0
    while packages and copied < count:
        package = packages.pop()
        for file in sorted(package.rglob("*.py")):
            target = place / file.relative_to(package.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
            copied += 1
    if copied < count:
        raise SystemExit(f"the installed packages hold {copied} Python files; give a FOLDER or --files")
    return place


def source_tree(folder: Path, place: Path) -> dict[str, Any]:
    with quintet.open(place, None) as index:
        first = index.sync([folder])
        (graph,) = [check.message for check in index.doctor() if check.name == "graph"]
        again = index.sync([folder])
    symbols = int(graph.split()[0].replace(",", ""))
    return {
        "files": first.indexed,
        "graph": graph,
        "problems": len(first.problems),
        "seconds": round(first.seconds, 2),
        "stages": {name: round(seconds, 2) for name, seconds in first.stages.items()},
        "files_per_second": round(first.indexed / first.seconds, 1),
        "symbols_per_second": round(symbols / first.seconds, 1),
        "run_without_changes_seconds": round(again.seconds, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="a tree of source instead of installed packages")
    parser.add_argument("--nodes", type=int, default=NODES, help="of the made-up graph")
    parser.add_argument("--files", type=int, default=FILES, help="Python files to copy at least")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quintet-graph-") as temporary:
        place = Path(temporary)
        figures = {"synthetic": synthetic(chosen.nodes, place / "synthetic")}
        folder = chosen.folder or installed(chosen.files, place / "installed")
        figures["source_tree"] = source_tree(folder, place / "tree")
    shown = json.dumps(figures, indent=2)
    print(shown)
    if chosen.json:
        chosen.json.write_text(shown + "\n", "utf-8")


if __name__ == "__main__":
    main()
