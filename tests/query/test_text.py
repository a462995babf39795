"""What is looked up of a query: phrases, words, their order and their weights."""

from dataclasses import replace
from math import sqrt

from quintet.contracts import Plan, Reading
from quintet.query.text import ParsedQuery, parse
from quintet.ranking import Profile, WeightedSum

PLAN = Plan("", Profile((), WeightedSum(), ()), 10)
HOUSE = Reading(stop_words="english", repeats=True)


def tokens(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text.lower()).split()


def parsed(query: str, reading: Reading = HOUSE, max_terms: int = 64) -> ParsedQuery:
    return parse(replace(PLAN, query=query, reading=reading), tokens, max_terms)


def test_quotation_marks_in_pasted_text_make_no_phrases() -> None:
    pasted = parsed('It fails\n\nwith "no such file"\nand then\nagain\n')
    typed = parsed('fails with "no such file"')
    assert pasted.query is not None and typed.query is not None
    assert pasted.query.phrases == () and typed.query.phrases == ("no such file",)
    assert [note["code"] for note in pasted.notes] == ["quotes_ignored"]


def test_a_repeated_word_has_the_root_of_its_number_as_weight() -> None:
    query = parsed("cache wind cache cache").query
    assert query is not None
    assert (query.terms, query.weights) == (("cache", "wind"), (sqrt(3), 1.0))
    once = parsed("cache wind").query
    assert once is not None and once.weights == ()


def test_the_title_of_pasted_text_counts_as_much_as_the_rest() -> None:
    query = parsed("Cache fails\n\nBody words follow here\nwith more of them\nand more\n").query
    assert query is not None
    weights = dict(zip(query.terms, query.weights, strict=True))
    in_title = weights["Cache"] + weights["fails"]
    assert in_title == sum(weights.values()) - in_title


def test_of_too_many_terms_those_of_the_title_and_names_of_code_are_kept() -> None:
    filler = " ".join(f"word{at}" for at in range(90))
    found = parsed(f"Cache fails\n\n{filler}\n\nin evict_entries\n", max_terms=4)
    assert found.query is not None
    assert found.query.terms == ("Cache", "fails", "evict_entries", "word0")
    assert found.notes[-1]["message"] == "of 93 terms the most telling 4 were looked up"


def test_a_contract_without_weights_has_none() -> None:
    query = parsed("cache cache", Reading()).query
    assert query is not None and query.weights == ()
