"""The house ranking end to end."""

from typing import Any

import pytest

from contracts.conftest import Library
from contracts.fixed import codes, name_at, paths, results, same_place_in_both

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
RESULT_KEYS = {"chunk_id", "path", "heading_path", "lines", "content", "score", "signals"}
SIGNAL_KEYS = {"rank", "score", "raw", "weight", "contribution"}


@pytest.mark.parametrize("mode", MODES)
def test_results_and_signals_have_exactly_their_keys(library: Library, mode: str) -> None:
    response = library(FILES, VECTORS).search("cache ttl", mode=mode)
    assert set(response.body) == {"query", "mode", "results"}
    for item in results(response):
        assert set(item) == RESULT_KEYS
        assert set(item["signals"]) <= ({"lexical", "semantic"} if mode == "hybrid" else {mode})
        assert all(set(seen) == SIGNAL_KEYS for seen in item["signals"].values())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rrf_k", (60, 0.5))
def test_the_contributions_add_up_to_the_score(library: Library, mode: str, rrf_k: float) -> None:
    found = results(library(*same_place_in_both(15, 4)).search("word", mode=mode, rrf_k=rrf_k))
    assert len(found) == 10
    for item in found:
        assert item["score"] == sum(seen["contribution"] for seen in item["signals"].values())
        for seen in item["signals"].values():
            worth = seen["weight"] / (rrf_k + seen["rank"]) if mode == "hybrid" else seen["score"]
            assert seen["contribution"] == worth


def test_signals_show_what_each_backend_said(library: Library) -> None:
    found = {item["path"]: item["signals"] for item in results(library(FILES, VECTORS).search("cache ttl"))}
    lexical = found["cache.txt"]["lexical"]
    assert lexical["raw"] == -lexical["score"] < 0 and lexical["rank"] == 1
    semantic = found["notes.txt"]["semantic"]
    assert semantic["raw"] == semantic["score"] > 0 and semantic["rank"] == 1
    assert set(found["other.txt"]) == {"semantic"}


@pytest.mark.parametrize(("place", "seen"), [(50, True), (51, False)])
def test_each_leg_is_asked_fifty_deep(library: Library, place: int, seen: bool) -> None:
    index = library(*same_place_in_both(110, place))
    found = paths(index.search("word", limit=5))
    assert (found[0] == name_at(place)) is seen and (name_at(place) in found) is seen


def test_ties_go_by_path_and_place(library: Library) -> None:
    twice = "# A\n\nword\n\n# A\n\nword\n"
    found = results(library({"b.md": twice, "a.md": twice}).search("word"))
    assert [(item["path"], item["lines"]) for item in found] == [
        ("a.md", [1, 3]),
        ("a.md", [5, 7]),
        ("b.md", [1, 3]),
        ("b.md", [5, 7]),
    ]


@pytest.mark.parametrize("query", ("user name", "get user", "getUserName"))
def test_identifier_parts_are_found(library: Library, query: str) -> None:
    files = {"a.txt": "call getUserName now", "b.txt": "something else"}
    assert paths(library(files).search(query, mode="lexical")) == ["a.txt"]


@pytest.mark.parametrize("vectors", (None, {"cache ttl": None}, {"cache ttl": OSError("down")}))
def test_without_a_query_embedding_the_lexical_leg_answers(library: Library, vectors: Any) -> None:
    index = library(FILES, vectors)
    response = index.search("cache ttl")
    assert paths(response) == ["cache.txt", "notes.txt"] and response.status == "degraded"
    assert codes(response)[0] in ("embedder_missing", "leg_failed")
    semantic = index.search("cache ttl", mode="semantic")
    assert (semantic.body["results"], semantic.status) == ([], "degraded")


def test_a_zero_query_vector_scores_zero_in_semantic_and_is_absent_in_hybrid(library: Library) -> None:
    index = library(FILES, {**VECTORS, "cache ttl": (0.0, 0.0)})
    assert [item["score"] for item in results(index.search("cache ttl", mode="semantic"))] == [0.0] * 3
    assert all(set(item["signals"]) == {"lexical"} for item in results(index.search("cache ttl")))


def test_equal_scores_of_one_signal_go_by_path(library: Library) -> None:
    index = library(dict.fromkeys(("c.txt", "a.txt", "d.txt", "b.txt", "e.txt"), "the same words"), {})
    for mode in MODES:
        assert paths(index.search("words", mode=mode)) == ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]
