"""The house ranking end to end."""

from math import cos, fsum, log, sin, sqrt
from pathlib import Path
from typing import Any

import pytest

import quintet
from contracts.conftest import Library
from contracts.fixed import codes, paths, results, same_place_in_both, write

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
RESULT_KEYS = {"chunk_id", "root", "path", "page", "heading_path", "lines", "content", "score", "signals"}
SIGNAL_KEYS = {"rank", "score", "raw", "weight", "contribution"}


@pytest.mark.parametrize("mode", MODES)
def test_results_and_signals_have_exactly_their_keys(library: Library, mode: str) -> None:
    response = library(FILES, VECTORS).search("cache ttl", mode=mode)
    assert set(response.body) == {"query", "mode", "confidence", "results"}
    for item in results(response):
        assert set(item) == RESULT_KEYS
        assert set(item["signals"]) <= ({"lexical", "semantic"} if mode == "hybrid" else {mode})
        assert all(set(seen) == SIGNAL_KEYS for seen in item["signals"].values())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("weight", (0.7, 0.0, 1.0))
def test_the_contributions_add_up_to_the_score(library: Library, mode: str, weight: float) -> None:
    index = library(*same_place_in_both(15, 4))
    found = results(index.search("word", mode=mode, semantic_weight=weight, half_score=2))
    assert len(found) == 10
    for item in found:
        assert item["score"] == sum(seen["contribution"] for seen in item["signals"].values())
    for item in found if mode == "hybrid" else ():
        lexical, semantic = item["signals"]["lexical"], item["signals"]["semantic"]
        assert semantic["contribution"] == weight * semantic["score"]
        assert lexical["weight"] == round(1 - weight, 12)
        assert lexical["contribution"] == lexical["weight"] * (lexical["score"] / (lexical["score"] + 2))


def test_nothing_counts_as_zero_for_standing_below_the_depth(library: Library) -> None:
    found = results(library(*same_place_in_both(110, 60)).search("word", limit=16))
    assert all({"lexical", "semantic"} <= set(item["signals"]) for item in found)
    unlisted = [item["signals"]["lexical"] for item in found if item["signals"]["lexical"]["rank"] is None]
    assert unlisted and all(seen["contribution"] > 0 and seen["raw"] < 0 for seen in unlisted)


def test_feedback_moves_the_query_towards_the_best_result(library: Library) -> None:
    files = {name: f"{name} has the word" for name in ("best.txt", "like.txt", "unlike.txt")}
    vectors = {
        "word": (1.0, 0.0),
        files["best.txt"]: (0.9, 0.4),
        files["like.txt"]: (0.6, 0.8),
        files["unlike.txt"]: (0.6, -0.8),
    }
    index = library(files, vectors)
    still, moved = (
        {item["path"]: item["signals"]["semantic"] for item in results(index.search("word", feedback=weight))}
        for weight in (0, 0.5)
    )
    assert still["like.txt"]["score"] == still["unlike.txt"]["score"] == still["like.txt"]["raw"]
    assert moved["like.txt"]["score"] > still["like.txt"]["score"] > moved["unlike.txt"]["score"]
    assert {path: seen["raw"] for path, seen in moved.items()} == {
        path: seen["raw"] for path, seen in still.items()
    }


def test_endings_do_not_matter_and_stop_words_do_not_count(library: Library) -> None:
    index = library({"a.txt": "the caches were evicted", "b.txt": "how the wind blows"})
    assert paths(index.search("how is the cache evicting", mode="lexical")) == ["a.txt"]
    assert paths(index.search("how the", mode="lexical")) == ["b.txt", "a.txt"], "nothing else is left"


def test_a_word_that_the_query_repeats_counts_by_the_root_of_its_number(library: Library) -> None:
    index = library({"a.txt": "cache", "b.txt": "wind", "c.txt": "other"})
    once, again = (
        {item["path"]: -item["signals"]["lexical"]["raw"] for item in results(response)}
        for response in (index.search(query, mode="lexical") for query in ("cache wind", "cache wind wind"))
    )
    assert again["a.txt"] == once["a.txt"]
    assert again["b.txt"] == pytest.approx(once["b.txt"] * sqrt(2))


def test_a_word_in_a_heading_counts_more(library: Library) -> None:
    index = library({"a.md": "# Other\n\ncache and cache", "b.md": "# Cache\n\nother and more"})
    assert paths(index.search("cache", mode="lexical", heading_weight=5)) == ["b.md", "a.md"]
    assert paths(index.search("cache", mode="lexical", heading_weight=0.1)) == ["a.md", "b.md"]


def test_signals_show_what_each_backend_said(library: Library) -> None:
    response = library(FILES, VECTORS).search("cache ttl", feedback=0)
    found = {item["path"]: item["signals"] for item in results(response)}
    lexical = found["cache.txt"]["lexical"]
    assert lexical["raw"] < 0 < lexical["score"] and lexical["rank"] == 1
    semantic = found["notes.txt"]["semantic"]
    assert semantic["raw"] == semantic["score"] > 0 and semantic["rank"] == 1
    assert set(found["other.txt"]) == {"semantic"}


@pytest.mark.parametrize(("limit", "deep", "alone"), [(1, 50, 100), (16, 50, 100), (40, 120, 120)])
def test_each_leg_is_asked_three_times_the_limit_and_at_least_fifty_deep_or_a_hundred_alone(
    library: Library, limit: int, deep: int, alone: int
) -> None:
    index = library(*same_place_in_both(150, 30))
    for mode, depths in (("hybrid", {"lexical": deep, "semantic": deep}), ("lexical", {"lexical": alone})):
        trace = index.search("word", limit=limit, mode=mode).trace
        assert trace is not None
        listed = {signal: sum(hit.listed for hit in hits) for signal, hits in trace.legs.hits.items()}
        assert {signal: count for signal, count in listed.items() if count} == depths


def test_ties_go_by_path_and_place(library: Library) -> None:
    twice = "# A\n\nword\n\n# A\n\nword\n"
    found = results(library({"b.md": twice, "a.md": twice}).search("word", repeat_factor=1))
    assert [(item["path"], item["lines"]) for item in found] == [
        ("a.md", [1, 3]),
        ("a.md", [5, 7]),
        ("b.md", [1, 3]),
        ("b.md", [5, 7]),
    ]


def test_a_page_shows_different_documents_first(library: Library) -> None:
    twice = "# A\n\nword\n\n# A\n\nword\n"
    found = results(library({"b.md": twice, "a.md": twice}).search("word"))
    assert [(item["path"], item["lines"]) for item in found] == [
        ("a.md", [1, 3]),
        ("b.md", [1, 3]),
        ("a.md", [5, 7]),
        ("b.md", [5, 7]),
    ]
    assert found[2]["score"] == pytest.approx(found[0]["score"] / 2)


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


def test_a_chunk_without_a_vector_yet_counts_as_the_middle_of_what_meaning_found(tmp_path: Path) -> None:
    files = {f"{number:02}.md": f"about the fox number {number}" for number in range(120)}
    shelf = write(tmp_path / "shelf", files)
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([shelf])
        write(shelf, {"new.md": "quokka fox running"})
        index.sync(embed=False)
        found = results(index.search("quokka fox running", feedback=0))
        new = next(item for item in found[:5] if item["path"] == "new.md")
        legs = index.search("quokka fox running", feedback=0).trace.legs  # type: ignore[union-attr]
        listed = sorted(hit.score for hit in legs.hits["semantic"] if hit.listed)
        assert new["signals"]["semantic"]["rank"] is None
        assert new["signals"]["semantic"]["score"] == listed[len(listed) // 2]


def test_without_any_vector_meaning_says_nothing(tmp_path: Path) -> None:
    shelf = write(tmp_path / "shelf", {"a.md": "a fox", "b.md": "a dog"})
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([shelf], embed=False)
        assert [set(item["signals"]) for item in results(index.search("fox"))] == [{"lexical"}]


def test_a_passage_gains_from_the_five_nearest_that_score_more(library: Library) -> None:
    """Seven passages with the same words, further and further from the query."""
    files = {f"f{at}.txt": f"word pad{at}" for at in range(7)}
    angles = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 1.2)
    vectors = {text: (cos(angle), sin(angle)) for text, angle in zip(files.values(), angles, strict=True)}
    index = library(files, {"word": (1.0, 0.0), **vectors})
    found = {item["path"]: item for item in results(index.search("word", feedback=0, neighbour_weight=0.3))}
    own = {
        path: item["signals"]["lexical"]["contribution"] + item["signals"]["semantic"]["contribution"]
        for path, item in found.items()
    }
    more = fsum(own[f"f{at}.txt"] - own["f6.txt"] for at in (1, 2, 3, 4, 5)) / 5
    neighbours = found["f6.txt"]["signals"]["neighbours"]
    assert neighbours["score"] == pytest.approx(more) and more > 0
    assert neighbours["contribution"] == 0.3 * neighbours["score"]
    assert "neighbours" not in found["f0.txt"]["signals"], "nothing scores more than the best"


def test_source_code_and_few_passages_have_no_neighbours(library: Library) -> None:
    texts = {at: f"def word{at}():\n    return 'word {at}'" for at in range(7)}
    vectors: dict[str, tuple[float, float]] = {"word": (1.0, 0.0)}
    few = library({f"f{at}.txt": f"word pad{at}" for at in range(5)}, vectors)
    code = library({f"f{at}.py": text for at, text in texts.items()}, vectors)
    for index in (few, code):
        assert all("neighbours" not in item["signals"] for item in results(index.search("word")))


def test_one_or_two_words_are_raised_towards_what_longer_queries_score(library: Library) -> None:
    files = {"a.txt": "cache wind tide", "b.txt": "rope", "c.txt": "sail"}
    index = library(files)
    scale = 9 / log(1 + len(files))
    for query, is_short in (("cache", True), ("cache wind", True), ("cache wind tide", False)):
        (item,) = results(index.search(query, mode="lexical"))
        even = scale * -item["signals"]["lexical"]["raw"]
        raised = even / sqrt(even / 40)
        assert item["signals"]["lexical"]["score"] == pytest.approx(raised if is_short else even)
