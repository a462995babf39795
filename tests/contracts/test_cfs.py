"""Spec 004 end to end: real files, real SQLite, vectors by hand."""

from typing import Any

import numpy as np
import pytest

from contracts.conftest import Library
from contracts.fixed import (
    MODIFIED_MS,
    circle,
    codes,
    ladder,
    name_at,
    path_of,
    paths,
    results,
    same_place_in_both,
)
from quintet.contracts import cfs
from quintet.contracts.stop_words import STOP_WORDS
from quintet.model.vector import SCALE, cosine, cosines, dots, quantise

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
MODES = ("lexical", "semantic", "hybrid")


@pytest.mark.requirement("004-S5-RESULT")
@pytest.mark.parametrize("mode", MODES)
def test_a_result_is_a_chunk_its_document_and_a_score(library: Library, mode: str) -> None:
    response = library(FILES, VECTORS).search("cache ttl", "cfs", mode=mode)
    assert set(response.body) == {"query", "mode", "results"}
    assert (response.body["query"], response.body["mode"]) == ("cache ttl", mode)
    for item in results(response):
        assert set(item) == {"chunk", "document", "score"}
        assert set(item["chunk"]) == {"id", "text", "sequence", "document_id"}
        assert set(item["document"]) == {"id", "path", "mime_type", "modified_ms"}
        assert item["chunk"]["document_id"] == item["document"]["id"]
        assert item["chunk"]["text"] == FILES[item["document"]["path"]]
        assert item["document"]["mime_type"] == "text/plain"
        assert item["document"]["modified_ms"] == MODIFIED_MS


@pytest.mark.requirement("004-S1", "004-S5-STEPS", "004-S7-HYBRID", "004-S4-FORMULA")
def test_hybrid_is_the_default_and_fuses_both_legs(library: Library) -> None:
    response = library(FILES, VECTORS).search("cache ttl", "cfs")
    assert response.body["mode"] == "hybrid"
    assert [(item["document"]["path"], item["score"]) for item in results(response)] == [
        ("cache.txt", 1 / (60 + 1 + 1) + 1 / (60 + 0 + 1)),
        ("notes.txt", 1 / (60 + 0 + 1) + 1 / (60 + 1 + 1)),
        ("other.txt", 1 / (60 + 2 + 1)),
    ]


@pytest.mark.requirement("004-S5-SEMANTIC-K", "004-S5-LEXICAL-K", "004-HNSW-K")
@pytest.mark.parametrize(("place", "seen"), [(20, True), (21, False)])
def test_each_leg_brings_twenty_candidates(library: Library, place: int, seen: bool) -> None:
    index = library(*same_place_in_both(45, place))
    found = paths(index.search("word", "cfs"))
    assert (found[0] == name_at(place)) is seen and (name_at(place) in found) is seen


@pytest.mark.requirement("004-S5-SEMANTIC-K", "004-S5-LEXICAL-K", "004-S5-RRF-K", "004-S5-TOP-K")
def test_the_search_parameters_are_the_printed_ones() -> None:
    params = cfs.Params()
    assert (params.semantic_k, params.lexical_k, params.rrf_k, params.top_k) == (20, 20, 60.0, 10)


@pytest.mark.requirement("004-S5-SEMANTIC-K", "004-S5-LEXICAL-K", "004-HNSW-K")
def test_each_leg_alone_brings_twenty_candidates_into_a_hybrid_search(library: Library) -> None:
    by_words = library(ladder(45))
    assert paths(by_words.search("word", "cfs", top_k=45)) == [name_at(place) for place in range(1, 21)]
    files = ladder(45)
    vectors = circle(list(files.values())) | {"meant": (1.0, 0.0), "word": (100.0, 1.0)}
    by_meaning = library(files, vectors)
    found = by_meaning.search("meant", "cfs", top_k=45)
    assert paths(found) == [name_at(place) for place in range(1, 21)]


@pytest.mark.requirement("004-P3-DIVERSITY")
def test_a_hybrid_page_covers_what_words_and_what_meaning_find(library: Library) -> None:
    """Two aspects of a query: ten files hold its word, others lie where its vector lies."""
    words = {f"word{number}.txt": "harbour" + " pad" * number for number in range(1, 11)}
    meant = {f"mean{number}.txt": f"a place for boats {number}" for number in range(1, 26)}
    vectors = {text: (1.0, 0.01 * number) for number, text in enumerate(meant.values())}
    vectors |= dict.fromkeys(words.values(), (0.0, 1.0))
    index = library({**words, **meant}, {**vectors, "harbour": (1.0, 0.0)})
    found = {mode: [path[:4] for path in paths(index.search("harbour", "cfs", mode=mode))] for mode in MODES}
    assert found["lexical"] == ["word"] * 10 and found["semantic"] == ["mean"] * 10
    assert sorted(found["hybrid"]) == ["mean"] * 5 + ["word"] * 5


@pytest.mark.requirement("004-S5-SEMANTIC-K", "004-S5-LEXICAL-K")
@pytest.mark.parametrize(("depth", "seen"), [(4, True), (3, False)])
def test_the_depth_of_each_leg_can_be_set(library: Library, depth: int, seen: bool) -> None:
    index = library(*same_place_in_both(12, 4))
    found = paths(index.search("word", "cfs", semantic_k=depth, lexical_k=depth))
    assert (name_at(4) in found) is seen and len(found) == 2 * depth - seen


@pytest.mark.requirement("004-S5-TOP-K", "004-S7-SEMANTIC", "004-S7-LEXICAL")
@pytest.mark.parametrize("mode", MODES)
def test_ten_results_come_back_unless_told(library: Library, mode: str) -> None:
    index = library(*same_place_in_both(15, 4))
    assert len(results(index.search("word", "cfs", mode=mode))) == 10
    assert len(results(index.search("word", "cfs", mode=mode, top_k=12))) == 12


@pytest.mark.requirement("004-S5-RRF-K")
def test_the_rrf_constant_can_be_set(library: Library) -> None:
    found = results(library(FILES, VECTORS).search("cache ttl", "cfs", rrf_k=10))
    assert [item["score"] for item in found] == [1 / 12 + 1 / 11, 1 / 11 + 1 / 12, 1 / 13]
    assert cfs.Params().rrf_k == 60.0


@pytest.mark.requirement("004-S3-NORMALISE", "004-S7-LEXICAL", "004-S3-BM25")
def test_lexical_scores_are_scaled_with_the_best_at_one(library: Library) -> None:
    index = library({**FILES, "more.txt": "ttl ttl ttl"})
    found = results(index.search("cache ttl", "cfs", mode="lexical"))
    lexical = results(index.search("cache ttl", "rifflux", mode="lexical"))
    raw = [item["score_breakdown"]["bm25"] for item in lexical]
    worst, best = max(raw), min(raw)
    assert [item["score"] for item in found] == pytest.approx([(worst - one) / (worst - best) for one in raw])
    assert (found[0]["score"], found[-1]["score"]) == (1.0, 0.0)


@pytest.mark.requirement("004-S3-NORMALISE")
def test_equal_lexical_scores_are_all_one(library: Library) -> None:
    found = results(library({"a.txt": "word one", "b.txt": "word two"}).search("word", "cfs", mode="lexical"))
    assert [item["score"] for item in found] == [1.0, 1.0]


@pytest.mark.requirement("004-S2-SCORE", "004-S2-SORT", "004-S7-SEMANTIC", "004-S9-COSINE")
def test_semantic_scores_are_cosines_between_zero_and_one_and_fall(library: Library) -> None:
    found = results(library(FILES, VECTORS).search("cache ttl", "cfs", mode="semantic"))
    assert [item["document"]["path"] for item in found] == ["notes.txt", "cache.txt", "other.txt"]
    query = quantise(VECTORS["cache ttl"])
    expected = [
        max(0, int(dots(quantise([VECTORS[FILES[name]]]), query)[0])) / (32767.0 * 32767.0)
        for name in ("notes.txt", "cache.txt", "other.txt")
    ]
    assert [item["score"] for item in found] == expected


@pytest.mark.requirement("004-S9-DOT")
def test_integer_dot_products_are_exact_and_do_not_overflow() -> None:
    rows = quantise([[1.0] * 4096, [-1.0] * 4096])
    assert dots(rows, rows[0]).tolist() == [4096 * 512**2, -4096 * 512**2]
    extreme = quantise([1.0, 0.0]) * 0 + SCALE
    assert dots(extreme[None, :], extreme).tolist() == [2 * SCALE * SCALE]


@pytest.mark.requirement("004-S9-COSINE", "004-S9-SCALE")
def test_a_vector_scaled_by_anything_is_the_same_vector() -> None:
    assert (
        quantise([3.0, 4.0]).tolist()
        == quantise([3e-300, 4e-300]).tolist()
        == quantise([3e200, 4e200]).tolist()
    )
    assert quantise([3.0, 4.0]).tolist() == [round(32767 * 3 / 5), round(32767 * 4 / 5)]
    assert quantise([0.0, 0.0]).tolist() == [0, 0]
    assert (cosine(SCALE * SCALE), cosine(-2 * SCALE * SCALE)) == (1.0, -1.0)


def test_cosines_made_at_once_have_the_bits_of_those_made_one_by_one() -> None:
    products = [product for most in (10**9, 2 * 10**9) for product in range(-most, most, most // 997)]
    assert cosines(np.array(products)) == [cosine(product) for product in products]


@pytest.mark.requirement("004-S2-INTEGER-SEARCH")
def test_vectors_that_differ_less_than_an_integer_step_tie_and_go_by_path(library: Library) -> None:
    files = {"b.txt": "first", "a.txt": "second", "c.txt": "third"}
    vectors = {"q": (1.0, 0.0), "first": (1.0, 1e-9), "second": (1.0, 2e-9), "third": (1.0, 1.0)}
    found = results(library(files, vectors).search("q", "cfs", mode="semantic"))
    assert [item["document"]["path"] for item in found] == ["a.txt", "b.txt", "c.txt"]
    assert found[0]["score"] == found[1]["score"] == 1.0


@pytest.mark.requirement("004-S6-PATH", "004-S6-SEQUENCE", "004-P1-DETERMINISM")
def test_equal_scores_go_by_path_then_by_sequence(library: Library) -> None:
    twice = "# A\n\nword\n\n# A\n\nword\n"
    index = library({"b.md": twice, "a.md": twice})
    for mode in ("lexical", "hybrid"):
        found = results(index.search("word", "cfs", mode=mode))
        places = [(item["document"]["path"], item["chunk"]["sequence"]) for item in found]
        assert places == [("a.md", 0), ("a.md", 1), ("b.md", 0), ("b.md", 1)]
    assert index.search("word", "cfs").body == index.search("word", "cfs").body


@pytest.mark.requirement("004-S3-SPLIT", "004-S3-OR")
def test_terms_are_alternatives(library: Library) -> None:
    index = library(FILES)
    assert sorted(paths(index.search("size session", "cfs", mode="lexical"))) == ["cache.txt", "notes.txt"]


@pytest.mark.requirement("004-S3-STOP")
def test_the_stop_words_are_lucenes_thirty_three() -> None:
    """StopAnalyzer.ENGLISH_STOP_WORDS_SET of Lucene."""
    printed = (
        "a, an, and, are, as, at, be, but, by, for, if, in, into, is, it, no, not, of, on, or, such, "
        "that, the, their, then, there, these, they, this, to, was, will, with"
    )
    assert STOP_WORDS["lucene"] == set(printed.split(", ")) and len(STOP_WORDS["lucene"]) == 33


@pytest.mark.requirement("004-S3-STOP")
def test_stop_words_are_left_out_unless_nothing_else_is_left(library: Library) -> None:
    index = library(FILES)
    assert paths(index.search("the cache of it", "cfs", mode="lexical")) == ["cache.txt"]
    assert sorted(paths(index.search("the cache of it", "rifflux", mode="lexical"))) == sorted(FILES)
    assert sorted(paths(index.search("of the", "cfs", mode="lexical"))) == ["notes.txt", "other.txt"]
    assert len(STOP_WORDS["lucene"]) == 33


@pytest.mark.requirement("004-S3-PHRASES")
def test_quoted_phrases_are_required(library: Library) -> None:
    files = {
        "a.txt": "merkle tree verification",
        "b.txt": "tree of a merkle kind, verification",
        "c.txt": "merkle tree alone",
    }
    index = library(files)
    lexical = {"mode": "lexical"}
    assert sorted(paths(index.search('"merkle tree"', "cfs", **lexical))) == ["a.txt", "c.txt"]
    assert paths(index.search('verification "merkle tree"', "cfs", **lexical)) == ["a.txt"]
    assert paths(index.search('the "merkle tree"', "cfs", **lexical)) == paths(
        index.search('"merkle tree"', "cfs", **lexical)
    )
    assert sorted(paths(index.search('verification "merkle tree"', "rifflux", **lexical))) == sorted(files)


def test_a_cjk_phrase_is_required_beside_a_word(library: Library) -> None:
    files = {"a.txt": "全文検索 engine", "b.txt": "全文検索 only", "c.txt": "engine only"}
    assert paths(library(files).search('engine "全文検索"', "cfs", mode="lexical")) == ["a.txt"]


@pytest.mark.requirement(
    "004-S8-PATH", "004-S8-MIME", "004-S8-AFTER", "004-S8-BEFORE", "004-S8-CONTAINS", "004-S8-AND"
)
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"path": "docs/**/*.md"}, ["docs/a.md", "docs/deep/b.md"]),
        ({"path": "docs/*.md"}, ["docs/a.md"]),
        ({"path": "**/*.{py,txt}"}, ["c.txt", "src/d.py"]),
        ({"mime": "text/markdown"}, ["docs/a.md", "docs/deep/b.md"]),
        ({"mime": "application/pdf"}, []),
        ({"after": 1_000}, ["docs/deep/b.md", "src/d.py"]),
        ({"after": 999}, ["c.txt", "docs/deep/b.md", "src/d.py"]),
        ({"before": 1_000}, ["docs/a.md"]),
        ({"before": 1_001}, ["c.txt", "docs/a.md"]),
        ({"contains": "special"}, ["docs/deep/b.md"]),
        ({"contains": "Special"}, []),
        ({"icontains": "Special"}, ["docs/deep/b.md"]),
        ("-lang:python", ["c.txt", "docs/a.md", "docs/deep/b.md"]),
        ("tag:red OR meta.prio:3", ["docs/a.md"]),
        ("-(path:docs/** OR contains:=)", ["c.txt"]),
        ("title:a after:1969-12-31 before:1970-01-01T00:00:01", ["docs/a.md"]),
        ({"lang": "python"}, ["src/d.py"]),
        ({"root": "shelf", "path": "c.*"}, ["c.txt"]),
        ({"path": "docs/**", "after": 1_000, "contains": "word"}, ["docs/deep/b.md"]),
        ({}, ["c.txt", "docs/a.md", "docs/deep/b.md", "src/d.py"]),
    ],
)
def test_each_filter_keeps_what_it_describes(library: Library, filters: Any, expected: list[str]) -> None:
    files = {
        "docs/a.md": "---\ntags: [red]\n---\nword\n",
        "docs/deep/b.md": "word special\n",
        "c.txt": "word",
        "src/d.py": "word = 1\n",
    }
    times = {"docs/a.md": 500, "c.txt": 1_000, "docs/deep/b.md": 1_500, "src/d.py": 2_000}
    index = library(files, {"word": (1.0, 0.0)}, times)
    for mode in MODES:
        assert sorted(paths(index.search("word", "cfs", mode=mode, filters=filters))) == expected


@pytest.mark.requirement("004-S8-PRE")
@pytest.mark.parametrize("mode", MODES)
def test_filters_apply_before_retrieval(library: Library, mode: str) -> None:
    """The file is last in both lists: filtered after a retrieval of twenty, it would not be there."""
    index = library(*same_place_in_both(45, 45))
    found = results(index.search("word", "cfs", mode=mode, top_k=1, filters={"path": name_at(45)}))
    assert [item["document"]["path"] for item in found] == [name_at(45)]
    if mode == "hybrid":
        assert found[0]["score"] == 1 / 61 + 1 / 61


def test_a_least_similarity_cuts_the_semantic_leg(library: Library) -> None:
    index = library(FILES, VECTORS)
    assert paths(index.search("cache ttl", "cfs", mode="semantic", min_similarity=0.7)) == ["notes.txt"]
    assert paths(index.search("cache ttl", "cfs", mode="semantic", min_similarity=-1)) == [
        "notes.txt",
        "cache.txt",
        "other.txt",
    ]
    assert cfs.Params().min_similarity is None


@pytest.mark.requirement("004-V-EXACT")
def test_an_exact_identifier_comes_first_in_hybrid(library: Library) -> None:
    files = {f"a{number}.txt": f"prose number {number}" for number in range(6)}
    files["z.py"] = "def calculate_hyper_parameter_v7(): return 7\n"
    vectors: dict[str, Any] = {text: (1.0, 0.1 * at) for at, text in enumerate(files.values())}
    query = "function calculate_hyper_parameter_v7"
    index = library(files, {**vectors, query: (1.0, 0.0)})
    assert paths(index.search(query, "cfs", mode="semantic"))[0] == "a0.txt"
    assert paths(index.search(query, "cfs", mode="lexical")) == ["z.py"]
    assert paths(index.search(query, "cfs"))[0] == "z.py"


@pytest.mark.requirement("004-S2-CANONICAL-NOTE")
def test_an_embedder_that_is_not_canonical_is_told(library: Library) -> None:
    index = library(FILES, VECTORS)
    for mode in ("semantic", "hybrid"):
        assert codes(index.search("cache ttl", "cfs", mode=mode)) == ["non_canonical_embedder"]
    assert codes(index.search("cache ttl", "cfs", mode="lexical")) == []


@pytest.mark.parametrize("vectors", (None, {"cache ttl": None}, {"cache ttl": OSError("down")}))
def test_without_a_query_embedding_only_text_is_searched(library: Library, vectors: Any) -> None:
    index = library(FILES, vectors)
    semantic, hybrid = (index.search("cache ttl", "cfs", mode=mode) for mode in ("semantic", "hybrid"))
    assert (semantic.body["results"], semantic.status, hybrid.status) == ([], "degraded", "degraded")
    assert [item["score"] for item in results(hybrid)] == [1 / 61, 1 / 62]


def test_a_zero_query_vector_scores_zero_in_semantic_and_is_absent_in_hybrid(library: Library) -> None:
    index = library(FILES, {**VECTORS, "ttl": (0.0, 0.0)})
    assert [item["score"] for item in results(index.search("ttl", "cfs", mode="semantic"))] == [0.0] * 3
    assert sorted(paths(index.search("ttl", "cfs"))) == ["cache.txt", "notes.txt"]


@pytest.mark.requirement("004-S8-POST")
@pytest.mark.parametrize("mode", MODES)
def test_a_filter_afterwards_keeps_what_passes_of_the_best_hundred(library: Library, mode: str) -> None:
    files, vectors = same_place_in_both(120, 60)
    index = library(files, vectors)
    found = {
        form: index.search("word", "cfs", mode=mode, filters={"path": name_at(60)}, filter_mode=form)
        for form in ("pre", "post")
    }
    whole = results(index.search("word", "cfs", mode=mode, top_k=100, semantic_k=100, lexical_k=100))
    unfiltered = {path_of(item): item["score"] for item in whole}
    assert [paths(one) for one in found.values()] == [[name_at(60)]] * 2
    assert results(found["post"])[0]["score"] == unfiltered[name_at(60)]
    if mode == "hybrid":
        assert results(found["pre"])[0]["score"] == 1 / 61 + 1 / 61
        assert results(found["post"])[0]["score"] == 1 / 120 + 1 / 120
    assert found["post"].notes[-1]["message"] == "1 of the best 100 results pass the filter"


@pytest.mark.requirement("004-S8-POST")
def test_a_filter_afterwards_does_not_look_beyond_the_best_hundred(library: Library) -> None:
    index = library(ladder(120))
    asked = {"mode": "lexical", "filters": {"path": name_at(101)}}
    assert paths(index.search("word", "cfs", **asked)) == [name_at(101)]
    after = index.search("word", "cfs", **asked, filter_mode="post")
    assert (paths(after), after.notes[-1]["code"]) == ([], "post_filtered")
    best = index.search("word", "cfs", mode="lexical", top_k=3, filters="path:*.txt", filter_mode="post")
    assert paths(best) == [name_at(1), name_at(2), name_at(3)]


@pytest.mark.requirement("004-S8-CONTAINS")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ("pre", "post"))
def test_contains_is_about_the_passage_before_and_after_retrieval_alike(
    library: Library, mode: str, form: str
) -> None:
    """The book holds both texts, but no passage of it does."""
    files = {"book.md": "# One\n\nword lantern\n\n# Two\n\nword anchor\n", "leaf.txt": "word lantern anchor"}
    index = library(files, {"word": (1.0, 0.0), files["leaf.txt"]: (1.0, 1.0)})
    asked = {"mode": mode, "filter_mode": form}
    found = results(index.search("word", "cfs", filters="contains:lantern path:*.md", **asked))
    assert [item["chunk"]["text"] for item in found] == ["# One\n\nword lantern"]
    assert paths(index.search("word", "cfs", filters="contains:lantern contains:anchor", **asked)) == [
        "leaf.txt"
    ]
