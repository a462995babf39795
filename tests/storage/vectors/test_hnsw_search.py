"""Approximate search through an index: what it may miss, and what it never gets wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quintet
from quintet import Index
from quintet.model.vector import Int16, Int64
from quintet.storage.vectors.hnsw import Hnsw

FILES = 120
WORDS = ("anchor", "beacon", "cable", "delta", "ebb", "fathom", "gale", "harbour", "islet", "jetty", "keel")


def _text(number: int) -> str:
    chosen = [WORDS[(number * step + step) % len(WORDS)] for step in (1, 3, 4, 7)]
    return f"note {number} on {' and '.join(chosen)}\n"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:03}.txt").write_text(_text(number))
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([folder])
        yield index


def _search(index: Index, query: str, vectors: str, **more: Any) -> tuple[dict[str, float], list[str]]:
    response = index.search(query, contract="cfs", mode="semantic", vectors=vectors, **more)
    results: Any = response.body["results"]
    return {one["document"]["path"]: one["score"] for one in results}, [
        note["code"] for note in response.notes
    ]


def test_until_there_is_a_graph_every_vector_is_compared_and_the_answer_says_so(index: Index) -> None:
    exact, _ = _search(index, "gale at the harbour", "exact")
    approximate, notes = _search(index, "gale at the harbour", "hnsw")
    assert approximate == exact
    assert "vectors_exact" in notes


@pytest.mark.parametrize("vectors", ["hnsw", "standard", "approximate"])
def test_a_graph_is_used_when_asked_for_and_its_scores_are_exact(index: Index, vectors: str) -> None:
    graph = index.build_hnsw()
    assert graph is not None and (graph.rows, graph.of) == (FILES, FILES)
    everything, _ = _search(index, "gale at the harbour", "exact", top_k=FILES)
    found, notes = _search(index, "gale at the harbour", vectors)
    assert "approximate" in notes
    assert len(found) == 10
    assert {path: everything[path] for path in found} == found


def test_what_was_deleted_since_is_never_found(index: Index, tmp_path: Path) -> None:
    index.build_hnsw()
    best = list(_search(index, "gale at the harbour", "hnsw")[0])[:5]
    for path in best:
        (tmp_path / "notes" / path).unlink()
    index.sync()
    found, notes = _search(index, "gale at the harbour", "hnsw")
    assert "approximate" in notes
    assert len(found) == 10
    assert not set(best) & set(found)


def test_what_is_newer_than_the_graph_is_found_all_the_same(index: Index, tmp_path: Path) -> None:
    index.build_hnsw()
    (tmp_path / "notes" / "new.txt").write_text("gale at the harbour\n")
    index.sync()
    found, notes = _search(index, "gale at the harbour", "hnsw")
    assert next(iter(found)) == "new.txt"
    assert "approximate" in notes
    state = index.status().hnsw
    assert state is not None and (state.rows, state.of) == (FILES, FILES + 1)


@pytest.mark.requirement("004-S8-PRE")
def test_a_filter_makes_the_search_exact(index: Index) -> None:
    index.build_hnsw()
    found, notes = _search(index, "gale at the harbour", "hnsw", filters={"path": "00*.txt"})
    assert found == _search(index, "gale at the harbour", "exact", filters={"path": "00*.txt"})[0]
    assert "vectors_exact" in notes


def test_an_index_without_vectors_has_no_graph(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([tmp_path])
        assert index.build_hnsw() is None
        assert index.status().hnsw is None


def test_doctor_finds_a_damaged_matrix_and_says_what_to_do(index: Index) -> None:
    assert all(check.ok for check in index.doctor())
    (file,) = index.folder.glob("vectors-*/exact.i16")
    with file.open("r+b") as damaged:  # in place: searches have it mapped
        damaged.seek(1_000)
        damaged.write(b"\x7f")
    (wrong,) = [check for check in index.doctor() if not check.ok]
    assert wrong.name == "matrix"
    assert "delete the folders vectors-*" in wrong.message
    index.close()
    with quintet.open(index.folder) as again:  # the newest rows are compared whenever an index is opened
        assert all(check.ok for check in again.doctor())


@pytest.mark.requirement("004-HNSW-EF", "004-S10-APPROXIMATE")
@pytest.mark.parametrize("contract", ["cfs", "quintet"])
def test_standard_searches_with_ef_50_approximate_with_20_and_hnsw_with_what_the_graph_needs(
    index: Index, monkeypatch: pytest.MonkeyPatch, contract: str
) -> None:
    graph = index.build_hnsw()
    assert graph is not None
    asked: list[int] = []

    def watched(graph: Hnsw, query: Int16, ef: int, depth: int) -> Int64:
        asked.append(ef)
        return candidates(graph, query, ef, depth)

    candidates = Hnsw.candidates
    monkeypatch.setattr(Hnsw, "candidates", watched)
    told = []
    for vectors in ("exact", "standard", "approximate", "standard", "hnsw"):
        response = index.search("gale at the harbour", contract, mode="semantic", vectors=vectors)
        told += [note["message"] for note in response.notes if note["code"] == "approximate"]
    assert asked == [50, 20, 50, graph.ef]
    assert [message.partition(":")[0].rpartition(" ")[2] for message in told] == list(map(str, asked))


@pytest.mark.requirement("004-HNSW-K")
def test_hnsw_brings_twenty_candidates_into_a_hybrid_search(index: Index) -> None:
    index.build_hnsw()
    asked: dict[str, Any] = {"vectors": "hnsw", "lexical_k": 1, "top_k": FILES}
    response = index.search("gale at the harbour", "cfs", **asked)
    assert "approximate" in [note["code"] for note in response.notes]
    found: Any = response.body["results"]
    assert sum(one["score"] < 1 / 60 for one in found) >= 19  # by vectors alone
    assert len(found) in (20, 21)  # the one by words may be one of them
