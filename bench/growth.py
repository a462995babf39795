"""What growth costs: latency, memory, disk and index time at 1k, 10k, 100k and a million chunks.

    python bench/growth.py                          1,000, 10,000 and 100,000 chunks
    python bench/growth.py --million                a million as well: an hour, and 15 GB on disk meanwhile
    python bench/growth.py --vectors FILE.npy       vectors made before, a row a passage; else made-up ones
    python bench/growth.py --text-index tantivy     the same by the other text index

Every passage is a file of its own and one chunk. Beyond the corpus, passages are made of pieces of twelve
words, drawn from all of it. No model runs: vectors are looked up, and so is the query's. Indexing and
searching each have a process of their own.
"""

import argparse
import gc
import json
import os
import platform
import random
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain, islice
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import quintet
from growth_report import AT, Figures, chart, table
from peer_engines import material
from peer_engines.child import alone
from peer_engines.family import Family
from quintet.model.vector import quantise
from speed import CORPUS, HERE, commit

Int16 = npt.NDArray[np.int16]
SIZES, MILLION = (1_000, 10_000, 100_000), 1_000_000
PAGE = HERE / "results" / "growth.md"
CHART = HERE / "results" / "growth.svg"
MOST_STORED = 100_000  # passages that are read or made up; more are made of pieces of them
SEED, DIMENSIONS, CENTRES = 20_24, 384, 2_000
PATIENCE = 4 * 3600.0
PER_FOLDER, QUERIES, TERMS, REPEATS = 1_000, 200, 5, 3
SETTINGS: dict[str, Any] = {"cache_entries": 0, "chunk_chars": 100_000}
ASKED: dict[str, tuple[str, dict[str, object]]] = {
    "lexical": ("quintet", {"mode": "lexical"}),
    "semantic": ("quintet", {"mode": "semantic"}),
    "hybrid": ("quintet", {"mode": "hybrid"}),
    "hybrid, rifflux": ("rifflux", {"mode": "hybrid"}),
}
BY_TANTIVY = ("quintet",)  # of those: the others promise FTS5's own numbers
WORD = re.compile(r"[A-Za-z]{3,}")
PIECE = re.compile(r"\S+(?:\s+\S+){0,11}")


def passages(corpus: Path, count: int) -> Iterator[str]:
    """Those of the corpus, then as many as are missing, made of pieces of those and as long."""
    stored = material.passages(corpus, min(count, MOST_STORED))
    return chain(stored, islice(_shuffled(stored), count - len(stored)))


def _shuffled(stored: Sequence[str]) -> Iterator[str]:
    chance = random.Random(SEED)
    pieces = [piece for text in stored for piece in PIECE.findall(text)]
    while True:
        wanted, made = len(chance.choice(stored)), ""
        while len(made) < wanted:
            made += chance.choice(pieces) + " "
        yield made.rstrip() + "\n"


def write_files(folder: Path, texts: Iterator[str]) -> list[tuple[str, str]]:
    """One file a passage; the queries are five words each, and come with the passage they are drawn from."""
    chance, kept = random.Random(SEED), list[tuple[str, str]]()
    for number, text in enumerate(texts):
        place = folder / f"{number // PER_FOLDER:04d}"
        if number % PER_FOLDER == 0:
            place.mkdir(parents=True)
        (place / f"{number:07d}.txt").write_text(text, "utf-8")
        if len(words := WORD.findall(text)) >= TERMS:
            asked = (" ".join(chance.sample(words, TERMS)), text)
            if len(kept) < QUERIES:
                kept.append(asked)
            elif (at := chance.randrange(number + 1)) < QUERIES:
                kept[at] = asked
    return kept


class MadeUp:
    """A vector near one of two thousand centres; the text says which and where."""

    identity, dimensions = "made-up", DIMENSIONS

    def __init__(self) -> None:
        self._centres = np.random.default_rng(SEED).standard_normal((CENTRES, DIMENSIONS))

    def embed_documents(self, texts: Sequence[str]) -> Int16:
        return quantise(np.array([self._vector(text) for text in texts]))

    def embed_query(self, text: str) -> Int16:
        return self.embed_documents([text])[0]

    def _vector(self, text: str) -> npt.NDArray[np.float64]:
        seed = int.from_bytes(_key(text), "big")
        near = np.random.default_rng(seed).standard_normal(DIMENSIONS)
        return np.asarray(self._centres[seed % CENTRES] + 0.7 * near)


class LookedUp(MadeUp):
    """The vectors of a file; texts it has none for get made-up ones."""

    identity = "looked-up"

    def __init__(self, keys: dict[bytes, int], file: Path) -> None:
        super().__init__()
        self._keys, self._rows = keys, np.load(file, mmap_mode="r")

    def _vector(self, text: str) -> npt.NDArray[np.float64]:
        row = self._keys.get(_key(text))
        return super()._vector(text) if row is None else np.asarray(self._rows[row], np.float64)


def _key(text: str) -> bytes:
    return sha256(" ".join(text.split()).encode()).digest()[:12]


def embedder_of(place: Path, vectors: Path | None) -> MadeUp:
    if vectors is None:
        return MadeUp()
    count = len(np.load(vectors, mmap_mode="r"))
    files = islice(sorted((place / "files").rglob("*.txt")), count)
    return LookedUp({_key(file.read_text("utf-8")): row for row, file in enumerate(files)}, vectors)


class Asked:
    """An embedder for queries: the vector of the passage they come from, moved a little."""

    def __init__(self, near: MadeUp, queries: Sequence[tuple[str, str]]) -> None:
        self.identity, self.dimensions = near.identity, near.dimensions
        rows = near.embed_documents([text for _, text in queries]) / 32767
        chance = np.random.default_rng(SEED)
        moved = quantise(rows + 0.03 * chance.standard_normal(rows.shape))
        self._vectors = {query: vector for (query, _), vector in zip(queries, moved, strict=True)}

    def embed_query(self, text: str) -> Int16:
        return self._vectors[text]


def index_files(place: Path, vectors: Path | None, text_index: str) -> dict[str, Any]:
    embedder = embedder_of(place, vectors)
    before = resident()["rss_mb"]
    with quintet.open(place / "index", embedder, text_index=text_index, **SETTINGS) as index:
        cpu = sum(os.times()[:4])
        with Family() as family:
            report = index.sync([place / "files"])
        cpu = sum(os.times()[:4]) - cpu
        chunks = index.status().chunks
        start = time.perf_counter()
        index.sync()
        noop = time.perf_counter() - start
    found = [file for file in (place / "index").rglob("*") if file.is_file()]
    return {
        "chunks": chunks,
        "problems": len(report.problems),
        "seconds": report.seconds,
        "cpu_seconds": cpu,
        "stages": report.stages,
        "noop_seconds": noop,
        "disk_mb": sum(file.stat().st_size for file in found) / 1e6,
        "database_mb": (place / "index" / "index.db").stat().st_size / 1e6,
        "text_mb": sum(file.stat().st_size for file in (place / "files").rglob("*.txt")) / 1e6,
        "started_rss_mb": before,
        "rss_mb": max(family.peak_mb, resident()["rss_mb"]),
    }


def search_files(
    place: Path, queries: Sequence[tuple[str, str]], vectors: Path | None, text_index: str
) -> dict[str, Any]:
    asking = Asked(embedder_of(place, vectors), queries)
    asked = {name: query for name, query in ASKED.items() if text_index == "fts5" or query[0] in BY_TANTIVY}
    result: dict[str, Any] = {}
    forget_peak()
    with quintet.open(place / "index", asking, text_index=text_index, **SETTINGS) as index:
        for name, (contract, params) in asked.items():
            start = time.perf_counter()
            index.search(queries[0][0], contract, **params)
            result[name] = {"first_ms": 1000 * (time.perf_counter() - start)}
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in asked}
        for query, _ in queries:
            turns: dict[str, list[tuple[float, float]]] = {name: [] for name in asked}
            for _ in range(REPEATS):
                for name, (contract, params) in asked.items():
                    start, cpu = time.perf_counter(), time.process_time()
                    index.search(query, contract, **params)
                    turns[name].append((time.perf_counter() - start, time.process_time() - cpu))
            for name, found in turns.items():
                taken[name].append((_middle(found, 0), _middle(found, 1)))
    for name, seconds in taken.items():
        for at, kind in enumerate(("", "cpu_")):
            p50, p95 = np.quantile([1000 * row[at] for row in seconds], [0.5, 0.95]).tolist()
            result[name] |= {f"{kind}p50_ms": p50, f"{kind}p95_ms": p95}
    return {**result, **resident()}


def forget_peak() -> None:
    """What this process needed until now was the benchmark's own, to look vectors up. Linux only."""
    gc.collect()
    peak = Path("/proc/self/clear_refs")
    if peak.is_file():
        peak.write_text("5", "ascii")


def _middle(turns: Sequence[tuple[float, float]], at: int) -> float:
    return statistics.median(turn[at] for turn in turns)


def resident() -> dict[str, float]:
    """The most memory this process had, and of what it has now, its own and mapped files. Linux only.

    `getrusage` would not do: its peak is inherited from the process that started this one.
    """
    status = Path("/proc/self/status")
    lines = status.read_text("ascii").splitlines() if status.is_file() else []
    found = {name: rest for name, _, rest in (line.partition(":") for line in lines)}
    names = {"rss_mb": "VmHWM", "own_mb": "RssAnon", "mapped_mb": "RssFile"}
    return {
        told: int(found[name].split()[0]) * 1024 / 1e6 if name in found else nan
        for told, name in names.items()
    }


def measure(size: int, given: argparse.Namespace) -> Figures:
    place = Path(tempfile.mkdtemp(prefix="quintet-growth-", dir=given.place))
    try:
        queries = write_files(place / "files", passages(given.corpus, size))
        indexing = alone(index_files, place, given.vectors, given.text_index, patience=PATIENCE)
        searching = alone(search_files, place, queries, given.vectors, given.text_index, patience=PATIENCE)
    finally:
        shutil.rmtree(place)
    return {"index": indexing, "search": searching}


def write(result: dict[str, Any], out: Path) -> None:
    other = "" if result["text_index"] == "fts5" else f"-{result['text_index']}"
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"growth{other}-{result['commit']}.json"
    target.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    begin, end = f"<!-- growth{other}:begin -->", f"<!-- growth{other}:end -->"
    before, found, rest = PAGE.read_text("utf-8").partition(begin)
    if found:
        _, _, after = rest.partition(end)
        PAGE.write_text(f"{before}{begin}\n\n{table(result)}\n{end}{after}", "utf-8")
        CHART.with_name(f"growth{other}.svg").write_text(chart(result), "utf-8")
    print(f"written to {target.name}" + (f" and {PAGE.name}" if found else ""))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--corpus", type=Path, default=CORPUS, help="JSON lines with a `text`, .gz or not")
    arguments.add_argument("--vectors", type=Path, help="a .npy file, row n the vector of passage n")
    arguments.add_argument("--million", action="store_true", help="a million chunks as well")
    arguments.add_argument("--sizes", type=int, nargs="+", help="these numbers of chunks; nothing is written")
    arguments.add_argument("--text-index", choices=("fts5", "tantivy"), default="fts5")
    arguments.add_argument("--place", type=Path, help="folder for the files and indexes, gone afterwards")
    arguments.add_argument("--out", type=Path, default=HERE / "results", help="folder of the JSON result")
    given = arguments.parse_args()
    sizes = given.sizes or (*SIZES, MILLION)[: 4 if given.million else 3]
    result: dict[str, Any] = {
        "commit": commit(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "corpus": given.corpus.name if given.corpus.is_file() else "made-up text",
        "vectors": given.vectors.name if given.vectors else "made up",
        "text_index": given.text_index,
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        AT: {},
    }
    result["busy"] = hasattr(os, "getloadavg") and os.getloadavg()[0] > (os.cpu_count() or 1)
    for size in sizes:
        start = time.perf_counter()
        result[AT][str(size)] = measure(size, given)
        print(f"{size:,} chunks measured in {time.perf_counter() - start:.0f} s", flush=True)
    print(table(result))
    if not given.sizes:
        write(result, given.out)


if __name__ == "__main__":
    main()
