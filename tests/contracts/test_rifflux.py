"""Spec 000 end to end: real files, real SQLite, vectors by hand."""

import ast
import socket
import sqlite3
import sys
import tomllib
from inspect import Parameter, signature
from pathlib import Path

import apsw
import numpy as np
import pytest

import quintet
from contracts.conftest import Library
from contracts.fixed import FixedEmbedder, codes, ladder, name_at, paths, results, same_place_in_both, write

FILES = {
    "cache.txt": "cache ttl and cache size",
    "notes.txt": "the ttl of a session",
    "other.txt": "nothing of the kind",
}
VECTORS = {
    "cache ttl": (1.0, 0.0),
    FILES["cache.txt"]: (3.0, 4.0),
    FILES["notes.txt"]: (4.0, 3.0),
    FILES["other.txt"]: (-1.0, 0.0),
}
RESULT_KEYS = {"chunk_id", "path", "heading_path", "chunk_index", "content", "score_breakdown"}
BREAKDOWNS = {
    "lexical": {"bm25"},
    "semantic": {"cosine"},
    "hybrid": {"rrf", "lexical_rank", "semantic_rank"},
}


@pytest.mark.requirement("000-REQ-001", "000-REQ-002", "000-REQ-003", "000-REQ-004", "000-COVER-1")
def test_each_mode_answers_from_its_own_signals(library: Library) -> None:
    index = library(FILES, VECTORS)
    found = {mode: paths(index.search("cache ttl", "rifflux", mode=mode)) for mode in BREAKDOWNS}
    assert found["lexical"] == ["cache.txt", "notes.txt"]
    assert found["semantic"] == ["notes.txt", "cache.txt", "other.txt"]
    assert found["hybrid"] == ["cache.txt", "notes.txt", "other.txt"]


@pytest.mark.requirement(
    "000-REQ-005", "000-CON-002", "000-4.2", "000-4.3", "000-AC-001", "000-AC-002", "000-AC-003"
)
@pytest.mark.requirement("000-VAL-1", "000-VAL-2", "000-COVER-2")
@pytest.mark.parametrize("mode", BREAKDOWNS)
def test_results_and_breakdowns_have_exactly_their_keys(library: Library, mode: str) -> None:
    found = results(library(FILES, VECTORS).search("cache ttl", "rifflux", mode=mode))
    assert len(found) >= 2
    for item in found:
        assert set(item) == RESULT_KEYS
        assert set(item["score_breakdown"]) == BREAKDOWNS[mode]
        kinds = {name: type(value) for name, value in item.items()}
        assert kinds == {**dict.fromkeys(RESULT_KEYS, str), "chunk_index": int, "score_breakdown": dict}


@pytest.mark.requirement("000-4.4-BODY", "000-VAL-4")
@pytest.mark.parametrize("mode", BREAKDOWNS)
def test_the_body_echoes_the_request_and_counts_its_results(library: Library, mode: str) -> None:
    body = library(FILES, VECTORS).search("cache ttl", "rifflux", mode=mode).body
    assert set(body) == {"query", "mode", "count", "embedding_model", "results"}
    assert (body["query"], body["mode"], body["embedding_model"]) == ("cache ttl", mode, "fixed")
    assert body["count"] == len(body["results"]) > 0


@pytest.mark.requirement("000-4.1", "000-GUD-002")
def test_the_search_service_has_the_printed_signature(library: Library) -> None:
    service = quintet.rifflux(library(FILES, VECTORS))
    parameters = signature(service.search).parameters
    assert list(parameters) == ["query", "top_k", "mode"]
    assert (parameters["top_k"].default, parameters["mode"].default) == (10, "hybrid")
    assert parameters["top_k"].kind is parameters["mode"].kind is Parameter.KEYWORD_ONLY
    found = service.search("cache ttl")
    assert [set(item) for item in found] == [RESULT_KEYS] * 3
    assert all(set(item["score_breakdown"]) == BREAKDOWNS["hybrid"] for item in found)


@pytest.mark.requirement("000-GUD-002")
def test_hybrid_is_the_default_and_ten_the_limit(library: Library) -> None:
    index = library(ladder(25), {})
    response = index.search("word", "rifflux")
    assert response.body["mode"] == "hybrid" and response.body["count"] == 10


@pytest.mark.requirement("000-LEX-001", "000-LEX-002", "000-GUD-001", "000-INF-001")
def test_bm25_is_the_number_that_fts5_gives_raw_and_negative(library: Library) -> None:
    found = results(library(FILES).search("cache ttl", "rifflux", mode="lexical"))
    memory = apsw.Connection(":memory:")
    memory.execute("CREATE VIRTUAL TABLE t USING fts5(content, heading_path, title, path UNINDEXED)")
    for name, text in FILES.items():
        memory.execute("INSERT INTO t VALUES (?, '', ?, ?)", (text, Path(name).stem, name))
    order = "SELECT path, bm25(t) FROM t WHERE t MATCH 'cache OR ttl' ORDER BY bm25(t)"
    expected = list(memory.execute(order))
    shown = [(item["path"], item["score_breakdown"]["bm25"]) for item in found]
    assert [path for path, _ in shown] == [path for path, _ in expected] == ["cache.txt", "notes.txt"]
    assert [bm25 for _, bm25 in shown] == pytest.approx([bm25 for _, bm25 in expected])
    assert all(bm25 < 0 for _, bm25 in shown)


@pytest.mark.requirement("000-SEM-003", "000-PLT-002", "000-AC-002")
def test_cosines_follow_the_formula_and_fall(library: Library) -> None:
    found = results(library(FILES, VECTORS).search("cache ttl", "rifflux", mode="semantic"))
    cosines = [item["score_breakdown"]["cosine"] for item in found]
    query = np.array(VECTORS["cache ttl"])
    stored = [np.array(VECTORS[FILES[name]]) for name in ("notes.txt", "cache.txt", "other.txt")]
    exact = [query @ one / (np.linalg.norm(query) * np.linalg.norm(one)) for one in stored]
    assert cosines == pytest.approx(exact, abs=1e-4)
    assert cosines == sorted(cosines, reverse=True)


@pytest.mark.requirement("000-REQ-006", "000-VAL-6")
@pytest.mark.parametrize(("place", "seen"), [(4, True), (5, False)])
def test_each_leg_brings_twice_top_k_candidates(library: Library, place: int, seen: bool) -> None:
    """In the fourth place of both lists a chunk wins with top_k 2; in the fifth nobody looked."""
    index = library(*same_place_in_both(12, place))
    found = paths(index.search("word", "rifflux", top_k=2))
    assert (found[0] == name_at(place)) is seen
    assert (name_at(place) in found) is seen


@pytest.mark.requirement("000-REQ-007", "000-AC-005", "000-VAL-6")
@pytest.mark.parametrize("mode", BREAKDOWNS)
@pytest.mark.parametrize("top_k", (1, 3, 9, 1000))
def test_no_more_than_top_k_results_come_back(library: Library, mode: str, top_k: int) -> None:
    found = results(library(*same_place_in_both(12, 4)).search("word", "rifflux", mode=mode, top_k=top_k))
    assert len(found) == min(top_k, 12)


@pytest.mark.requirement("000-RRF-002", "000-AC-003", "000-AC-007", "000-RRF-003")
@pytest.mark.parametrize("rrf_k", (60.0, 1.0, 0.0))
def test_hybrid_shows_rrf_and_both_ranks(library: Library, rrf_k: float) -> None:
    found = results(library(FILES, VECTORS).search("cache ttl", "rifflux", rrf_k=rrf_k))
    shown = {item["path"]: item["score_breakdown"] for item in found}
    assert shown == {
        "cache.txt": {"rrf": 1 / (rrf_k + 1) + 1 / (rrf_k + 2), "lexical_rank": 1, "semantic_rank": 2},
        "notes.txt": {"rrf": 1 / (rrf_k + 2) + 1 / (rrf_k + 1), "lexical_rank": 2, "semantic_rank": 1},
        "other.txt": {"rrf": 1 / (rrf_k + 3), "lexical_rank": None, "semantic_rank": 3},
    }
    fused = [item["score_breakdown"]["rrf"] for item in found]
    assert fused == sorted(fused, reverse=True)


def test_of_equal_rrf_scores_the_better_lexical_rank_goes_first(library: Library) -> None:
    files = {"z.txt": "word here", "a.txt": "silent", "b.txt": "quiet"}
    index = library(files, {"word": (1.0, 0.0), "silent": (1.0, 0.0), "quiet": (1.0, 1.0)})
    assert paths(index.search("word", "rifflux", top_k=1)) == ["z.txt"]
    assert paths(index.search("word", "cfs", top_k=2, semantic_k=2)) == ["a.txt", "z.txt"]


@pytest.mark.requirement("000-SEM-001", "000-AC-004", "000-EX-UNAVAILABLE", "000-COVER-3")
@pytest.mark.parametrize("vectors", (None, {"cache ttl": None}))
def test_semantic_mode_without_a_query_embedding_is_empty(library: Library, vectors: object) -> None:
    response = library(FILES, vectors).search("cache ttl", "rifflux", top_k=5, mode="semantic")
    assert response.body["results"] == [] and response.body["count"] == 0
    assert response.status == "degraded" and codes(response) == ["embedder_missing"]


@pytest.mark.requirement("000-EDGE-2")
@pytest.mark.parametrize("vectors", (None, {"cache ttl": None}, {"cache ttl": OSError("no route")}))
def test_hybrid_without_a_query_embedding_is_the_lexical_leg(library: Library, vectors: object) -> None:
    response = library(FILES, vectors).search("cache ttl", "rifflux")
    assert response.body["mode"] == "hybrid" and response.status == "degraded"
    assert [item["score_breakdown"] for item in results(response)] == [
        {"rrf": 1 / (60 + 1), "lexical_rank": 1, "semantic_rank": None},
        {"rrf": 1 / (60 + 2), "lexical_rank": 2, "semantic_rank": None},
    ]


def test_a_failing_embedder_is_told_and_does_not_raise(library: Library) -> None:
    response = library(FILES, {"cache ttl": OSError("no route")}).search("cache ttl", "rifflux")
    assert codes(response) == ["leg_failed"]
    assert "OSError: no route" in response.notes[0]["message"]
    assert response.wire()["notes"] == response.notes and response.wire()["status"] == "degraded"


@pytest.mark.requirement("000-SEM-002", "000-EDGE-5", "000-COVER-3")
def test_a_zero_query_vector_has_cosine_zero_to_everything(library: Library) -> None:
    found = results(library(FILES, {**VECTORS, "ttl": (0.0, 0.0)}).search("ttl", "rifflux", mode="semantic"))
    assert [(item["path"], item["score_breakdown"]) for item in found] == [
        (name, {"cosine": 0.0}) for name in sorted(FILES)
    ]


@pytest.mark.requirement("000-SEM-002")
def test_a_zero_document_vector_has_cosine_zero(library: Library) -> None:
    vectors = {"cache ttl": (1.0, 0.0), FILES["cache.txt"]: (1.0, 0.0)}
    found = results(library(FILES, vectors).search("cache ttl", "rifflux", mode="semantic"))
    assert [item["score_breakdown"]["cosine"] for item in found] == [1.0, 0.0, 0.0]


@pytest.mark.requirement("000-EDGE-5")
def test_in_hybrid_a_zero_query_vector_counts_as_absent(library: Library) -> None:
    response = library(FILES, {**VECTORS, "cache ttl": (0.0, 0.0)}).search("cache ttl", "rifflux")
    assert [item["score_breakdown"]["semantic_rank"] for item in results(response)] == [None, None]
    assert response.status == "ok"


@pytest.mark.requirement("000-EDGE-1")
def test_an_empty_lexical_leg_leaves_the_semantic_order(library: Library) -> None:
    index = library(FILES, {**VECTORS, "zebra": (1.0, 0.0)})
    found = results(index.search("zebra", "rifflux"))
    assert [(item["path"], item["score_breakdown"]) for item in found] == [
        ("notes.txt", {"rrf": 1 / (60 + 1), "lexical_rank": None, "semantic_rank": 1}),
        ("cache.txt", {"rrf": 1 / (60 + 2), "lexical_rank": None, "semantic_rank": 2}),
        ("other.txt", {"rrf": 1 / (60 + 3), "lexical_rank": None, "semantic_rank": 3}),
    ]


@pytest.mark.requirement("000-EDGE-3")
def test_two_empty_legs_give_an_empty_answer(library: Library) -> None:
    response = library(FILES, VECTORS).search("zebra", "rifflux")
    assert (response.body["count"], response.body["results"], response.status) == (0, [], "ok")


@pytest.mark.requirement("000-CON-003", "000-EDGE-4")
def test_a_chunk_in_both_lists_comes_once_with_one_set_of_metadata(library: Library) -> None:
    index = library({"guide.md": "# Cache\n\n## Expiry\n\ncache ttl\n"}, {})
    lexical = results(index.search("ttl", "rifflux", mode="lexical"))
    semantic = results(index.search("ttl", "rifflux", mode="semantic"))
    hybrid = results(index.search("ttl", "rifflux", mode="hybrid"))
    shared = [{key: item[key] for key in RESULT_KEYS - {"score_breakdown"}} for item in hybrid]
    assert len({item["chunk_id"] for item in hybrid}) == len(hybrid)
    for item in (*lexical, *semantic):
        assert {key: item[key] for key in RESULT_KEYS - {"score_breakdown"}} in shared


@pytest.mark.requirement("000-4.2")
def test_a_chunk_tells_its_headings_and_its_place_in_the_file(library: Library) -> None:
    text = "# Cache\n\nintroduction\n\n## Expiry\n\ncache ttl\n"
    found = results(library({"guide.md": text}).search("ttl", "rifflux", mode="lexical"))
    assert [(item["heading_path"], item["chunk_index"]) for item in found] == [("Cache > Expiry", 1)]
    assert "cache ttl" in found[0]["content"]


def test_equal_paths_of_two_roots_both_stay_and_pruning_one_spares_the_other(tmp_path: Path) -> None:
    first = write(tmp_path / "first", {"same.txt": "word one", "gone.txt": "word"})
    second = write(tmp_path / "second", {"same.txt": "word two", "gone.txt": "word"})
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([first, second])
        assert sorted(paths(index.search("word", "rifflux"))) == ["gone.txt"] * 2 + ["same.txt"] * 2
        (first / "gone.txt").unlink()
        index.sync([first])
        assert sorted(paths(index.search("word", "rifflux"))) == ["gone.txt"] + ["same.txt"] * 2
        only = paths(index.search("word", "rifflux", filters={"root": "second"}))
        assert sorted(only) == ["gone.txt", "same.txt"]


def test_an_index_without_all_vectors_says_so(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([write(tmp_path / "shelf", FILES)])
    with quintet.open(tmp_path / "index", embedder=FixedEmbedder(VECTORS)) as index:
        response = index.search("cache ttl", "rifflux")
        assert paths(response) == ["cache.txt", "notes.txt"]
        assert response.notes == [{"code": "partly_embedded", "message": "semantic: 0 of 3 chunks embedded"}]


@pytest.mark.requirement("000-CON-001")
def test_retrieval_knows_nothing_of_any_transport() -> None:
    package = Path(quintet.__file__).parent
    for layer in ("ranking", "contracts", "filters", "query", "storage"):
        for file in (package / layer).rglob("*.py"):
            tree = ast.parse(file.read_text("utf-8"))
            froms = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            plain = {
                one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names
            }
            for module in froms | plain:
                assert not module.startswith(
                    ("mcp", "http", "starlette", "quintet.cli", "quintet.http", "quintet.mcp")
                ), file


@pytest.mark.requirement("000-EXT-001", "000-COM-001")
def test_files_are_the_source_and_stay_as_they_are(tmp_path: Path) -> None:
    shelf = write(tmp_path / "shelf", FILES)
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in shelf.iterdir()}
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([shelf])
        assert paths(index.search("ttl", "rifflux")) == ["cache.txt", "notes.txt"]
    assert {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in shelf.iterdir()} == before
    assert sorted(place.name for place in tmp_path.iterdir()) == ["index", "shelf"]


@pytest.mark.requirement("000-SVC-001")
def test_indexing_and_searching_open_no_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refused)
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([write(tmp_path / "shelf", FILES)])
        assert paths(index.search("cache", "rifflux"))[0] == "cache.txt"


@pytest.mark.requirement("000-INF-001", "000-DAT-001")
def test_the_database_has_fts5_chunks_and_vectors(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", embedder=FixedEmbedder(VECTORS)) as index:
        index.sync([write(tmp_path / "shelf", FILES)])
    with sqlite3.connect(tmp_path / "index" / "index.db") as database:
        schema = dict(database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        assert "USING fts5" in schema["text"]
        assert database.execute("SELECT count(*) FROM chunks").fetchone() == (3,)
        assert database.execute("SELECT count(*) FROM vectors").fetchone() == (3,)
    database.close()


@pytest.mark.requirement("000-PLT-001")
def test_python_from_three_eleven_on_is_asked_for() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["requires-python"] == ">=3.11"
    assert sys.version_info >= (3, 11)
