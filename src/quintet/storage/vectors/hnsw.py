"""An optional HNSW graph over the rows of the matrix (Malkov and Yashunin, 2016).

It only proposes candidates. They are scored in exact integers, so an approximate answer can miss a chunk but
never shows a wrong score. Its recall is measured on the index it serves, with queries that are not in it. The
graph lies in the matrix's folder and belongs to one state of the vectors; a file that does not fit is not
used.
"""

import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from filelock import FileLock

from quintet.errors import MissingExtra, StoreError
from quintet.model.vector import Int16, Int64, quantise
from quintet.ports.reading import Approximation
from quintet.processes import private
from quintet.storage.vectors.matrix import Matrix, coarsened

if TYPE_CHECKING:
    from usearch.index import Index as Graph

CONNECTIVITY = 16  # spec 004: M
EF_CONSTRUCTION = 200
SPECIFIED = (50, 20)  # ef of spec 004, sections 2 and 10: an ordinary search, and a faster, less accurate one
TRIED = (50, 100, 200, 400, 800, 1600)  # ef of a search that names none: the least with the recall below
RECALL = 0.98
STATE = "hnsw.json"
LOCK = "hnsw.lock"
ADDED_AT_ONCE = 10_000
WORTH_BUILDING = 1_000  # rows by which a graph may be behind
PROBES = 200
MIXED = 3  # rows in a probe: found as rarely as questions of another field, on embedded passages
RECALL_AT = 20
SEED = 12


@dataclass(frozen=True, slots=True)
class HnswFile:
    """The content of `hnsw.json`: the file, its CRC-32, the rows it covers, the `ef` of searches that name
    none, and its recall by `ef`."""

    file: str
    checksum: int
    rows: int
    ef: int
    recall: Mapping[str, float]


class Hnsw:
    """A graph on disk, mapped once for each `ef`, so that searches do not affect one another."""

    def __init__(self, folder: Path, built: HnswFile, dimensions: int) -> None:
        self.built = built
        self.rows = built.rows
        self.ef = built.ef
        self.recall = dict(built.recall)
        self._graphs = {
            ef: _opened(folder / built.file, dimensions, ef)
            for ef in {*SPECIFIED, *([self.ef] if self.ef else TRIED)}
        }
        if any(len(graph) != built.rows for graph in self._graphs.values()):
            raise ValueError(f"{built.file} does not hold {built.rows} vectors")

    def candidates(self, query: Int16, ef: int, depth: int) -> Int64:
        """Rows that may be among the best `depth`, ascending."""
        (coarse,), _ = coarsened(query[np.newaxis])
        matches = self._graphs[ef].search(coarse, max(ef, depth), threads=1)
        return np.sort(np.asarray(matches.keys, np.int64))


def load(folder: Path, dimensions: int, newest: int, held: Hnsw | None = None) -> Hnsw | None:
    """The graph of this folder; None if it is missing, damaged or covers rows that do not exist.

    usearch trusts a file and may read past its end, so the checksum is compared first, except for the graph
    that is `held` already.
    """
    try:
        built = HnswFile(**json.loads((folder / STATE).read_text("utf-8")))
        if (
            not 0 < built.rows <= newest
            or built.ef not in TRIED
            or built.file != f"hnsw-{built.rows}.usearch"
        ):
            return None
        if held is not None and held.built == built:
            return held
        return Hnsw(folder, built, dimensions) if _checksum(folder / built.file) == built.checksum else None
    except (OSError, ValueError, TypeError, AttributeError, RuntimeError, MissingExtra):
        return None


def build(matrix: Matrix, stop: threading.Event | None = None) -> Hnsw | None:
    """Build a graph over all rows of `matrix`, measure its recall and put it in place. None if stopped."""
    with FileLock(
        matrix.folder / LOCK, timeout=-1 if stop is None else 0, thread_local=False, mode=private.FILE
    ):
        return _build(matrix, stop)


def _build(matrix: Matrix, stop: threading.Event | None) -> Hnsw | None:
    folder = matrix.folder
    graph = _empty(matrix.exact.shape[1], SPECIFIED[0])
    count = len(matrix)
    for start in range(0, count, ADDED_AT_ONCE):
        if stop is not None and stop.is_set():
            return None
        keys = np.arange(start, min(start + ADDED_AT_ONCE, count))
        graph.add(keys, matrix.coarse[keys], threads=os.cpu_count() or 1)
    name = f"hnsw-{count}.usearch"
    draft = folder / f"{name}.{os.getpid()}"
    private.write_new(draft, b"")  # usearch would let everybody read it
    try:
        graph.save(str(draft))
    except RuntimeError as error:  # all that usearch says of a full disk
        draft.unlink(missing_ok=True)
        raise StoreError(
            f"{draft} cannot be written ({error}); if the disk is full, make room and build the graph again"
        ) from error
    _settle(draft, folder / name)
    built = HnswFile(name, _checksum(folder / name), count, 0, {})
    recall = measure(Hnsw(folder, built, matrix.exact.shape[1]), matrix, stop)
    if recall is None:
        return None
    measured = replace(built, ef=max(recall), recall={str(ef): share for ef, share in recall.items()})
    private.write_new(draft, json.dumps(asdict(measured)).encode())
    _settle(draft, folder / STATE)
    _remove_older(folder, name)
    return Hnsw(folder, measured, matrix.exact.shape[1])


def measure(hnsw: Hnsw, matrix: Matrix, stop: threading.Event | None = None) -> dict[int, float] | None:
    """The share of the exact best 20 that the graph proposes, by `ef`: for those of spec 004, and for the
    least that reaches `RECALL`, or the largest that is tried. None if stopped."""
    everywhere = np.arange(hnsw.rows)
    probes = _probes(matrix, hnsw.rows)
    exact: list[set[int]] = []
    for probe in probes:
        if stop is not None and stop.is_set():
            return None
        exact.append(set(matrix.best(probe, RECALL_AT, everywhere)[0].tolist()))

    @cache
    def recall(ef: int) -> float:
        found = (set(hnsw.candidates(probe, ef, RECALL_AT).tolist()) for probe in probes)
        hits = sum(len(near & best) for near, best in zip(found, exact, strict=True))
        return round(hits / sum(map(len, exact)), 4) if exact else 1.0

    enough = next((ef for ef in TRIED if recall(ef) >= RECALL), TRIED[-1])
    return {ef: recall(ef) for ef in (enough, *SPECIFIED)}


def _probes(matrix: Matrix, rows: int) -> Int16:
    """Queries that are not in the graph: each is the mean of a few rows. A row itself, or one left out of the
    graph, is found more easily than a question: its neighbours are nearer to it."""
    chosen = np.random.default_rng(SEED).integers(0, rows, (PROBES, MIXED))
    mixed = quantise(matrix.exact[chosen.ravel()].reshape(PROBES, MIXED, -1).sum(axis=1, dtype=np.float64))
    return mixed[mixed.any(axis=1)]


class HnswCache:
    """The graph of the newest matrix. It is loaded on first use, and built in the background when it is
    missing or too far behind. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[Path, Hnsw] | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def graph(self, matrix: Matrix) -> Hnsw | None:
        """The graph to search with; None if there is none yet, in which case a build starts."""
        _usearch()  # report a missing extra to the caller, not in the thread
        with self._lock:
            hnsw = self._loaded(matrix)
            if hnsw is None or _lags(hnsw.rows, len(matrix)):
                self._start(matrix)
            return hnsw

    def build(self, matrix: Matrix) -> None:
        """Build the graph of all rows, and wait until it is done."""
        built = build(matrix)
        with self._lock:
            self._held = (matrix.folder, built) if built else None

    def state(self, matrix: Matrix) -> Approximation | None:
        """The present state. Starts no build."""
        with self._lock:
            hnsw = self._loaded(matrix)
            building = self._thread is not None and self._thread.is_alive()
        if hnsw is None:
            return Approximation(0, len(matrix), 0, {}, building) if building else None
        return Approximation(hnsw.rows, len(matrix), hnsw.ef, hnsw.recall, building)

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _loaded(self, matrix: Matrix) -> Hnsw | None:
        held = self._held[1] if self._held and self._held[0] == matrix.folder else None
        if held is None or _lags(held.rows, len(matrix)):
            held = load(matrix.folder, matrix.exact.shape[1], len(matrix), held) or held
            self._held = (matrix.folder, held) if held else None
        return held

    def _start(self, matrix: Matrix) -> None:
        if not self._stop.is_set() and not (self._thread and self._thread.is_alive()):
            self._thread = threading.Thread(
                target=_build_quietly, args=(matrix, self._stop), name="hnsw", daemon=True
            )
            self._thread.start()


def _lags(covered: int, rows: int) -> bool:
    """Whether more than a twentieth of the rows would have to be searched beside the graph."""
    return rows - covered > max(WORTH_BUILDING, rows // 20)


def _build_quietly(matrix: Matrix, stop: threading.Event) -> None:
    """If the disk cannot be written, or another process is building, searches stay exact and the next one
    tries again."""
    with suppress(OSError, RuntimeError):
        build(matrix, stop)


def _empty(dimensions: int, ef: int) -> "Graph":
    index: Any = _usearch()
    return index(  # type: ignore[no-any-return]
        ndim=dimensions,
        metric="cos",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=EF_CONSTRUCTION,
        expansion_search=ef,
    )


def _opened(file: Path, dimensions: int, ef: int) -> "Graph":
    graph = _empty(dimensions, ef)
    graph.view(str(file))
    return graph


def _usearch() -> Any:
    try:
        from usearch.index import Index as Graph
    except ImportError as error:
        raise MissingExtra(
            "approximate vector search needs usearch; run \"pip install 'quintet[hnsw]'\""
        ) from error
    return Graph


def _checksum(file: Path) -> int:
    checksum = 0
    with file.open("rb") as opened:
        while block := opened.read(1 << 20):
            checksum = crc32(block, checksum)
    return checksum


def _settle(draft: Path, name: Path) -> None:
    """Rename a finished file once its bytes are on the disk: searches map it as it is."""
    with draft.open("r+b") as file:
        os.fsync(file.fileno())
    draft.replace(name)


def _remove_older(folder: Path, keep: str) -> None:
    for other in folder.glob("hnsw-*"):
        if other.name != keep:
            with suppress(OSError):  # still mapped by another process on some systems
                other.unlink()
