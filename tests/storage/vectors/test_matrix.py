"""The matrix gives the exact integer ranking: the same ids and products as plain int64 arithmetic."""

import random
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from quintet.model.vector import SCALE, Int16, Int64, quantise
from quintet.storage.vectors.matrix import (
    NOWHERE,
    WORTH_A_THREAD,
    CoarseQuery,
    Matrix,
    Origin,
    coarsened,
    origin_of,
    remove,
    remove_older,
)

CASES = 2_000
DIMENSIONS = (1, 3, 384)


def _reference(vectors: Int16, query: Int16, depth: int, places: Int64) -> tuple[list[int], list[int]]:
    """Every product in int64, best first, ties in the order of `places`."""
    products = [int(np.dot(vectors[place].astype(np.int64), query.astype(np.int64))) for place in places]
    best = sorted(range(len(places)), key=lambda position: -products[position])[:depth]
    return best, [products[position] for position in best]


def _vectors(chance: np.random.Generator, kind: str, rows: int, dimensions: int) -> Int16:
    shape = (rows, dimensions)
    vectors = quantise(chance.standard_normal(shape))
    match kind:
        case "saturated":
            vectors = chance.choice(np.array([-SCALE, SCALE], np.int16), shape)
        case "duplicates":
            vectors = vectors[chance.integers(0, min(rows, 3), rows)]
        case "close":  # one step apart: the coarse form cannot tell them from one another
            vectors = np.clip(vectors[:1] + chance.integers(-1, 2, shape), -SCALE, SCALE)
        case "zeros":
            vectors[chance.random(rows) < 0.5] = 0
        case "one large":  # so that the rest falls below a step of the coarse form
            vectors = chance.integers(-100, 101, shape)
            vectors[np.arange(rows), chance.integers(0, dimensions, rows)] = SCALE
        case "anything":
            vectors = chance.integers(-SCALE, SCALE + 1, shape)
    return vectors.astype(np.int16)


KINDS = ("unit", "saturated", "duplicates", "close", "zeros", "one large", "anything")


def _cases(count: int) -> Iterator[tuple[Int16, Int16, int, Int64]]:
    for seed in range(count):
        chance = np.random.default_rng(seed)
        dimensions = DIMENSIONS[seed % len(DIMENSIONS)]
        rows = int(chance.choice([1, 2, 7, 60, 200]))
        vectors = _vectors(chance, KINDS[seed % len(KINDS)], rows, dimensions)
        query = (
            vectors[int(chance.integers(rows))]
            if seed % 3
            else _vectors(chance, "anything", 1, dimensions)[0]
        )
        places = chance.permutation(rows)[: int(chance.choice([0, 1, rows // 2, rows]))]
        yield vectors, query, int(chance.choice([1, 2, 10, rows, rows + 5])), places.astype(np.int64)


@pytest.mark.usefixtures("untraced")
def test_two_thousand_searches_equal_plain_integer_arithmetic(tmp_path: Path) -> None:
    for number, (vectors, query, depth, places) in enumerate(_cases(CASES)):
        matrix = Matrix(tmp_path / str(number), vectors.shape[1])
        matrix.append(vectors)
        positions, products = matrix.best(query, depth, places)
        assert (positions.tolist(), products.tolist()) == _reference(vectors, query, depth, places), number
        remove(matrix.folder)


@pytest.mark.usefixtures("untraced")
def test_rows_that_are_read_are_those_that_are_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quintet.storage.vectors.matrix.LARGE", 0)
    for number, (vectors, query, depth, places) in enumerate(_cases(100)):
        matrix = Matrix(tmp_path / str(number), vectors.shape[1])
        matrix.append(vectors)
        positions, products = matrix.best(query, depth, places)
        assert (positions.tolist(), products.tolist()) == _reference(vectors, query, depth, places), number


@pytest.mark.usefixtures("untraced")
def test_a_coarse_score_is_never_farther_off_than_its_bound(tmp_path: Path) -> None:
    tightest = 0.0
    for number, (vectors, query, _, _) in enumerate(_cases(500)):
        if not query.any():
            continue
        matrix = Matrix(tmp_path / str(number), vectors.shape[1])
        matrix.append(vectors)
        asked = CoarseQuery(query)
        near = matrix._coarse_scores(asked, np.arange(len(vectors)))
        bound = asked.bounds(matrix.rows)
        exact = vectors.astype(np.int64) @ query.astype(np.int64)
        share = np.abs(near - exact) / bound
        assert share.max() <= 1.0, number
        tightest = max(tightest, float(share.max()))
    assert tightest > 0.3, "a bound that is never approached costs time for nothing"


def test_without_the_bound_the_ranking_would_be_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CoarseQuery, "bounds", lambda asked, rows: np.zeros(len(rows)))
    wrong = 0
    for number, (vectors, query, depth, places) in enumerate(_cases(300)):
        matrix = Matrix(tmp_path / str(number), vectors.shape[1])
        matrix.append(vectors)
        positions, products = matrix.best(query, depth, places)
        wrong += (positions.tolist(), products.tolist()) != _reference(vectors, query, depth, places)
    assert wrong > 0


def test_a_query_of_zeros_gives_zeros_in_the_order_of_places(tmp_path: Path) -> None:
    matrix = Matrix(tmp_path / "m", 3)
    matrix.append(_vectors(np.random.default_rng(0), "unit", 9, 3))
    positions, products = matrix.best(np.zeros(3, np.int16), 4, np.array([8, 1, 5, 0, 2]))
    assert (positions.tolist(), products.tolist()) == ([0, 1, 2, 3], [0, 0, 0, 0])


def test_an_empty_matrix_finds_nothing(tmp_path: Path) -> None:
    positions, products = Matrix(tmp_path / "m", 3).best(np.ones(3, np.int16), 5, np.empty(0, np.int64))
    assert (len(positions), len(products)) == (0, 0)


def test_norms_kept_as_float32_are_never_rounded_down() -> None:
    vectors = _vectors(np.random.default_rng(1), "anything", 500, 384)
    coarse, rows = coarsened(vectors)
    scaled = rows["scale"].astype(np.float64)[:, np.newaxis] * coarse
    assert (rows["coarse_norm"] >= np.linalg.norm(scaled, axis=1)).all()
    assert (rows["rest_norm"] >= np.linalg.norm(vectors - scaled, axis=1)).all()


def test_rows_appended_by_one_object_are_read_by_the_next(tmp_path: Path) -> None:
    vectors = _vectors(np.random.default_rng(2), "unit", 30, 384)
    first = Matrix(tmp_path / "m", 384)
    first.append(vectors[:10])
    second = Matrix(tmp_path / "m", 384)
    assert np.array_equal(second.exact, vectors[:10])
    second.append(vectors[10:])
    assert np.array_equal(Matrix(tmp_path / "m", 384).exact, vectors)


def test_two_objects_that_append_the_same_rows_do_no_harm(tmp_path: Path) -> None:
    vectors = _vectors(np.random.default_rng(3), "unit", 40, 384)
    one, other = Matrix(tmp_path / "m", 384), Matrix(tmp_path / "m", 384)
    for start, end in ((0, 10), (10, 25), (25, 40)):
        for matrix in random.Random(start).sample([one, other], 2):
            matrix.append(vectors[start:end])
    assert np.array_equal(one.exact, vectors)
    assert np.array_equal(other.exact, vectors)
    assert np.array_equal(Matrix(tmp_path / "m", 384).exact, vectors)


@pytest.mark.parametrize("file", ["exact.i16", "coarse.i8", "rows.f32"])
@pytest.mark.parametrize("share", [0, 0.3, 0.99])
def test_a_truncated_file_counts_as_empty_and_is_written_again(
    tmp_path: Path, file: str, share: float
) -> None:
    vectors = _vectors(np.random.default_rng(4), "unit", 50, 8)
    Matrix(tmp_path / "m", 8).append(vectors)
    target = tmp_path / "m" / file
    target.write_bytes(target.read_bytes()[: int(share * target.stat().st_size)])
    matrix = Matrix(tmp_path / "m", 8)
    assert len(matrix) == 0
    matrix.append(vectors)
    assert np.array_equal(Matrix(tmp_path / "m", 8).exact, vectors)


@pytest.mark.parametrize("count", ["", "many", "-3", "1e3"])
def test_a_count_that_makes_no_sense_is_none(tmp_path: Path, count: str) -> None:
    Matrix(tmp_path / "m", 8).append(_vectors(np.random.default_rng(5), "unit", 5, 8))
    (tmp_path / "m" / "count").write_text(count, "ascii")
    assert len(Matrix(tmp_path / "m", 8)) == 0


def test_rows_stay_in_memory_where_the_disk_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "m").write_text("a file where the folder should be", "utf-8")
    vectors = _vectors(np.random.default_rng(6), "unit", 20, 8)
    matrix = Matrix(tmp_path / "m", 8)
    matrix.append(vectors[:12])
    matrix.append(vectors[12:])
    assert np.array_equal(matrix.exact, vectors)
    everything = np.arange(20)
    assert matrix.best(vectors[3], 1, everything)[0].tolist() == [3]


def test_files_removed_between_two_appends_are_not_continued_with_a_gap(tmp_path: Path) -> None:
    """A reader of another state may remove the folder at any time; a gap would be rows of zeros."""
    vectors = _vectors(np.random.default_rng(7), "unit", 30, 8)
    matrix = Matrix(tmp_path / "vectors-a", 8)
    matrix.append(vectors[:20])
    remove(matrix.folder)
    matrix.append(vectors[20:])
    assert np.array_equal(matrix.exact, vectors)
    again = Matrix(tmp_path / "vectors-a", 8)
    assert np.array_equal(again.exact, vectors[: len(again)])


@pytest.mark.parametrize(
    ("name", "count", "stays"),
    [
        ("vectors-here-a", "5 0 0 7 tag", True),  # the one in use
        ("vectors-here-b", "5 0 0 7 tag", False),
        ("vectors-here-b", "5 0 0 8 tag", True),  # of a later state
        ("vectors-here-b", "5", False),
        ("vectors-here-b", "", False),
        ("vectors-there-b", "5 0 0 8 tag", False),  # of another index
        ("notes", "", True),
    ],
)
def test_matrices_of_earlier_states_and_other_indexes_are_removed(
    tmp_path: Path, name: str, count: str, stays: bool
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "count").write_text(f"{count} {crc32(count.encode())}", "ascii")
    remove_older(tmp_path / "vectors-here-a", Origin(7, "another"))
    assert (tmp_path / name).exists() == stays


def test_a_matrix_tells_where_its_last_rows_are_from(tmp_path: Path) -> None:
    vectors = _vectors(np.random.default_rng(8), "unit", 9, 8)
    matrix = Matrix(tmp_path / "m", 8)
    assert origin_of(matrix.folder) is None
    matrix.append(vectors[:4], Origin(3, "one"))
    matrix.append(vectors[4:6], Origin(5, "two"))
    assert origin_of(matrix.folder) == (5, "two")
    assert len(Matrix(tmp_path / "m", 8)) == 6
    matrix.append(vectors[6:], NOWHERE)
    assert origin_of(matrix.folder) is None


@pytest.mark.parametrize("share", [1.0, 0.5, 0.01])
def test_many_rows_searched_by_several_threads_give_the_same_ranking(tmp_path: Path, share: float) -> None:
    rows, dimensions = 3 * WORTH_A_THREAD, 4
    chance = np.random.default_rng(3)
    vectors = _vectors(chance, "unit", rows, dimensions)
    matrix = Matrix(tmp_path / "m", dimensions)
    matrix.append(vectors)
    places = chance.permutation(rows)[: int(share * rows)].astype(np.int64)
    products = vectors[places].astype(np.int64) @ vectors[0].astype(np.int64)
    order = np.argsort(-products, kind="stable")[:50]
    positions, found = matrix.best(vectors[0], 50, places)
    assert (positions.tolist(), found.tolist()) == (order.tolist(), products[order].tolist())
