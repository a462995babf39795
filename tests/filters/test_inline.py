"""Conditions among the words of a query: only what is clearly one, and never without saying so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.conftest import Library
from contracts.fixed import codes, paths
from quintet.filters.inline import split
from quintet.model.filters import AnyOf, Condition, Expression, Filter, Not

FILES = {
    "a.py": "retry = 1\n",
    "b.md": "retry\n",
    "vendor/c.py": "retry = 2\n",
    "d.md": "lang:python retry\n",
}


@pytest.mark.parametrize(
    ("query", "words", "conditions"),
    [
        ("retry lang:python", "retry", (Condition("lang", "python"),)),
        ("lang:python  retry  loop", "retry loop", (Condition("lang", "python"),)),
        (
            "retry -path:vendor/** lang:python",
            "retry",
            (Not(Condition("path", "vendor/**")), Condition("lang", "python")),
        ),
        ('retry title:"two words" now', "retry now", (Condition("title", "two words"),)),
        ("hook before:1970-01-02", "hook", (Condition("before", 86_400_000),)),
        ("x meta.owner:ann", "x", (Condition("meta.owner", "ann"),)),
        ("retry NOT lang:python", "retry", (Not(Condition("lang", "python")),)),
        ("lang:c OR lang:go retry", "retry", (AnyOf((Condition("lang", "c"), Condition("lang", "go"))),)),
        ("do NOT retry lang:c", "do NOT retry", (Condition("lang", "c"),)),
        ("retry meta.prio<=3 now", "retry now", (Condition("meta.prio", 3, "<="),)),
    ],
)
def test_a_word_that_is_a_condition_is_taken(
    query: str, words: str, conditions: tuple[Expression, ...]
) -> None:
    left, filter, notes = split(query)
    assert (left, filter) == (words, Filter(conditions))
    assert [note["code"] for note in notes] == ["filters_read"]


@pytest.mark.parametrize(
    "query",
    [
        "C::foo",
        "std::string view",
        "path::join windows",
        "see http://host/x",
        "at 12:30 today",
        "before:each hook",
        "after:2026 news",
        "path: how to set it",
        "x (lang:python)",
        'say "lang:python" please',
        'title:"never closed',
        "colour:red paint",
        "lang:python",
        "lang:python tag:a",
        "x path:" + "{a,b}" * 9,
        "x lang:c OR http://host",
        "for i<n do",
        "std::vector<int> lang<5",
        "x meta.prio<high",
        "x meta.prio < 3",
    ],
)
def test_everything_else_stays_as_it_was_typed(query: str) -> None:
    assert split(query) == (query, Filter(), ())


@given(st.text('lang:c -"() \n', max_size=60))
def test_any_query_keeps_words(query: str) -> None:
    words, filter, notes = split(query)
    assert bool(notes) == bool(filter.conditions)
    assert words.strip() or not query.strip()


def test_the_house_ranking_reads_them_and_says_so(library: Library) -> None:
    index = library(FILES)
    response = index.search("retry lang:python -path:vendor/**", mode="lexical")
    assert (paths(response), codes(response)) == (["a.py"], ["filters_read"])
    assert "lang:python -path:vendor/**" in response.notes[0]["message"]
    assert response.body["query"] == "retry"


def test_it_can_be_told_not_to(library: Library) -> None:
    response = library(FILES).search("retry lang:python", mode="lexical", inline_filters="off")
    assert (paths(response)[0], codes(response)) == ("d.md", [])


@pytest.mark.parametrize("contract", ["rifflux", "harness", "mcb", "knowledge", "cfs"])
def test_no_published_contract_reads_them(library: Library, contract: str) -> None:
    mode = {"mode": {"knowledge": "keyword", "harness": "keyword"}.get(contract, "lexical")}
    response = library(FILES).search("retry lang:python", contract, **({} if contract == "mcb" else mode))
    assert "d.md" in paths(response)
    assert "filters_read" not in codes(response)
