"""Vector search at 100k and 1M rows: exact and HNSW, with filters, beside faiss, usearch and numpy.

    python bench/vectors.py [--rows 100000 1000000] [--embeddings FILE.npy] [--json FILE]

Rows are clustered random vectors, or int16 embeddings from a file (rows x dimensions). All contenders get the
same vectors and the same queries, in turns, in one process; figures are medians of the turns.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from quintet.model.vector import Int16, Int64, quantise
from quintet.storage.vectors.hnsw import SPECIFIED, build
from quintet.storage.vectors.matrix import Matrix

DEPTH = 20
DIMENSIONS = 384
QUERIES = 40
TURNS = 5
Found = list[int]
Search = Callable[[Int16], Found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--embeddings", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    results = [measure(rows, given.embeddings) for rows in given.rows]
    text = json.dumps(results, indent=1)
    if given.json:
        given.json.write_text(text + "\n", "utf-8")
    print(text)


def measure(rows: int, embeddings: Path | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        matrix = Matrix(Path(folder) / "vectors-bench-1", DIMENSIONS)
        queries = fill(matrix, rows, embeddings)
        places = np.arange(rows)
        halves, few = places[::2].copy(), places[::100].copy()
        start = time.perf_counter()
        graph = build(matrix)
        seconds = time.perf_counter() - start
        assert graph is not None
        contenders: dict[str, Search] = {
            "exact": lambda q: matrix.best(q, DEPTH, places)[0].tolist(),
            "exact, filter of 50 %": lambda q: matrix.best(q, DEPTH, halves)[0].tolist(),
            "exact, filter of 1 %": lambda q: matrix.best(q, DEPTH, few)[0].tolist(),
        }
        for ef in sorted({graph.ef, *SPECIFIED}):
            contenders[f"hnsw, ef {ef}"] = approximate(matrix, graph, ef, places)
        truth = [matrix.best(query, DEPTH, places)[0].tolist() for query in queries]
        ours = timed(contenders, queries, truth)
        peers = timed(others(np.asarray(matrix.exact)), queries, truth)
        return {
            "rows": rows,
            "vectors": str(embeddings.name) if embeddings else "clustered random",
            "hnsw build seconds": round(seconds, 1),
            "hnsw recall@20 measured by the index": graph.recall,
            "bytes": {part: file.stat().st_size for part, file in files(matrix.folder).items()},
            "peak MB of this process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "p50 ms": ours | peers,
        }


def fill(matrix: Matrix, rows: int, embeddings: Path | None) -> list[Int16]:
    """Rows into the matrix; queries that are none of them."""
    if embeddings:
        stored = np.load(embeddings, mmap_mode="r")
        if len(stored) < rows + QUERIES:
            sys.exit(f"{embeddings} has {len(stored)} rows; {rows + QUERIES} are needed")
        for at in range(0, rows, 50_000):
            matrix.append(np.array(stored[at : min(at + 50_000, rows)]))
        return list(np.array(stored[rows : rows + QUERIES]))
    centres = np.random.default_rng(0).standard_normal((2_000, DIMENSIONS))
    for at in range(0, rows, 50_000):
        matrix.append(clustered(centres, min(50_000, rows - at), seed=at + 1))
    return list(clustered(centres, QUERIES, seed=0))


def clustered(centres: Any, rows: int, seed: int) -> Int16:
    chance = np.random.default_rng(seed)
    return quantise(
        centres[chance.integers(0, len(centres), rows)] + 0.7 * chance.standard_normal((rows, DIMENSIONS))
    )


def approximate(matrix: Matrix, graph: Any, ef: int, places: Int64) -> Search:
    def search(query: Int16) -> Found:
        near = graph.candidates(query, ef, DEPTH)
        return list(matrix.best_of(query, DEPTH, places, near)[0].tolist())

    return search


def others(exact: Int16) -> dict[str, Search]:
    """What people would use instead, on the same vectors as float32 (int8 for usearch)."""
    floats = exact.astype(np.float32) / 32767
    found: dict[str, Search] = {"numpy float32": lambda q: numpy_search(floats, q)}
    try:
        import faiss

        flat = faiss.IndexFlatIP(floats.shape[1])
        flat.add(floats)
        found["faiss flat"] = lambda q: flat.search(_unit(q)[np.newaxis], DEPTH)[1][0].tolist()
    except ImportError:
        print("faiss is not installed: left out", file=sys.stderr)
    try:
        from usearch.index import MetricKind, search

        small = np.clip(np.rint(floats * 127 / np.abs(floats).max(axis=1, keepdims=True)), -127, 127).astype(
            np.int8
        )

        def usearch_exact(query: Int16) -> Found:
            coarse = np.rint(query * (127 / np.abs(query).max())).astype(np.int8)
            return list(search(small, coarse, DEPTH, MetricKind.Cos, exact=True).keys.tolist())

        found["usearch exact int8"] = usearch_exact
    except ImportError:
        print("usearch is not installed: left out", file=sys.stderr)
    return found


def numpy_search(floats: Any, query: Int16) -> Found:
    scores = floats @ _unit(query)
    best = np.argpartition(-scores, DEPTH)[:DEPTH]
    return list(best[np.argsort(-scores[best])].tolist())


def _unit(query: Int16) -> Any:
    return query.astype(np.float32) / 32767


def timed(contenders: dict[str, Search], queries: list[Int16], truth: list[Found]) -> dict[str, Any]:
    """Median and 95th percentile over all queries and turns, contenders taking turns; recall of the truth."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    answers: dict[str, list[Found]] = {
        name: [search(query) for query in queries] for name, search in contenders.items()
    }
    for _ in range(TURNS):
        for name, search in contenders.items():
            for query in queries:
                start = time.perf_counter()
                search(query)
                seconds[name].append(time.perf_counter() - start)
    table = {}
    for name, taken in seconds.items():
        line: dict[str, float] = {
            "p50": round(1e3 * median(taken), 2),
            "p95": round(1e3 * float(np.quantile(taken, 0.95)), 2),
        }
        if "filter" not in name:
            pairs = zip(answers[name], truth, strict=True)
            line["recall@20"] = round(sum(len(set(a) & set(b)) for a, b in pairs) / (DEPTH * len(truth)), 4)
        table[name] = line
    return table


def files(folder: Path) -> dict[str, Path]:
    return {file.suffix.lstrip(".") or file.name: file for file in sorted(folder.iterdir()) if file.is_file()}


if __name__ == "__main__":
    main()
