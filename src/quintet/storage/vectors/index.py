"""Exact vector search over a matrix derived from the `vectors` table."""

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import apsw
import numpy as np
import numpy.typing as npt

from quintet.errors import UsageError
from quintet.model.results import Hit
from quintet.model.vector import Int16, Int64, cosines
from quintet.ports.reading import Approximation, ChunkVectors, Rows
from quintet.storage.sqlite.catalog import ChunkIds, State, led_here, meta, number, state_of
from quintet.storage.sqlite.checksums import vector_checksum
from quintet.storage.vectors.hnsw import HnswCache
from quintet.storage.vectors.matrix import Matrix, Origin, origin_of, remove, remove_older
from quintet.storage.vectors.tie_order import TieOrder, load_tie_order

READ_AT_ONCE = 20_000
COMPARED = 8_192  # rows; a power cut takes fewer vectors with it, as they go to disk with every commit


class VectorView:
    """The vectors of one state of the index: chunk rows in tie order, and the matrix row of each."""

    def __init__(self, order: TieOrder, matrix: Matrix | None) -> None:
        self.order = order
        self.matrix = matrix
        self.chunks = order.chunks
        self.places = order.places

    @cached_property
    def _by_chunk(self) -> npt.NDArray[np.int32]:
        """The matrix row of each chunk row; -1 for a chunk without a vector, and at the end."""
        places = np.full(int(self.chunks.max(initial=0)) + 2, -1, np.int32)
        places[self.chunks] = self.places
        return places

    def places_of(self, chunks: Int64) -> npt.NDArray[np.int32]:
        """The matrix rows of these chunks; -1 for one without a vector."""
        return self._by_chunk.take(chunks, mode="clip")

    @cached_property
    def _by_place(self) -> tuple[Int64, Int64]:
        """Matrix rows, ascending, and their positions in tie order. Equal texts share a row."""
        positions = np.argsort(self.places, kind="stable")
        return self.places[positions], positions

    def positions(self, rows: Int64) -> Int64:
        """The positions of these matrix rows in tie order, ascending; rows that no chunk uses are left
        out."""
        places, positions = self._by_place
        first, end = np.searchsorted(places, rows, "left"), np.searchsorted(places, rows, "right")
        ranges = [positions[at:to] for at, to in zip(first.tolist(), end.tolist(), strict=True) if at < to]
        return np.sort(np.concatenate(ranges)) if ranges else np.empty(0, np.int64)

    def positions_from(self, row: int) -> Int64:
        """The positions of the matrix rows from `row` on, ascending."""
        places, positions = self._by_place
        return np.sort(positions[np.searchsorted(places, row) :])


class VectorCache:
    """Keeps the newest view, and the matrix that all views share. Safe to use from many threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._view: VectorView | None = None
        self._matrix: Matrix | None = None
        self.approximate = HnswCache()

    def view(self, connection: apsw.Connection) -> VectorView:
        with self._lock:
            if self._view is None or self._view.order.state != state_of(connection):
                self._view = self._load(connection)
            return self._view

    def _load(self, connection: apsw.Connection) -> VectorView:
        dimensions = number(connection, "dimensions")
        matrix = self._matrix_of(connection, dimensions) if dimensions else None
        file = (matrix.folder if matrix else self._folder) / "order"
        earlier = None if self._view is None else self._view.order
        return VectorView(load_tie_order(connection, earlier, file), matrix)

    def _matrix_of(self, connection: apsw.Connection, dimensions: int) -> Matrix:
        """The matrix of this epoch, with the rows added since the last look."""
        folder, state = matrix_folder(connection, self._folder), state_of(connection)
        origin = Origin(state.generation, state.tag)
        if self._matrix is None or self._matrix.folder != folder:
            remove_older(folder, origin)
            self._matrix = _opened(connection, folder, dimensions)
        matrix = self._matrix
        last = connection.execute("SELECT max(row) FROM vectors").get or 0
        while (first := len(matrix)) < last:
            some = _rows(connection, first, min(last, first + READ_AT_ONCE), dimensions)
            matrix.append(some, origin)
        return matrix

    def differing(self, connection: apsw.Connection) -> int:
        """How many rows of the matrix differ from the database: none, unless a file was damaged."""
        view = self.view(connection)
        if view.matrix is None:
            return 0
        wrong, dimensions = 0, view.matrix.exact.shape[1]
        for at in range(0, len(view.matrix), READ_AT_ONCE):
            to = min(at + READ_AT_ONCE, len(view.matrix))
            stored = _rows(connection, at, to, dimensions)
            used = stored.any(axis=1)
            wrong += int((stored[used] != view.matrix.exact[at:to][used]).any(axis=1).sum())
            wrong += 0 if view.matrix.is_sound(at, to) else 1
        return wrong

    def close(self) -> None:
        self.approximate.close()


def matrix_folder(connection: apsw.Connection, folder: Path) -> Path:
    """The folder of the matrix, which changes whenever the rows are numbered again."""
    return folder / f"vectors-{meta(connection, 'index_id')}-{meta(connection, 'vector_epoch')}"


def is_from_here(connection: apsw.Connection, matrix: Path) -> bool:
    """Whether a matrix was made from a state that this database went through. The database may have been
    restored, or have lost its last commits."""
    origin, state = origin_of(matrix), state_of(connection)
    return origin is not None and led_here(connection, State(state.index_id, *origin), state)


def _opened(connection: apsw.Connection, folder: Path, dimensions: int) -> Matrix:
    """The matrix on disk, if it holds what the database does. It may hold more: rows that a database which
    was put back no longer has stand where no chunk looks."""
    matrix = Matrix(folder, dimensions)
    last = min(len(matrix), connection.execute("SELECT max(row) FROM vectors").get or 0)
    first = max(0, last - COMPARED) if is_from_here(connection, folder) else 0
    parts = ((at, min(at + READ_AT_ONCE, last)) for at in range(first, last, READ_AT_ONCE))
    if all(_is_right(connection, matrix, at, to) for at, to in parts):
        return matrix
    remove(folder)
    return Matrix(folder, dimensions, empty=True)


def _is_right(connection: apsw.Connection, matrix: Matrix, after: int, to: int) -> bool:
    stored = _rows(connection, after, to, matrix.exact.shape[1])
    there = stored.any(axis=1)
    return np.array_equal(stored[there], matrix.exact[after:to][there]) and matrix.is_sound(after, to)


def _rows(connection: apsw.Connection, after: int, to: int, dimensions: int) -> Int16:
    """The vectors of rows after+1 to `to`. A deleted row is zero, and no chunk refers to it."""
    vectors = np.zeros((to - after, dimensions), np.int16)
    rows = connection.execute(
        "SELECT row, text_hash, vector, checksum FROM vectors WHERE row > ? AND row <= ?", (after, to)
    )
    for row, text_hash, vector, checksum in rows:
        if len(vector) != 2 * dimensions:
            raise apsw.CorruptError(f"vector {row} has {len(vector)} bytes, not {2 * dimensions}")
        if vector_checksum(text_hash, vector) != checksum:
            raise apsw.CorruptError(f"vector {row} is not what was stored")
        vectors[row - after - 1] = np.frombuffer(vector, "<i2")
    return vectors


class SqliteVectorIndex:
    """The vectors of one snapshot."""

    def __init__(self, connection: apsw.Connection, views: VectorCache, ids: ChunkIds) -> None:
        self._connection = connection
        self._views = views
        self._ids = ids

    @property
    def dimensions(self) -> int | None:
        return number(self._connection, "dimensions") or None

    @cached_property
    def _view(self) -> VectorView:
        return self._views.view(self._connection)

    @property
    def approximation(self) -> Approximation | None:
        matrix = self._view.matrix
        return None if matrix is None else self._views.approximate.state(matrix)

    def build_approximation(self) -> None:
        """Build the HNSW graph of all vectors, and wait until it is done."""
        matrix = self._view.matrix
        if matrix is not None and len(matrix):
            self._views.approximate.build(matrix)

    def search(
        self, vector: Int16, depth: int, within: Rows | None = None, ef: int | None = None
    ) -> list[Hit]:
        view = self._view
        if view.matrix is None:
            return []
        dimensions = view.matrix.exact.shape[1]
        if vector.shape != (dimensions,):
            raise UsageError(
                f"the query vector has {vector.size} dimensions; this index has {dimensions}: "
                "use the embedder it was built with",
                details={"parameter": "embedding"},
            )
        chunks, places = view.chunks, view.places
        if within is not None:
            allowed = np.zeros(max(int(chunks.max(initial=0)), int(within.max(initial=0))) + 1, np.bool_)
            allowed[within] = True
            kept = allowed[chunks]
            chunks, places = chunks[kept], places[kept]
        elif ef is not None and (near := self._near(view, vector, depth, ef)) is not None:
            positions, products = view.matrix.best_of(vector, depth, places, near)
            return self._hits(chunks[positions], products)
        positions, products = view.matrix.best(vector, depth, places)
        return self._hits(chunks[positions], products)

    def of(self, chunk_ids: Sequence[str]) -> ChunkVectors:
        if self._view.matrix is None:
            return ChunkVectors({}, np.empty((0, 0), np.int16))
        rows = self._ids.rows(chunk_ids)
        places = self._view.places_of(np.array(list(rows.values()), np.int64))
        stored = [chunk_id for chunk_id, place in zip(rows, places.tolist(), strict=True) if place >= 0]
        numbers = {chunk_id: number for number, chunk_id in enumerate(stored)}
        return ChunkVectors(numbers, self._view.matrix.at(places[places >= 0].astype(np.int64)))

    def _near(self, view: VectorView, vector: Int16, depth: int, ef: int) -> Int64 | None:
        """The positions to score: what the graph proposes, and everything newer than the graph.

        None if an exact scan is needed: no graph yet, a zero query, or too much was deleted since.
        """
        matrix = view.matrix if vector.any() else None
        hnsw = None if matrix is None else self._views.approximate.graph(matrix)
        if hnsw is None:
            return None
        newer = view.positions_from(hnsw.rows)
        covered = len(view.places) - len(newer)
        wanted = -(-depth * hnsw.rows // max(covered, 1))  # some of its proposals may have been deleted
        near = np.union1d(view.positions(hnsw.candidates(vector, ef or hnsw.ef, wanted)), newer)
        return near if len(near) >= min(depth, len(view.places)) else None

    def _hits(self, rows: Int64, products: Int64) -> list[Hit]:
        if not len(rows):
            return []
        ids = self._ids.at(rows)
        scored = zip(rows.tolist(), cosines(products), strict=True)
        return [Hit(ids[row], score, score) for row, score in scored]
