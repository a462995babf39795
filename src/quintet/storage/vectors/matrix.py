"""Vectors as files that processes share by memory mapping, searched exactly.

Each vector is stored twice: exactly (int16), and coarsely (int8 with a scale of its own). The coarse dot
product comes with a bound on its error, so it rules out almost everything for certain. The rest is scored in
exact integers. The result is the exact integer ranking.

The bound. A row is v = s*h + l (h coarse, l what is left), the query q = t*g + m. Then v.q = s*t*(h.g) +
s*h.m + l.q, and by Cauchy-Schwarz the last two are at most |s*h|*|m| + |l|*|q|.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from threading import BoundedSemaphore
from typing import NamedTuple
from weakref import finalize
from zlib import crc32

import numkong
import numpy as np
import numpy.typing as npt

from quintet.errors import StoreError
from quintet.model.vector import Int16, Int64, dots, nth_largest, score_reached_by
from quintet.processes import private

COARSE_MAX = 127
ROUNDING = 1.0  # the float64 arithmetic below is off by less than 1e-6 of a unit of the dot product
EXACTLY = 8192  # rows scored at once
READ, LARGE = 1024, 200_000  # up to READ rows are read one by one from matrices of LARGE rows
COARSELY = 1024  # rows made coarse at once, in float64
PROCESSORS = os.cpu_count() or 1
THREADS = min(4, PROCESSORS)
WORTH_A_THREAD = 25_000  # rows; fewer are done before a second thread starts
SCANS = BoundedSemaphore(max(1, PROCESSORS // THREADS))  # more scans at once slow each other down
FEW = 8  # below an eighth of the rows, copying them costs less than comparing all
Int8 = npt.NDArray[np.int8]
Float64 = npt.NDArray[np.float64]
COUNT = "count"
READ_AT_ONCE = 1 << 22  # bytes
ROW = np.dtype([("scale", "<f4"), ("coarse_norm", "<f4"), ("rest_norm", "<f4"), ("checksum", "<u4")])


class Origin(NamedTuple):
    """The state of the database that rows were read from: a generation and its tag."""

    generation: int
    tag: str


NOWHERE = Origin(0, "")


class Matrix:
    """Rows of vectors; rows are only ever appended. The folder's name identifies the numbering of the rows.

    Every process writes the same bytes for an existing row, so two that append at once do no harm. The count,
    the origin and the checksums are written last, after the rows have reached the disk.

    A search reads all coarse rows, so their checksum is compared when a matrix is opened; a damaged one
    counts as empty. It reads few of the exact rows, which take twice the space: each is compared when it is
    first read.
    """

    def __init__(self, folder: Path, dimensions: int, *, empty: bool = False) -> None:
        self.folder = folder
        self._dimensions = dimensions
        self.exact: Int16 = np.empty((0, dimensions), np.int16)
        self.coarse: Int8 = np.empty((0, dimensions), np.int8)
        self._source: _Source | None = None
        self._checksums = 0, 0  # of the coarse rows and of what belongs to each
        self._compared = np.empty(0, np.bool_)  # exact rows
        self._keep(np.empty(0, ROW))
        self._map(0 if empty else self._count_on_disk())

    def __len__(self) -> int:
        return len(self.exact)

    def append(self, vectors: Int16, origin: Origin = NOWHERE) -> None:
        """Add rows behind the last one; on a disk that cannot be written, in memory only."""
        coarse, rows = coarsened(vectors)
        try:
            self._write(vectors, coarse, rows, origin)
            self._map(len(self) + len(vectors))
        except OSError:  # a disk that cannot be written, or a newer state just removed this folder
            self._source = None
            self.exact = np.concatenate([self.exact, vectors])
            self.coarse = np.concatenate([self.coarse, coarse])
            self._keep(np.concatenate([self.rows, rows]))

    def is_sound(self, after: int, to: int) -> bool:
        """Whether the coarse rows after..to match the exact ones."""
        coarse, rows = coarsened(np.asarray(self.exact[after:to]))
        return np.array_equal(coarse, self.coarse[after:to]) and np.array_equal(rows, self.rows[after:to])

    def _files(self) -> tuple[Path, Path, Path]:
        return self.folder / "exact.i16", self.folder / "coarse.i8", self.folder / "rows.f32"

    def _count_on_disk(self) -> int:
        exact, coarse, rows = self._files()
        try:
            counted = _counted(self.folder)
            checksums = (
                _checksum(coarse, counted.rows * self._dimensions),
                _checksum(rows, counted.rows * ROW.itemsize),
            )
            is_whole = exact.stat().st_size >= counted.rows * 2 * self._dimensions
        except (OSError, ValueError):
            return 0
        if not is_whole or checksums != counted.checksums:
            return 0
        self._checksums = checksums
        return counted.rows

    def _write(self, vectors: Int16, coarse: Int8, rows: npt.NDArray[np.void], origin: Origin) -> None:
        private.make_folder(self.folder)
        parts: tuple[npt.NDArray[np.generic], ...] = (vectors, coarse, rows)
        for file, part in zip(self._files(), parts, strict=True):
            width = part.nbytes // len(part)
            with private.open_existing_or_new(file) as target:
                if target.seek(0, os.SEEK_END) < len(self) * width:  # another state removed the rows before
                    raise OSError(f"{file} is shorter than it was")
                target.seek(len(self) * width)
                target.write(part.tobytes())
                target.flush()
                os.fsync(target.fileno())
        before = self._checksums if len(self) else (0, 0)
        self._checksums = crc32(coarse.tobytes(), before[0]), crc32(rows.tobytes(), before[1])
        _write_count(self.folder, Counted(len(self) + len(vectors), self._checksums, origin))

    def _map(self, count: int) -> None:
        if not count:
            return
        exact, coarse, rows = self._files()
        shape = (count, self._dimensions)
        # As plain arrays: every slice of a `memmap` is another, which takes its time.
        self.exact = np.asarray(np.memmap(exact, np.int16, "r", shape=shape))
        self.coarse = np.asarray(np.memmap(coarse, np.int8, "r", shape=shape))
        self._source = _Source(exact) if hasattr(os, "pread") else None
        self._keep(np.array(np.memmap(rows, ROW, "r", shape=(count,))))

    def _keep(self, rows: npt.NDArray[np.void]) -> None:
        """Store the scale and norms of each row, and the largest norms of all."""
        compared = np.zeros(len(rows), np.bool_)
        compared[: len(self._compared)] = self._compared[: len(rows)]
        self.rows, self._compared = rows, compared
        self._scales = rows["scale"].astype(np.float64)
        widest = np.zeros(1, ROW)
        for norm in ("coarse_norm", "rest_norm"):
            widest[norm] = rows[norm].max(initial=0.0)
        self._widest = widest

    def best(self, query: Int16, depth: int, places: Int64) -> tuple[Int64, Int64]:
        """The best `depth` of `places` (rows, in tie order): positions in `places`, and dot products."""
        if not len(places) or not depth:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        if not query.any():
            first = np.arange(min(depth, len(places)))
            return first, np.zeros(len(first), np.int64)
        if depth >= len(places):
            return self.best_of(query, depth, places, np.arange(len(places)))
        with SCANS if _threads(self._scanned(places)) > 1 else nullcontext():
            candidates = self._contenders(query, depth, places)
        return self.best_of(query, depth, places, candidates)

    def best_of(self, query: Int16, depth: int, places: Int64, candidates: Int64) -> tuple[Int64, Int64]:
        """As `best`, but only of `candidates` (positions in `places`, ascending)."""
        exact = self._exact_scores(query, places[candidates])
        # A stable sort keeps the order of `places`, which is the order of ties.
        order = np.argsort(-exact, kind="stable")[:depth]
        return candidates[order], exact[order]

    def _contenders(self, query: Int16, depth: int, places: Int64) -> Int64:
        """Positions of all rows that may be among the best `depth`, ascending.

        The leaders by coarse score are scored exactly. A row that cannot reach the depth-th of them even with
        its error bound added is out. All rows are compared with the widest bound first, which takes one pass,
        then the remaining ones with their own.
        """
        asked = CoarseQuery(query)
        near = self._coarse_scores(asked, places)
        leading = np.flatnonzero(near >= score_reached_by(near, depth))
        least = nth_largest(self._exact_scores(query, places[leading]), depth)
        (widest,) = asked.bounds(self._widest)
        some = np.flatnonzero(near >= least - widest)
        return some[near[some] + asked.bounds(self.rows[places[some]]) >= least]

    def _scanned(self, places: Int64) -> int:
        """How many rows are compared: only these, or all of them."""
        return len(places) if len(places) * FEW < len(self) else len(self)

    def _coarse_scores(self, asked: "CoarseQuery", places: Int64) -> Float64:
        if self._scanned(places) < len(self):
            products = _products(asked.coarse, self.coarse[places]) * self._scales[places]
        else:
            scales = self._scales  # first, since another thread may append, coarse rows before these
            products = (_products(asked.coarse, self.coarse[: len(scales)]) * scales)[places]
        return np.multiply(products, asked.scale, out=products)

    def _exact_scores(self, query: Int16, rows: Int64) -> Int64:
        parts = [dots(self.at(rows[at : at + EXACTLY]), query) for at in range(0, len(rows), EXACTLY)]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def at(self, rows: Int64) -> Int16:
        """These exact rows. A few of very many are read: of a mapped file the system brings in much that lies
        around each, and all of it counts as memory of this process."""
        source = self._source
        if source is None or len(rows) > READ or len(self) < LARGE:
            vectors = self.exact[rows]
        else:
            vectors = source.rows(rows, self._dimensions)
        self._compare(rows, vectors)
        return vectors

    def _compare(self, rows: Int64, vectors: Int16) -> None:
        """Compare exact rows with their checksums, each once."""
        compared = self._compared
        new = np.flatnonzero(~compared[rows])
        if len(new):
            expected = self.rows["checksum"][rows[new]]
            if not np.array_equal(_row_checksums(vectors[new]), expected):
                raise StoreError(
                    f"the vectors in {self.folder} are damaged; delete that folder: it is made again"
                )
            compared[rows[new]] = True


class _Source:
    """A file of exact rows, open for as long as somebody may read from it."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        finalize(self, os.close, self._descriptor)

    def rows(self, rows: Int64, dimensions: int) -> Int16:
        size = 2 * dimensions
        read = [os.pread(self._descriptor, size, row * size) for row in rows.tolist()]
        return np.frombuffer(b"".join(read), np.int16).reshape(-1, dimensions)


class CoarseQuery:
    """A query, as coarse as the rows are."""

    def __init__(self, query: Int16) -> None:
        self.coarse, (row,) = coarsened(query[np.newaxis])
        self.scale = float(row["scale"])
        self._rest_norm = float(row["rest_norm"])
        self._norm = float(np.linalg.norm(query.astype(np.float64)))

    def bounds(self, rows: npt.NDArray[np.void]) -> Float64:
        """How far the coarse scores of `rows` can be off."""
        bound = rows["coarse_norm"].astype(np.float64) * self._rest_norm
        bound += rows["rest_norm"].astype(np.float64) * self._norm
        return np.asarray(bound * (1 + 1e-9) + ROUNDING)


def _products(query: Int8, rows: Int8) -> Float64:
    """Integer dot products of one query with all rows, by as many threads as pay."""
    threads = _threads(len(rows))
    if threads < 2:
        return _dots(query, rows)
    size = -(-len(rows) // threads)
    own, *others = [rows[at : at + size] for at in range(0, len(rows), size)]
    running = [_pool().submit(_dots, query, part) for part in others]
    return np.concatenate([_dots(query, own), *(future.result() for future in running)])


def _threads(rows: int) -> int:
    return min(THREADS, rows // WORTH_A_THREAD)


def _dots(query: Int8, rows: Int8) -> Float64:
    products: Float64 = np.asarray(numkong.cdist(query, rows, "dot"), np.float64)
    return np.asarray(products[0])


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, "vectors")


def coarsened(vectors: Int16) -> tuple[Int8, npt.NDArray[np.void]]:
    """int8 rows and what belongs to each: its scale, the norm of scale * int8, the norm of the rest."""
    coarse, rows = np.empty(vectors.shape, np.int8), np.empty(len(vectors), ROW)
    for at in range(0, len(vectors), COARSELY):
        some = slice(at, at + COARSELY)
        _coarsen(vectors[some], coarse[some], rows[some])
    return coarse, rows


def _coarsen(vectors: Int16, coarse: Int8, rows: npt.NDArray[np.void]) -> None:
    exact = vectors.astype(np.float64)
    rows["scale"] = np.abs(exact).max(axis=1, initial=1.0) / COARSE_MAX
    scale = rows["scale"].astype(np.float64)[:, np.newaxis]
    rounded = np.clip(np.rint(exact / scale), -COARSE_MAX, COARSE_MAX)
    rows["checksum"] = _row_checksums(vectors)
    rows["coarse_norm"] = _rounded_up(np.linalg.norm(scale * rounded, axis=1))
    rows["rest_norm"] = _rounded_up(np.linalg.norm(exact - scale * rounded, axis=1))
    coarse[:] = rounded


def _rounded_up(norms: Float64) -> npt.NDArray[np.float32]:
    """float32, but never smaller: a bound must stay a bound."""
    return np.nextafter(norms.astype(np.float32), np.float32(np.inf))


def _row_checksums(vectors: Int16) -> npt.NDArray[np.uint32]:
    checksums = (crc32(vector) for vector in np.ascontiguousarray(vectors))
    return np.fromiter(checksums, np.uint32, len(vectors))


def _checksum(file: Path, size: int) -> int:
    """Of the first bytes of a file. They are read, not mapped: what is only checked is not memory in use."""
    checksum = 0
    with file.open("rb") as source:
        while size and (piece := source.read(min(size, READ_AT_ONCE))):
            checksum, size = crc32(piece, checksum), size - len(piece)
    if size:
        raise ValueError("the file is too short")
    return checksum


class Counted(NamedTuple):
    """What the file `count` holds: how many rows there are, their checksums, and where they come from."""

    rows: int
    checksums: tuple[int, int]
    origin: Origin


def _write_count(folder: Path, counted: Counted) -> None:
    fields = (
        f"{counted.rows} {counted.checksums[0]} {counted.checksums[1]} {' '.join(map(str, counted.origin))}"
    )
    written = folder / f"{COUNT}.{os.getpid()}"
    private.write_new(written, f"{fields} {crc32(fields.encode())}".encode("ascii"))
    written.replace(folder / COUNT)


def _counted(folder: Path) -> Counted:
    """ValueError if the file is damaged, or of a version without checksums."""
    fields, _, checksum = (folder / COUNT).read_bytes().rpartition(b" ")
    if crc32(fields) != int(checksum):
        raise ValueError("the count is damaged")
    rows, coarse, facts, generation, tag = fields.decode("ascii").split(" ")
    return Counted(int(rows), (int(coarse), int(facts)), Origin(int(generation), tag))


def origin_of(folder: Path) -> Origin | None:
    """The origin of the last rows of a matrix; None if it is unknown."""
    try:
        origin = _counted(folder).origin
        return origin if origin.tag else None
    except (OSError, ValueError):
        return None


def remove(folder: Path) -> None:
    """Delete a matrix and everything derived from it."""
    for file in folder.iterdir():
        with suppress(OSError):  # still mapped by another process on some systems
            file.unlink()
    with suppress(OSError):
        folder.rmdir()


def remove_older(folder: Path, origin: Origin) -> None:
    """Delete matrices of other indexes and of other numberings of these vectors, but none of a later state:
    the caller may read an earlier one."""
    index = folder.name.rpartition("-")[0]
    for other in folder.parent.glob("vectors-*"):
        made_of = origin_of(other) if other.name.startswith(f"{index}-") else None
        if other != folder and (made_of is None or made_of.generation <= origin.generation):
            remove(other)
