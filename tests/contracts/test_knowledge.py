"""Spec 003 end to end: real files, real SQLite, vectors by hand."""

import json
from typing import Any

import pytest

import quintet
from contracts.conftest import Library
from contracts.fixed import codes, ladder, paths, results, same_place_in_both
from quintet.contracts import knowledge
from quintet.errors import NotFound, UsageError
from quintet.ports.reading import TextIndex, VectorIndex

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
CALL_KEYS = {"index", "query", "top_k", "search_method", "query_preprocessing", "result_count", "results"}
ITEM_KEYS = {"id", "text", "metadata", "relevance_score", "relevance_kind", "score", "score_kind"}
BUILT_IN = {
    "knowledge_base_id",
    "document_id",
    "chunk_index",
    "title",
    "source_type",
    "source_name",
    "uri",
    "source_id",
    "source_path",
    "managed_by_source",
}
KINDS = {
    "semantic": ("cosine", "similarity"),
    "keyword": ("bm25", "keyword_score"),
    "hybrid": ("hybrid_score", "hybrid_score"),
}


def _call(response: quintet.Response) -> dict[str, Any]:
    body: Any = response.body
    assert set(body) == {"retrieval_calls"}
    (call,) = body["retrieval_calls"]
    return dict(call)


@pytest.mark.requirement("003-DEF-TOP-K", "003-DEF-METHOD", "003-DEF-PREPROCESSING", "003-REQ-TOP-K")
def test_five_semantic_results_of_the_plain_query_are_the_default(library: Library) -> None:
    call = _call(library(*same_place_in_both(12, 1)).search("word", "knowledge"))
    assert (call["top_k"], call["search_method"], call["query_preprocessing"]) == (5, "semantic", "none")
    assert call["result_count"] == len(call["results"]) == 5


@pytest.mark.requirement("003-DEF-ALPHA", "003-CALL-ALPHA", "003-REQ-ALPHA")
def test_alpha_is_one_half_and_only_hybrid_has_it(library: Library) -> None:
    index = library(FILES, VECTORS)
    for method in ("semantic", "keyword"):
        assert "hybrid_alpha" not in _call(index.search("cache ttl", "knowledge", search_method=method))
    hybrid = index.search("cache ttl", "knowledge", search_method="hybrid")
    assert _call(hybrid)["hybrid_alpha"] == 0.5
    set_by_hand = index.search("cache ttl", "knowledge", search_method="hybrid", hybrid_alpha=0)
    assert _call(set_by_hand)["hybrid_alpha"] == 0.0


@pytest.mark.requirement("003-REQ-ALPHA")
@pytest.mark.parametrize("method", ("semantic", "keyword"))
def test_alpha_without_hybrid_is_ignored_with_a_note(library: Library, method: str) -> None:
    index = library(FILES, VECTORS)
    response = index.search("cache ttl", "knowledge", search_method=method, hybrid_alpha=0.9)
    assert response.body == index.search("cache ttl", "knowledge", search_method=method).body
    message = f"hybrid_alpha has no meaning in {method} search and was ignored"
    assert response.notes == [{"code": "alpha_ignored", "message": message}]


@pytest.mark.requirement("003-CALL-INDEX", "003-CALL-QUERY", "003-CALL-TOP-K", "003-CALL-METHOD")
@pytest.mark.requirement("003-CALL-PREPROCESSING", "003-CALL-COUNT", "003-OWN-ENGINE-EMISSION")
@pytest.mark.parametrize("method", KINDS)
def test_a_call_tells_its_request_and_its_count(library: Library, method: str) -> None:
    call = _call(library(FILES, VECTORS).search("cache ttl", "knowledge", search_method=method, top_k=2))
    assert set(call) == (CALL_KEYS | {"hybrid_alpha"} if method == "hybrid" else CALL_KEYS)
    assert (call["index"], call["query"], call["top_k"]) == ("default", "cache ttl", 2)
    assert (call["search_method"], call["query_preprocessing"]) == (method, "none")
    assert call["result_count"] == len(call["results"]) == 2


@pytest.mark.requirement("003-ITEM-ID", "003-ITEM-TEXT", "003-ITEM-METADATA", "003-ITEM-RELEVANCE-SCORE")
@pytest.mark.requirement("003-ITEM-RELEVANCE-KIND", "003-ITEM-COMPONENTS", "003-ITEM-SCORE")
@pytest.mark.requirement("003-ITEM-SCORE-KIND", "003-KIND-SIMILARITY", "003-KIND-KEYWORD", "003-KIND-HYBRID")
@pytest.mark.parametrize("method", KINDS)
def test_items_have_exactly_their_keys_and_kinds(library: Library, method: str) -> None:
    found = results(library(FILES, VECTORS).search("cache ttl", "knowledge", search_method=method))
    assert len(found) >= 2
    for item in found:
        assert set(item) == (ITEM_KEYS | {"relevance_components"} if method == "hybrid" else ITEM_KEYS)
        assert (item["score_kind"], item["relevance_kind"]) == KINDS[method]
        assert item["text"] == FILES[item["metadata"]["source_path"]]


@pytest.mark.requirement(
    "003-META-KNOWLEDGE-BASE-ID",
    "003-META-DOCUMENT-ID",
    "003-META-CHUNK-INDEX",
    "003-META-TITLE",
    "003-META-SOURCE-TYPE",
    "003-META-SOURCE-NAME",
    "003-META-URI",
    "003-META-SOURCE-ID",
    "003-META-SOURCE-PATH",
    "003-META-MANAGED-BY-SOURCE",
)
def test_every_chunk_carries_the_built_in_metadata(library: Library) -> None:
    index = library({"docs/a.md": "---\ncolour: red\n---\n\n# First\n\nalpha\n\n# Second\n\nword\n"})
    (item,) = results(index.search("word", "knowledge", search_method="keyword"))
    metadata = item["metadata"]
    document_id = results(index.search("word", "harness"))[0]["document_id"]
    assert set(metadata) == BUILT_IN | {"colour"}
    assert metadata == {
        "colour": "red",
        "knowledge_base_id": "default",
        "document_id": document_id,
        "chunk_index": 1,
        "title": "First",
        "source_type": "file",
        "source_name": "shelf",
        "uri": "docs/a.md",
        "source_id": "shelf",
        "source_path": "docs/a.md",
        "managed_by_source": True,
    }


@pytest.mark.requirement("003-META-RESERVED")
def test_front_matter_cannot_take_the_name_of_a_built_in_field(library: Library) -> None:
    index = library({"a.md": "---\nsource_path: elsewhere\nchunk_index: 99\n---\n\nword\n"})
    (item,) = results(index.search("word", "knowledge", search_method="keyword"))
    assert (item["metadata"]["source_path"], item["metadata"]["chunk_index"]) == ("a.md", 0)


@pytest.mark.requirement("003-SEM-EMBEDDINGS", "003-SEM-RELEVANCE", "003-KIND-SIMILARITY")
def test_semantic_relevance_is_the_similarity_never_below_zero(library: Library) -> None:
    found = results(library(FILES, VECTORS).search("cache ttl", "knowledge"))
    assert [item["metadata"]["uri"] for item in found] == ["notes.txt", "cache.txt", "other.txt"]
    assert [item["score"] for item in found] == pytest.approx([0.8, 0.6, -1.0], abs=1e-4)
    assert [item["relevance_score"] for item in found] == [max(0.0, item["score"]) for item in found]


@pytest.mark.requirement("003-KEY-NO-EMBEDDINGS", "003-KEY-RELEVANCE", "003-OWN-PROVIDER-SCORES")
def test_keyword_search_needs_no_embedder_and_shows_bm25(library: Library) -> None:
    response = library(FILES).search("cache ttl", "knowledge", search_method="keyword")
    found = results(response)
    assert response.status == "ok" and paths(response) == ["cache.txt", "notes.txt"]
    assert all(item["score"] < 0 and item["relevance_score"] == -item["score"] for item in found)


@pytest.mark.requirement("003-SEM-EMBEDDINGS")
@pytest.mark.parametrize("vectors", (None, {"cache ttl": None}, {"cache ttl": OSError("down")}))
def test_semantic_search_without_embeddings_is_an_error(library: Library, vectors: Any) -> None:
    with pytest.raises(UsageError, match="semantic search needs embeddings") as error:
        library(FILES, vectors).search("cache ttl", "knowledge")
    assert error.value.code == "embeddings_unavailable"


@pytest.mark.parametrize("vectors", (None, {"cache ttl": None}, {"cache ttl": OSError("down")}))
def test_hybrid_without_embeddings_is_the_keyword_branch(library: Library, vectors: Any) -> None:
    response = library(FILES, vectors).search("cache ttl", "knowledge", search_method="hybrid")
    assert response.status == "degraded" and len(response.notes) == 1
    assert [item["relevance_components"] for item in results(response)] == [
        {"semantic_score": 0.0, "keyword_score": 1.0},
        {"semantic_score": 0.0, "keyword_score": 0.0},
    ]
    assert [item["score"] for item in results(response)] == [0.5 * 1.0, 0.0]


def test_a_zero_query_vector_is_like_nothing_in_semantic_and_absent_in_hybrid(library: Library) -> None:
    index = library(FILES, {**VECTORS, "cache ttl": (0.0, 0.0)})
    assert [item["score"] for item in results(index.search("cache ttl", "knowledge"))] == [0.0] * 3
    hybrid = results(index.search("cache ttl", "knowledge", search_method="hybrid"))
    assert [item["metadata"]["uri"] for item in hybrid] == ["cache.txt", "notes.txt"]


@pytest.mark.requirement("003-HYB-RELEVANCE", "003-HYB-COMPONENTS", "003-FUSE-FORMULA", "003-COMP-SEMANTIC")
@pytest.mark.requirement("003-COMP-KEYWORD", "003-KIND-HYBRID", "003-OWN-ENGINE-FUSION")
@pytest.mark.parametrize("alpha", (0.0, 0.3, 0.5, 1.0))
def test_hybrid_relevance_is_made_of_the_components_shown(library: Library, alpha: float) -> None:
    index = library(FILES, VECTORS)
    found = results(index.search("cache ttl", "knowledge", search_method="hybrid", hybrid_alpha=alpha))
    for item in found:
        parts = item["relevance_components"]
        assert set(parts) == {"semantic_score", "keyword_score"}
        fused = alpha * parts["semantic_score"] + (1 - alpha) * parts["keyword_score"]
        assert item["relevance_score"] == item["score"] == fused
    shown = {item["metadata"]["uri"]: item["relevance_components"] for item in found}
    assert shown["cache.txt"]["keyword_score"] == 1.0 and shown["notes.txt"]["keyword_score"] == 0.0
    assert shown["notes.txt"]["semantic_score"] == pytest.approx(0.8, abs=1e-4)
    assert shown["other.txt"] == {"semantic_score": 0.0, "keyword_score": 0.0}


@pytest.mark.requirement("003-FUSE-FORMULA", "003-FUSE-MINMAX", "003-FUSE-SIMILARITY")
def test_the_worked_vector_holds_over_a_real_index(library: Library) -> None:
    """d1 by vectors alone, d2 by both, d3 by text alone: .45, .8 and 0."""
    files = {"d1.txt": "silent", "d2.txt": "word", "d3.txt": "word in a longer text"}
    spread = {"silent": (0.9, 0.19**0.5), "word": (0.6, 0.8), "?word": (1.0, 0.0)}
    index = library(files, {**spread, files["d3.txt"]: (0.0, 1.0)})
    found = results(index.search("?word", "knowledge", search_method="hybrid"))
    assert [item["metadata"]["uri"] for item in found] == ["d2.txt", "d1.txt", "d3.txt"]
    expected = [0.5 * 0.6 + 0.5 * 1.0, 0.5 * 0.9, 0.0]
    assert [item["relevance_score"] for item in found] == pytest.approx(expected, abs=1e-4)


@pytest.mark.requirement("003-FUSE-FLAT")
def test_equal_keyword_scores_all_count_one(library: Library) -> None:
    index = library({"a.txt": "word one", "b.txt": "word two"})
    found = results(index.search("word", "knowledge", search_method="hybrid"))
    assert [item["relevance_components"]["keyword_score"] for item in found] == [1.0, 1.0]


@pytest.mark.requirement("003-FUSE-OVERFETCH")
@pytest.mark.parametrize(("top_k", "depth"), [(2, 10), (5, 15), (17, 50), (60, 60)])
def test_hybrid_over_fetches_both_branches(library: Library, top_k: int, depth: int) -> None:
    """Min-max gives the deepest keyword candidate away."""
    assert knowledge.OVER_FETCH.depth(top_k) == max(top_k, min(max(3 * top_k, 10), 50)) == depth
    index = library(ladder(70))
    raw = [
        item["relevance_score"]
        for item in results(index.search("word", "knowledge", search_method="keyword", top_k=70))
    ]
    found = results(index.search("word", "knowledge", search_method="hybrid", top_k=top_k))
    assert found[1]["relevance_components"]["keyword_score"] == pytest.approx(
        (raw[1] - raw[depth - 1]) / (raw[0] - raw[depth - 1])
    )
    assert len(found) == top_k


@pytest.mark.requirement(
    "003-REQ-QUERY", "003-REQ-PREPROCESSING", "003-FUSE-ONCE", "003-OWN-ENGINE-NORMALISE"
)
def test_both_branches_get_the_normalised_query_which_is_echoed(library: Library) -> None:
    index = library(FILES, VECTORS)
    raw, clean = "  CACHE, ｔｔｌ?! ", "cache ttl"
    for method in KINDS:
        asked = {"search_method": method, "query_preprocessing": "normalize"}
        response = index.search(raw, "knowledge", **asked)
        assert _call(response) == _call(index.search(clean, "knowledge", **asked))
        assert _call(response)["query"] == clean
    assert _call(index.search(raw, "knowledge", search_method="keyword"))["query"] == raw


@pytest.mark.requirement("003-REQ-PREPROCESSING")
def test_a_query_without_letters_is_an_error_once_normalised(library: Library) -> None:
    index = library(FILES, VECTORS)
    with pytest.raises(UsageError, match="has no letter or digit") as error:
        index.search("?!…", "knowledge", query_preprocessing="normalize")
    assert error.value.code == "bad_query"


@pytest.mark.requirement("003-REQ-INDEX")
def test_the_index_of_all_folders_is_called_default(library: Library) -> None:
    index = library(FILES, VECTORS)
    assert (
        index.search("cache ttl", "knowledge", index="default").body
        == index.search("cache ttl", "knowledge").body
    )
    with pytest.raises(NotFound, match="there is no knowledge base 'kb_product_docs'") as error:
        index.search("cache ttl", "knowledge", index="kb_product_docs")
    assert error.value.code == "unknown_index"


@pytest.mark.requirement("003-REQ-METHOD", "003-REQ-ALPHA", "003-REQ-TOP-K", "003-REQ-PREPROCESSING")
@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ({"top_k": 0}, "invalid_top_k", "top_k is 0; it must be a whole number from 1 to 1000"),
        (
            {"search_method": "magic"},
            "invalid_search_method",
            "search_method is 'magic'; it must be one of semantic, keyword, hybrid",
        ),
        (
            {"query_preprocessing": "stem"},
            "invalid_query_preprocessing",
            "query_preprocessing is 'stem'; it must be one of none, normalize",
        ),
        (
            {"hybrid_alpha": 1.1},
            "invalid_hybrid_alpha",
            "hybrid_alpha is 1.1; it must be a number from 0 to 1",
        ),
        ({"index": " "}, "invalid_parameter", "index is ' '; it must be the name of a knowledge base"),
    ],
)
def test_bad_parameters_have_codes_of_their_own(
    library: Library, given: dict[str, Any], code: str, message: str
) -> None:
    with pytest.raises(UsageError) as error:
        library(FILES).search("ttl", "knowledge", **given)
    assert (error.value.code, error.value.message) == (code, message)


@pytest.mark.requirement("003-REQ-FILTERS", "003-FILTER-BUILT-IN")
def test_filters_match_every_built_in_field_exactly(library: Library) -> None:
    index = library({"docs/a.md": "# Guide\n\nword\n", "b.txt": "word"})
    (wanted,) = results(
        index.search("word", "knowledge", search_method="keyword", filters={"source_path": "docs/a.md"})
    )
    for name, value in wanted["metadata"].items():
        shared = name not in ("document_id", "title", "uri", "source_path")
        found = results(index.search("word", "knowledge", search_method="keyword", filters={name: value}))
        assert (wanted in found or name == "chunk_index") and (len(found) == 2) is shared, name
    everything = {name: wanted["metadata"][name] for name in BUILT_IN}
    both = results(index.search("word", "knowledge", search_method="keyword", filters=everything))
    assert [item["id"] for item in both] == [wanted["id"]]


@pytest.mark.requirement("003-REQ-FILTERS")
@pytest.mark.parametrize("method", KINDS)
def test_filters_apply_before_retrieval_on_both_branches(library: Library, method: str) -> None:
    index = library(*same_place_in_both(60, 60))
    asked = {"search_method": method, "top_k": 1, "filters": {"uri": "f059.txt"}}
    assert paths(index.search("word", "knowledge", **asked)) == ["f059.txt"]


@pytest.mark.requirement("003-REQ-FILTERS")
@pytest.mark.parametrize(
    "filters",
    (
        {"colour": ["red"]},
        {"": "red"},
        {"page_number": "3"},
        {"page_number": True},
        {"managed_by_source": 1},
        {"title": ["x"]},
        [],
    ),
)
def test_a_filter_that_means_nothing_is_refused(library: Library, filters: object) -> None:
    with pytest.raises(UsageError) as error:
        library(FILES).search("ttl", "knowledge", search_method="keyword", filters=filters)
    assert error.value.code == "invalid_filter"


@pytest.mark.requirement("003-REQ-FILTERS")
@pytest.mark.parametrize("method", ("keyword", "semantic", "hybrid"))
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"author": "Ada"}, ["a.md"]),
        ({"author": "Ada", "draft": False}, ["a.md"]),
        ({"author": "Ada", "draft": True}, []),
        ({"year": 1843}, ["a.md"]),
        ({"year": 1844}, []),
        ({"tags": "engine"}, ["a.md", "b.md"]),
        ({"tags": "engine", "source_path": "b.md"}, ["b.md"]),
        ({"title": "Notes"}, ["b.md"]),
        ({"colour": "red"}, []),
    ],
)
def test_every_field_of_front_matter_is_a_filter_by_the_name_it_has_in_the_metadata(
    library: Library, method: str, filters: Any, expected: list[str]
) -> None:
    """Of a list, any element; a built-in name is the built-in field."""
    files = {
        "a.md": "---\nauthor: Ada\nyear: 1843\ndraft: false\ntags: [engine, notes]\n---\n\nthe ttl of it\n",
        "b.md": "---\nauthor: Charles\ntitle: Notes\ntags: engine\n---\n\nmore of the ttl\n",
    }
    vectors = {"ttl": (1.0, 0.0), "the ttl of it": (1.0, 0.1), "more of the ttl": (1.0, 0.2)}
    response = library(files, vectors).search("ttl", "knowledge", search_method=method, filters=filters)
    assert sorted(paths(response)) == expected
    assert ("nothing_passes" in codes(response)) == (not expected)


@pytest.mark.requirement("003-EXAMPLE-REQUEST", "003-EXAMPLE-RESULT")
def test_the_printed_request_gets_an_answer_of_the_printed_shape(library: Library) -> None:
    files = {"a.txt": "Hybrid retrieval blends semantic recall with lexical precision."}
    index = library(files, {"how does retrieval work": (1.0, 0.5), files["a.txt"]: (1.0, 0.0)})
    request = {
        "query": "How does retrieval work?",
        "top_k": 5,
        "filters": {},
        "search_method": "hybrid",
        "query_preprocessing": "normalize",
        "hybrid_alpha": 0.5,
    }
    call = _call(index.search(contract="knowledge", **request))  # type: ignore[arg-type]
    assert call["query"] == "how does retrieval work" and call["result_count"] == 1
    (item,) = call["results"]
    semantic = item["relevance_components"]["semantic_score"]
    assert semantic == pytest.approx(1 / (1 + 0.5**2) ** 0.5, abs=1e-4)
    assert item["relevance_score"] == 0.5 * semantic + 0.5 * 1.0
    assert json.loads(json.dumps(call)) == call


@pytest.mark.requirement("003-EXECUTION-SCOPED")
def test_nothing_of_one_request_reaches_the_next(library: Library) -> None:
    index = library(FILES, VECTORS)
    before = index.search("cache ttl", "knowledge").body
    index.search("TTL!", "knowledge", search_method="hybrid", query_preprocessing="normalize", top_k=1)
    assert index.search("cache ttl", "knowledge").body == before


@pytest.mark.requirement("003-HYB-OWN-LOGIC", "003-OWN-ENGINE-BRANCHES", "003-OWN-PROVIDER-QUERIES")
@pytest.mark.requirement("003-OWN-PROVIDER-NO-HYBRID", "003-NO-NATIVE-HYBRID")
def test_a_store_answers_one_signal_at_a_time(library: Library) -> None:
    """Neither port knows of the other, so fusion can only happen in the engine."""
    for port in (TextIndex, VectorIndex):
        assert not [name for name in vars(port) if "hybrid" in name or "fuse" in name]
    index = library(FILES, VECTORS)
    hybrid = {path_and_parts(item) for item in results(index.search("cache ttl", "knowledge", mode="hybrid"))}
    semantic = results(index.search("cache ttl", "knowledge", mode="semantic"))
    assert {(item["metadata"]["uri"], item["relevance_score"]) for item in semantic} == hybrid


def path_and_parts(item: dict[str, Any]) -> tuple[str, float]:
    return item["metadata"]["uri"], item["relevance_components"]["semantic_score"]


def test_ties_are_broken_by_id(library: Library) -> None:
    index = library(dict.fromkeys(("c.txt", "a.txt", "b.txt"), "the same words"))
    found = [item["id"] for item in results(index.search("words", "knowledge", mode="keyword"))]
    assert found == sorted(found) and len(found) == 3


def test_no_note_is_made_of_a_plain_search(library: Library) -> None:
    assert codes(library(FILES, VECTORS).search("cache ttl", "knowledge")) == []
