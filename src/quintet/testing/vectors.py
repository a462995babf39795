"""The vector index's suite, and a fake that is the plain definition."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quintet.model.results import Hit
from quintet.model.vector import Int16, cosine, quantise
from quintet.ports.reading import Approximation, ChunkVectors, Rows, VectorIndex


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A chunk as a vector index sees it: its place in the order of ties, its vector."""

    chunk_id: str
    path: str
    sequence: int
    vector: tuple[float, ...]


class MemoryVectorIndex:
    """Every dot product, in plain integers."""

    def __init__(self, rows: Sequence[VectorRow]) -> None:
        self._rows = list(rows)

    @property
    def dimensions(self) -> int | None:
        return len(self._rows[0].vector) if self._rows else None

    @property
    def approximation(self) -> Approximation | None:
        return None

    def search(
        self, vector: Int16, depth: int, within: Rows | None = None, ef: int | None = None
    ) -> list[Hit]:
        allowed = None if within is None else set(within.tolist())
        scored = []
        for row, vector_row in enumerate(self._rows, start=1):
            if allowed is None or row in allowed:
                pairs = zip(quantise(vector_row.vector).tolist(), vector.tolist(), strict=True)
                scored.append(
                    (-sum(a * b for a, b in pairs), vector_row.path, vector_row.sequence, vector_row.chunk_id)
                )
        return [Hit(chunk_id, cosine(-dot), cosine(-dot)) for dot, _, _, chunk_id in sorted(scored)[:depth]]

    def of(self, chunk_ids: Sequence[str]) -> ChunkVectors:
        known = {row.chunk_id: quantise(row.vector) for row in self._rows}
        ids = [chunk_id for chunk_id in dict.fromkeys(chunk_ids) if chunk_id in known]
        vectors = [known[chunk_id] for chunk_id in ids]
        numbers = {chunk_id: number for number, chunk_id in enumerate(ids)}
        return ChunkVectors(
            numbers, np.stack(vectors) if vectors else np.empty((0, self.dimensions or 0), np.int16)
        )


class VectorIndexSuite:
    """Subclass and define `build`."""

    ROWS = (
        VectorRow("a", "b.md", 0, (1.0, 0.0, 0.0)),
        VectorRow("b", "a.md", 1, (1.0, 0.0, 0.0)),
        VectorRow("c", "a.md", 0, (1.0, 0.0, 0.0)),
        VectorRow("d", "c.md", 0, (0.6, 0.8, 0.0)),
        VectorRow("e", "d.md", 0, (0.0, 0.0, 0.0)),
        VectorRow("f", "e.md", 0, (-1.0, 0.0, 0.0)),
    )

    def build(self, rows: Sequence[VectorRow]) -> VectorIndex:
        raise NotImplementedError

    def rows_of(self, chunk_ids: Sequence[str]) -> Rows:
        """Which rows these chunks have in what was built last, ascending."""
        numbers = {row.chunk_id: at for at, row in enumerate(self.ROWS, start=1)}
        return np.array(sorted(numbers[chunk_id] for chunk_id in chunk_ids), np.int64)

    def found(self, query: Sequence[float], depth: int, within: Sequence[str] | None = None) -> list[Hit]:
        index = self.build(self.ROWS)
        rows = None if within is None else self.rows_of(within)
        return index.search(quantise(query), depth, rows)

    def test_equal_products_go_by_path_then_sequence(self) -> None:
        assert [hit.chunk_id for hit in self.found((1, 0, 0), 3)] == ["c", "b", "a"]

    def test_the_score_is_the_cosine_and_every_chunk_has_one(self) -> None:
        hits = self.found((1, 0, 0), 10)
        assert [hit.chunk_id for hit in hits] == ["c", "b", "a", "d", "e", "f"]
        assert np.allclose([hit.score for hit in hits], [1, 1, 1, 0.6, 0, -1], atol=1e-4)

    def test_a_filter_is_applied_before_the_cut(self) -> None:
        assert [hit.chunk_id for hit in self.found((1, 0, 0), 2, ["d", "f"])] == ["d", "f"]

    def test_nothing_allowed_is_nothing_found(self) -> None:
        assert self.found((1, 0, 0), 5, []) == []

    def test_a_zero_query_finds_everything_at_zero_in_tie_order(self) -> None:
        hits = self.found((0, 0, 0), 2)
        assert [(hit.chunk_id, hit.score) for hit in hits] == [("c", 0.0), ("b", 0.0)]

    def test_it_knows_its_dimensions(self) -> None:
        assert self.build(self.ROWS).dimensions == 3

    def test_it_gives_the_vectors_that_it_has(self) -> None:
        vectors = self.build(self.ROWS).of(["d", "nobody", "a", "d"])
        assert sorted(vectors.rows) == ["a", "d"]
        assert vectors.matrix[vectors.rows["d"]].tolist() == quantise((0.6, 0.8, 0.0)).tolist()
        assert vectors.matrix[vectors.rows["a"]].tolist() == quantise((1.0, 0.0, 0.0)).tolist()

    def test_of_no_chunks_there_are_no_vectors(self) -> None:
        assert dict(self.build(self.ROWS).of([]).rows) == {}

    def test_the_order_of_insertion_does_not_show(self) -> None:
        query = quantise((0.9, 0.1, 0.3))
        hits = self.build(self.ROWS).search(query, 6)
        reversed_hits = self.build(tuple(reversed(self.ROWS))).search(query, 6)
        assert hits == reversed_hits
