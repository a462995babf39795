"""Recall finds by words and by meaning, and holds to every filter before it ranks."""

from pathlib import Path
from typing import Any

import pytest

import quintet
from memory.conftest import START_MS, Clock
from memory.views import codes, results, texts
from quintet.errors import UsageError
from quintet.memory import Memory


@pytest.fixture
def filled(memory: Memory, clock: Clock) -> Memory:
    memory.remember("tests run in parallel", "fact", ["tests", "ci"], session="one")
    clock.ms = START_MS + 10_000
    memory.remember("tests need a database", "error", ["tests"], ["src/store.py"], session="two")
    clock.ms = START_MS + 20_000
    memory.remember("tests are named as sentences", "preference", ["style"], ["Cache.get"], session="two")
    return memory


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kind": "error"}, {"tests need a database"}),
        ({"tags": ["tests"]}, {"tests run in parallel", "tests need a database"}),
        ({"tags": ["tests", "ci"]}, {"tests run in parallel"}),
        ({"session": "two"}, {"tests need a database", "tests are named as sentences"}),
        ({"about": "src/store.py"}, {"tests need a database"}),
        ({"about": "project/src/store.py"}, {"tests need a database"}),
        ({"about": "Cache.get"}, {"tests are named as sentences"}),
        ({"since": START_MS + 20_000}, {"tests are named as sentences"}),
        ({"until": START_MS + 10_000}, {"tests run in parallel"}),
        ({"since": START_MS + 10_000, "until": START_MS + 20_000}, {"tests need a database"}),
        ({"kind": "task"}, set()),
    ],
)
def test_filters_hold_on_both_legs(filled: Memory, filters: dict[str, Any], expected: set[str]) -> None:
    found = filled.recall("tests", **filters)
    assert set(texts(found)) == expected
    assert found.status == "ok"


def test_the_limit_is_kept(filled: Memory) -> None:
    assert len(results(filled.recall("tests", limit=2))) == 2


def test_tags_and_subjects_are_found_as_words(filled: Memory) -> None:
    assert texts(filled.recall("style"))[0] == "tests are named as sentences"
    assert texts(filled.recall("store.py"))[0] == "tests need a database"


SAID = {
    "we leave for Lisbon in May": "Ada Byron",
    "we leave for Lisbon in June": "Grace Hopper",
    "the tickets to Lisbon are booked": "Grace Hopper",
}


def test_a_speaker_is_found_by_words_and_by_meaning(memory: Memory) -> None:
    for text, speaker in SAID.items():
        memory.remember(text, session="trip", metadata={"speaker": speaker})
    found = results(memory.recall("when does Ada leave for Lisbon"))
    assert found[0]["text"] == "we leave for Lisbon in May"
    assert found[0]["signals"]["lexical"]["rank"] == found[0]["signals"]["semantic"]["rank"] == 1
    for result in found:
        contributions = [signal["contribution"] for signal in result["signals"].values()]
        assert result["score"] == pytest.approx(sum(contributions))
    (byron,) = results(memory.recall("Byron", limit=1))
    assert byron["signals"].keys() == {"lexical", "semantic"}


def test_the_latest_speaker_of_the_same_words_is_the_one_that_is_found(memory: Memory) -> None:
    for speaker in ("Ada", "Grace"):
        memory.remember("of course", metadata={"speaker": speaker})
    assert "lexical" in results(memory.recall("Grace"))[0]["signals"]
    assert "lexical" not in results(memory.recall("Ada"))[0]["signals"]


@pytest.mark.parametrize("metadata", [{}, {"speaker": None}, {"speaker": ["Ada"]}, {"author": "Ada"}])
def test_without_the_name_of_a_speaker_ranking_is_by_the_text_alone(
    memory: Memory, metadata: dict[str, Any]
) -> None:
    for text in SAID:
        memory.remember(text, session="trip", metadata=metadata)
    found = results(memory.recall("when does Ada leave for Lisbon"))
    signals = {result["text"]: result["signals"] for result in found}
    may, june, tickets = (signals[text] for text in SAID)
    assert may["lexical"]["raw"] == june["lexical"]["raw"] < tickets["lexical"]["raw"]
    (ada,) = results(memory.recall("Ada", limit=1))
    assert ada["signals"].keys() == {"semantic"}


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"limit": 0}, "limit is 0; it must be a whole number from 1 to 1000"),
        ({"kind": "idea"}, "kind is 'idea'; it must be one of decision"),
        ({"tags": "ci"}, "tags is 'ci'; it must be a list"),
        ({"since": "monday"}, "since is 'monday'; it must be a whole number"),
        ({"until": -1}, "until is -1"),
        ({"session": ""}, "session is ''"),
        ({"about": "\ud800"}, "lone surrogates"),
        ({"include_superseded": 1}, "it must be true or false"),
        ({"tag": ["ci"]}, "did you mean 'tags'"),
    ],
)
def test_a_wrong_parameter_is_named_with_what_is_allowed(
    memory: Memory, params: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        memory.recall("x", **params)


@pytest.mark.parametrize("query", ["C++ a AND", '"unclosed', "don't", "検索", "🦊", "a* OR", "x" * 5_000])
def test_any_query_is_safe(filled: Memory, query: str) -> None:
    filled.recall(query)


def test_a_blank_query_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError, match="blank"):
        memory.recall(" ")


def test_an_empty_memory_says_why_it_has_no_answer(memory: Memory) -> None:
    assert (texts(memory.recall("x")), memory.recall("x").status) == ([], "never_indexed")
    memory.forget(memory.remember("x").id)
    assert (texts(memory.recall("x")), memory.recall("x").status) == ([], "empty_index")


def test_without_an_embedder_words_are_searched_and_that_is_said(project: Path) -> None:
    with quintet.open(project / ".quintet", embedder=None) as index:
        index.memory.remember("words alone")
        found = index.memory.recall("words")
        assert (texts(found), found.status, codes(found)) == (
            ["words alone"],
            "degraded",
            ["embedder_missing"],
        )


def test_equal_answers_put_the_newer_memory_first(project: Path, clock: Clock) -> None:
    with quintet.open(project / ".quintet", "hashing", clock_ns=clock) as index:
        for kind in ("fact", "task", "code"):
            index.memory.remember("same words", kind)
        found = results(index.memory.recall("same words"))
        ranks = [one["signals"]["lexical"]["rank"] for one in found]
        assert sorted(ranks) == [1, 2, 3]
        assert found == results(index.memory.recall("same words"))


def test_documents_are_not_recalled_and_memories_are_not_searched(index: quintet.Index) -> None:
    index.memory.remember("zebra crossing")
    assert texts(index.memory.recall("five minutes answers")) == [
        "zebra crossing"
    ]  # by meaning, at any distance
    assert index.search("zebra", mode="lexical").body["results"] == []


def test_memory_is_no_contract_that_search_offers(index: quintet.Index) -> None:
    with pytest.raises(UsageError, match="there is no contract 'memory'"):
        index.search("x", contract="memory")
