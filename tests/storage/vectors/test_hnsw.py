"""HNSW proposes, exact integers decide. What it cannot know (deletions, newer rows, damage) never shows."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock, Timeout

from quintet.model.vector import Int16, quantise
from quintet.storage.vectors import hnsw
from quintet.storage.vectors.hnsw import RECALL, SPECIFIED, TRIED, Hnsw, HnswCache, build, load
from quintet.storage.vectors.matrix import Matrix

ROWS, DIMENSIONS = 3_000, 32


def _clustered(rows: int, seed: int = 0) -> Int16:
    centres = np.random.default_rng(60).standard_normal((60, DIMENSIONS))
    chance = np.random.default_rng(seed)
    return quantise(centres[chance.integers(0, 60, rows)] + 0.4 * chance.standard_normal((rows, DIMENSIONS)))


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    matrix = Matrix(tmp_path_factory.mktemp("hnsw") / "vectors-a-1", DIMENSIONS)
    matrix.append(_clustered(ROWS))
    return matrix


def test_nearly_all_of_the_exact_best_are_among_the_candidates(matrix: Matrix) -> None:
    graph = build(matrix)
    assert graph is not None
    everywhere = np.arange(ROWS)
    found = 0
    for query in _clustered(50, seed=1):
        best, _ = matrix.best(query, 20, everywhere)
        found += len(set(best.tolist()) & set(graph.candidates(query, 50, 20).tolist()))
    assert found / (50 * 20) > 0.95


@pytest.mark.requirement("004-HNSW-EF")
def test_its_recall_is_measured_on_the_index_itself_for_the_efs_of_the_specification(matrix: Matrix) -> None:
    graph = build(matrix)
    assert graph is not None
    assert SPECIFIED == (50, 20)
    assert set(graph.recall) == {"50", "20", str(graph.ef)}
    assert 0.5 < graph.recall["20"] <= graph.recall["50"] <= graph.recall[str(graph.ef)] <= 1.0


def _recall(graph: Hnsw, matrix: Matrix, queries: Int16, ef: int) -> float:
    everywhere = np.arange(len(matrix))
    hits = 0
    for query in queries:
        best, _ = matrix.best(query, 20, everywhere)
        hits += len(set(best.tolist()) & set(graph.candidates(query, ef, 20).tolist()))
    return hits / (20 * len(queries))


@pytest.fixture(scope="module")
def spread(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """Rows all over the sphere: a graph finds the neighbours of a row far better than those of a query."""
    matrix = Matrix(tmp_path_factory.mktemp("spread") / "vectors-a-1", 64)
    matrix.append(quantise(np.random.default_rng(9).standard_normal((6_000, 64))))
    return matrix


@pytest.mark.requirement("004-HNSW-EF")
def test_the_ef_of_a_search_that_names_none_finds_what_the_recall_says_of_queries_that_are_not_in_the_graph(
    spread: Matrix,
) -> None:
    graph = build(spread)
    assert graph is not None and graph.ef > 50
    strange = quantise(np.random.default_rng(10).standard_normal((200, 64)))
    assert graph.recall[str(graph.ef)] >= RECALL
    assert _recall(graph, spread, strange, graph.ef) >= RECALL - 0.02
    assert max(graph.recall["50"], _recall(graph, spread, strange, 50)) < RECALL


@pytest.mark.requirement("004-HNSW-EF")
def test_the_recall_of_ef_50_is_nearer_to_what_queries_from_outside_find_than_to_what_rows_find(
    spread: Matrix,
) -> None:
    graph = build(spread)
    assert graph is not None
    strange = quantise(np.random.default_rng(11).standard_normal((200, 64)))
    outside, inside = _recall(graph, spread, strange, 50), _recall(graph, spread, spread.exact[:200], 50)
    assert graph.recall["50"] - outside < inside - graph.recall["50"]


def test_where_nothing_reaches_the_recall_the_largest_ef_is_taken(
    spread: Matrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hnsw, "RECALL", 1.1)
    graph = build(spread)
    assert graph is not None and graph.ef == TRIED[-1]


@pytest.mark.requirement("004-S10-APPROXIMATE")
def test_a_search_with_a_lower_ef_leaves_the_next_one_as_it_was(matrix: Matrix) -> None:
    graph = build(matrix)
    assert graph is not None
    (query,) = _clustered(1, seed=2)
    before = graph.candidates(query, 50, 5).tolist()
    fewer = graph.candidates(query, 20, 5).tolist()
    assert (len(before), len(fewer)) == (50, 20)
    assert graph.candidates(query, 50, 5).tolist() == before


def test_a_graph_is_found_again_by_the_next_process(matrix: Matrix) -> None:
    built = build(matrix)
    again = load(matrix.folder, DIMENSIONS, len(matrix))
    assert built is not None and again is not None
    (query,) = _clustered(1, seed=3)
    assert again.candidates(query, 50, 9).tolist() == built.candidates(query, 50, 9).tolist()
    assert again.recall == built.recall


@pytest.mark.parametrize(
    "state",
    [
        "",
        "{",
        "[]",
        json.dumps({"file": "hnsw-3000.usearch", "rows": 3000}),
        json.dumps({"file": "hnsw-3000.usearch", "checksum": 9, "rows": 3000, "ef": 7, "recall": {}}),
        json.dumps({"file": "../../elsewhere", "checksum": 9, "rows": 3000, "ef": 50, "recall": {}}),
        json.dumps({"file": "hnsw-9000.usearch", "checksum": 9, "rows": 9000, "ef": 50, "recall": {}}),
        json.dumps({"file": "hnsw-2999.usearch", "checksum": 9, "rows": 2999, "ef": 50, "recall": {}}),
    ],
)
def test_a_state_that_does_not_fit_is_not_used(matrix: Matrix, state: str) -> None:
    build(matrix)
    (matrix.folder / hnsw.STATE).write_text(state)
    assert load(matrix.folder, DIMENSIONS, len(matrix)) is None


def test_a_file_cut_short_is_not_used(matrix: Matrix) -> None:
    build(matrix)
    file = matrix.folder / f"hnsw-{ROWS}.usearch"
    whole = file.read_bytes()
    for length in (0, 100, len(whole) // 2, len(whole) - 1):
        file.unlink()  # a mapped file is never changed in place
        file.write_bytes(whole[:length])
        assert load(matrix.folder, DIMENSIONS, len(matrix)) is None


def test_a_file_that_is_damaged_but_as_long_as_it_was_is_not_used(matrix: Matrix) -> None:
    build(matrix)
    file = matrix.folder / f"hnsw-{ROWS}.usearch"
    whole = bytearray(file.read_bytes())
    whole[-1000] ^= 1
    file.unlink()
    file.write_bytes(whole)
    assert load(matrix.folder, DIMENSIONS, len(matrix)) is None


def test_the_graph_in_use_is_not_read_again_while_the_next_one_is_built(matrix: Matrix) -> None:
    built = build(matrix)
    (matrix.folder / f"hnsw-{ROWS}.usearch").unlink()
    assert built is not None
    assert load(matrix.folder, DIMENSIONS, len(matrix), built) is built


def test_beside_another_that_builds_nothing_is_built(matrix: Matrix) -> None:
    with FileLock(matrix.folder / hnsw.LOCK), pytest.raises(Timeout):
        build(matrix, threading.Event())


def test_a_build_that_is_stopped_leaves_no_graph_behind(tmp_path: Path) -> None:
    matrix = Matrix(tmp_path / "vectors-a-1", DIMENSIONS)
    matrix.append(_clustered(100))
    stop = threading.Event()
    stop.set()
    assert build(matrix, stop) is None
    assert {file.name for file in matrix.folder.glob("hnsw*")} <= {hnsw.LOCK}


def test_it_is_built_beside_the_searches_and_then_used(tmp_path: Path) -> None:
    matrix = Matrix(tmp_path / "vectors-a-1", DIMENSIONS)
    matrix.append(_clustered(1_500))
    approximate = HnswCache()
    assert approximate.state(matrix) is None
    assert approximate.graph(matrix) is None
    assert approximate._thread is not None
    approximate._thread.join()
    graph = approximate.graph(matrix)
    assert graph is not None and graph.rows == 1_500
    matrix.append(_clustered(200, seed=4))
    state = approximate.state(matrix)
    assert state is not None
    assert (state.rows, state.of) == (1_500, 1_700)
    approximate.close()


@pytest.mark.requirement("004-HNSW-EF", "004-S10-APPROXIMATE")
def test_each_search_expands_as_far_as_its_ef_says(matrix: Matrix) -> None:
    graph = build(matrix)
    assert graph is not None
    expansions = {ef: opened.expansion_search for ef, opened in graph._graphs.items()}
    assert expansions == {ef: ef for ef in (20, 50, graph.ef)}
