"""Spec 001 end to end: real files, real SQLite, vectors by hand."""

from pathlib import Path
from typing import Any

import pytest

import quintet
from contracts.conftest import Library
from contracts.fixed import (
    MODIFIED_MS,
    build,
    codes,
    fts5_scores,
    ladder,
    paths,
    results,
    same_place_in_both,
    write,
)
from quintet.contracts import harness
from quintet.errors import UsageError

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
RESULT_KEYS = {
    "document_id",
    "doc_score",
    "snippet",
    "chunk_id",
    "path",
    "title",
    "updated_at",
    "source",
    "metadata",
}
BOOK = "# One\n\nword in the first part\n\n# Two\n\nword word word\n\n# Three\n\nno match here\n"


def _raw(files: dict[str, str], query: str) -> dict[str, float]:
    """`keyword_raw` by path, from a table of nothing but the text of each file."""
    scores = fts5_scores([[text] for text in files.values()], " OR ".join(query.split()))
    return {list(files)[number]: -score for number, score in scores.items()}


def _cosines(index: quintet.Index, query: str) -> dict[str, float]:
    found = results(index.search(query, "rifflux", mode="semantic", top_k=1000))
    return {item["path"]: item["score_breakdown"]["cosine"] for item in found}


def _scaled(scores: dict[str, float]) -> dict[str, float]:
    low, high = min(scores.values()), max(scores.values())
    return {path: (score - low) / (high - low) for path, score in scores.items()}


@pytest.mark.requirement("001-IN-ALPHA", "001-IN-CANDIDATES", "001-IN-LIMIT", "001-IN-GROUP", "001-IN-AGG")
def test_the_defaults_are_the_printed_ones() -> None:
    params = harness.Params()
    assert (params.hybrid_alpha, params.final_limit) == (0.6, 12)
    assert (params.candidate_k_keyword, params.candidate_k_vector) == (80, 80)
    assert (params.group_by, params.doc_agg, params.mode) == ("document", "max", "hybrid")


@pytest.mark.requirement("001-FINAL-METADATA", "001-FINAL-SNIPPET")
@pytest.mark.parametrize("mode", ("keyword", "semantic", "hybrid"))
def test_results_have_exactly_their_keys(library: Library, mode: str) -> None:
    response = library(FILES, VECTORS).search("cache ttl", "harness", mode=mode)
    assert set(response.body) == {"query", "mode", "hybrid_alpha", "results"}
    assert all(set(item) == RESULT_KEYS for item in results(response))
    first = next(item for item in results(response) if item["path"] == "cache.txt")
    assert first["snippet"] == FILES["cache.txt"]
    assert (first["title"], first["source"], first["metadata"]) == ("cache", "shelf", {})
    assert first["updated_at"] == "2023-11-14T22:13:20.000Z"


@pytest.mark.requirement("001-FINAL-METADATA")
def test_front_matter_becomes_the_metadata_of_the_document(library: Library) -> None:
    index = library({"a.md": "---\ntitle: The Book\nauthor: Ada\n---\n\nword\n"})
    (item,) = results(index.search("word", "harness"))
    assert item["title"] == "The Book" and item["metadata"]["author"] == "Ada"


@pytest.mark.requirement("001-STEP-1", "001-STEP-2", "001-CHUNK-SCORE", "001-NORM")
def test_a_document_score_is_the_weighted_sum_of_both_scaled_legs(library: Library) -> None:
    index = library(FILES, VECTORS)
    keyword, vector = _scaled(_raw(FILES, "cache ttl")), _scaled(_cosines(index, "cache ttl"))
    for alpha in (0.25, 0.6, 0.9):
        found = results(index.search("cache ttl", "harness", hybrid_alpha=alpha))
        expected = {
            path: (1 - alpha) * keyword.get(path, 0.0) + alpha * vector.get(path, 0.0) for path in FILES
        }
        assert {item["path"]: item["doc_score"] for item in found} == pytest.approx(expected)
        assert paths(index.search("cache ttl", "harness", hybrid_alpha=alpha)) == sorted(
            FILES, key=lambda path: -expected[path]
        )


@pytest.mark.requirement("001-TERM-CHUNK")
def test_keywords_are_matched_in_chunks_and_results_are_documents(library: Library) -> None:
    index = library({"book.md": BOOK, "leaf.txt": "a word among many other things here"})
    found = results(index.search("word", "harness"))
    assert sorted(item["path"] for item in found) == ["book.md", "leaf.txt"]
    by_chunk = results(index.search("word", "harness", group_by="chunk"))
    assert sorted(item["path"] for item in by_chunk) == ["book.md", "book.md", "leaf.txt"]


@pytest.mark.requirement("001-FINAL-SNIPPET", "001-AGG-MAX")
def test_a_document_is_shown_by_its_best_chunk(library: Library) -> None:
    index = library({"book.md": BOOK, "leaf.txt": "a word among many other things here"})
    book = next(item for item in results(index.search("word", "harness")) if item["path"] == "book.md")
    assert "word word word" in book["snippet"] and book["doc_score"] == (1 - 0.6) * 1.0


@pytest.mark.requirement("001-IN-AGG")
def test_an_average_is_taken_over_candidate_chunks_only(library: Library) -> None:
    index = library({"book.md": BOOK, "leaf.txt": "a word among many other things here"})
    chunks = results(index.search("word", "harness", group_by="chunk"))
    of_book = [item["doc_score"] for item in chunks if item["path"] == "book.md"]
    average = results(index.search("word", "harness", doc_agg="avg"))
    shown = next(item["doc_score"] for item in average if item["path"] == "book.md")
    assert len(of_book) == 2 and shown == pytest.approx(sum(of_book) / 2)


@pytest.mark.requirement("001-STEP-1-TOP", "001-IN-CANDIDATES")
@pytest.mark.parametrize(("candidates", "depth"), [({}, 80), ({"candidate_k_keyword": 13}, 13)])
def test_the_keyword_leg_brings_its_candidates(library: Library, candidates: Any, depth: int) -> None:
    """Min-max gives the deepest candidate away: the second of them scores (s2 - deepest) / (s1 - deepest)."""
    index = library(ladder(100))
    raw = sorted(_raw(ladder(100), "word").values(), reverse=True)
    found = results(index.search("word", "harness", mode="keyword", **candidates))
    assert found[1]["doc_score"] == pytest.approx((raw[1] - raw[depth - 1]) / (raw[0] - raw[depth - 1]))


@pytest.mark.requirement("001-STEP-2-TOP", "001-IN-CANDIDATES")
@pytest.mark.parametrize(("candidates", "depth"), [({}, 80), ({"candidate_k_vector": 13}, 13)])
def test_the_vector_leg_brings_its_candidates(library: Library, candidates: Any, depth: int) -> None:
    index = library(*same_place_in_both(100, 1))
    raw = sorted(_cosines(index, "word").values(), reverse=True)
    found = results(index.search("word", "harness", mode="semantic", **candidates))
    assert found[1]["doc_score"] == pytest.approx((raw[1] - raw[depth - 1]) / (raw[0] - raw[depth - 1]))


@pytest.mark.requirement("001-FINAL-LIMIT", "001-IN-LIMIT", "001-EDGE-SMALL")
def test_as_many_documents_as_the_limit_says_or_all_there_are(library: Library) -> None:
    index = library(ladder(15))
    assert len(results(index.search("word", "harness"))) == 12
    assert len(results(index.search("word", "harness", final_limit=3))) == 3
    assert len(results(index.search("word", "harness", limit=80))) == 15


@pytest.mark.requirement("001-IN-AT-LEAST")
@pytest.mark.parametrize("name", ("candidate_k_keyword", "candidate_k_vector"))
def test_fewer_candidates_than_results_is_an_error_naming_both(library: Library, name: str) -> None:
    with pytest.raises(UsageError) as error:
        library(FILES).search("ttl", "harness", final_limit=10, **{name: 9})
    assert error.value.code == "invalid_parameter" and error.value.details == {"parameter": name}
    expected = f"{name} is 9 and final_limit is 10; {name} must not be smaller than final_limit"
    assert error.value.message == expected


@pytest.mark.requirement("001-IN-CLAMP")
@pytest.mark.parametrize(("given", "used"), [(1.5, 1.0), (-3, 0.0)])
def test_alpha_is_clamped_and_that_is_told(library: Library, given: float, used: float) -> None:
    index = library(FILES, VECTORS)
    response = index.search("cache ttl", "harness", hybrid_alpha=given)
    assert response.body == index.search("cache ttl", "harness", hybrid_alpha=used).body
    assert response.body["hybrid_alpha"] == used
    message = f"hybrid_alpha {given:g} was clamped to {used:g}; it lies between 0 and 1"
    assert response.notes == [{"code": "alpha_clamped", "message": message}]


@pytest.mark.requirement("001-V2", "001-V3")
@pytest.mark.parametrize(("alpha", "mode"), [(1.0, "semantic"), (0.0, "keyword")])
def test_at_an_extreme_alpha_one_leg_alone_orders(library: Library, alpha: float, mode: str) -> None:
    index = library(FILES, VECTORS)
    alone = paths(index.search("cache ttl", "harness", mode=mode))
    hybrid = paths(index.search("cache ttl", "harness", hybrid_alpha=alpha))
    assert hybrid[: len(alone)] == alone
    assert index.search("cache ttl", "harness", mode=mode).body["hybrid_alpha"] == alpha


@pytest.mark.requirement("001-V2", "001-V3")
@pytest.mark.parametrize(("alpha", "mode"), [(1.0, "semantic"), (0.0, "keyword")])
def test_an_average_at_an_extreme_alpha_is_that_of_the_leading_leg(
    library: Library, alpha: float, mode: str
) -> None:
    """Each leg finds a chunk of the book that the other does not, which must not count as a match of 0.0."""
    files = {"book.md": BOOK, "leaf.txt": "a word among many other things here"}
    vectors = {
        "word": (1.0, 0.0),
        "Two\n# Two\n\nword word word": (1.0, 0.1),
        "Three\n# Three\n\nno match here": (1.0, 0.2),
        files["leaf.txt"]: (1.0, 0.3),
    }
    index = library(files, vectors)
    asked = {"doc_agg": "avg", "candidate_k_vector": 3, "final_limit": 3}
    alone = results(index.search("word", "harness", mode=mode, **asked))
    hybrid = results(index.search("word", "harness", hybrid_alpha=alpha, **asked))
    assert [item["path"] for item in alone] == ["book.md", "leaf.txt"]
    assert hybrid == alone


@pytest.mark.requirement("001-TIE-NEWER")
@pytest.mark.parametrize("alpha", (0.5, 1.0))
def test_equal_averages_go_by_time_at_every_alpha(tmp_path: Path, alpha: float) -> None:
    files = {"old.md": "# One\n\nalpha\n\n# Two\n\nbeta\n", "new.txt": "gamma"}
    vectors = {
        "word": (1.0, 0.0),
        "One\n# One\n\nalpha": (1.0, 0.0),
        "Two\n# Two\n\nbeta": (-1.0, 0.0),
        "gamma": (0.0, 1.0),
    }
    with build(tmp_path, files, vectors, {"new.txt": MODIFIED_MS + 1}) as index:
        found = results(index.search("word", "harness", hybrid_alpha=alpha, doc_agg="avg"))
    assert [(item["path"], item["doc_score"]) for item in found] == [
        ("new.txt", alpha * 0.5),
        ("old.md", alpha * 0.5),
    ]


@pytest.mark.requirement("001-TIE-NEWER", "001-TIE-ID", "001-V4")
def test_equal_documents_go_by_time_then_by_id(tmp_path: Path) -> None:
    files = dict.fromkeys(("a.txt", "b.txt", "c.txt", "d.txt"), "the same words")
    with build(tmp_path, files, None, {"c.txt": MODIFIED_MS + 1}) as index:
        found = results(index.search("words", "harness"))
        assert [item["doc_score"] for item in found] == [(1 - 0.6) * 1.0] * 4
        assert found[0]["path"] == "c.txt"
        rest = [item["document_id"] for item in found[1:]]
        assert rest == sorted(rest)
        assert results(index.search("words", "harness")) == found


@pytest.mark.requirement("001-EDGE-NO-KEYWORD", "001-V5")
def test_without_a_keyword_hit_vectors_rank_alone(library: Library) -> None:
    index = library(FILES, {**VECTORS, "zebra": (1.0, 0.0)})
    found = results(index.search("zebra", "harness"))
    assert [item["path"] for item in found] == ["notes.txt", "cache.txt", "other.txt"]
    assert found[0]["doc_score"] == 0.6 * 1.0


@pytest.mark.requirement("001-EDGE-NO-VECTOR", "001-V5")
@pytest.mark.parametrize(
    "vectors", (None, {"cache ttl": None}, {"cache ttl": (0.0, 0.0)}, {"cache ttl": OSError("down")})
)
@pytest.mark.parametrize("alpha", (0.6, 1.0))
def test_without_a_vector_hit_keywords_rank_alone(library: Library, vectors: Any, alpha: float) -> None:
    response = library(FILES, vectors).search("cache ttl", "harness", hybrid_alpha=alpha)
    assert paths(response) == ["cache.txt", "notes.txt"]
    assert results(response)[0]["doc_score"] == (1 - alpha) * 1.0


@pytest.mark.requirement("001-EDGE-BOTH-EMPTY")
def test_two_empty_legs_give_no_documents(library: Library) -> None:
    response = library(FILES, VECTORS).search("zebra", "harness")
    assert response.body["results"] == [] and response.status == "ok"


def test_semantic_mode_without_an_embedding_is_empty_and_says_so(library: Library) -> None:
    response = library(FILES).search("ttl", "harness", mode="semantic")
    assert (response.body["results"], response.status) == ([], "degraded")
    assert codes(response) == ["embedder_missing"]


@pytest.mark.requirement("001-NORM-FLAT")
def test_a_zero_query_vector_is_equally_like_every_document(library: Library) -> None:
    """Every cosine is 0.0, and equal scores are all 1.0 by the specification's own rule."""
    found = results(library(FILES, {**VECTORS, "ttl": (0.0, 0.0)}).search("ttl", "harness", mode="semantic"))
    assert [item["doc_score"] for item in found] == [1.0, 1.0, 1.0]


@pytest.mark.requirement("001-IN-TABLE")
def test_the_printed_retrieval_table_is_read_from_the_settings_file(tmp_path: Path) -> None:
    (tmp_path / "quintet.toml").write_text(
        "[retrieval]\nhybrid_alpha = 0.25\ncandidate_k_keyword = 7\ncandidate_k_vector = 8\n"
        'final_limit = 2\ngroup_by = "document"\ndoc_agg = "max"\n'
    )
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([write(tmp_path / "shelf", ladder(5))])
        response = index.search("word", "harness")
        assert response.body["hybrid_alpha"] == 0.25 and len(results(response)) == 2
        assert len(results(index.search("word", "harness", final_limit=4))) == 4
        with pytest.raises(UsageError, match="candidate_k_keyword is 7 and final_limit is 9"):
            index.search("word", "harness", final_limit=9)


@pytest.mark.requirement("001-FINAL-SCORE", "001-V1")
@pytest.mark.parametrize("alpha", (0.0, 0.1, 0.5, 0.7, 1.0))
@pytest.mark.parametrize("aggregate", ("max", "avg"))
def test_document_scores_stay_between_zero_and_one(library: Library, alpha: float, aggregate: str) -> None:
    index = library(*same_place_in_both(20, 3))
    found = results(index.search("word", "harness", hybrid_alpha=alpha, doc_agg=aggregate))
    assert len(found) == 12 and all(0.0 <= item["doc_score"] <= 1.0 for item in found)
