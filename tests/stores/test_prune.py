"""Scoring few rows gives the same best rows as scoring all of them."""

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.model import Condition, Filter, TextQuery
from quintet.stores.sqlite.prune import bound, decisive

if TYPE_CHECKING:
    from conftest import Shelf

WORDS = ["w" + one + other for one in "abcdefghijklmnopqrst" for other in "abcdefghijklmno"]
WEIGHTS = [1 / (place + 1) for place in range(len(WORDS))]


def _text(chance: random.Random) -> str:
    """Words by Zipf's law, and now and then an identifier of two of them."""
    words = chance.choices(WORDS, WEIGHTS, k=chance.randint(2, 40))
    return " ".join(words) + (f" {words[0]}{words[1].title()}" if chance.random() < 0.2 else "")


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("weights", [(), (("content", 4.0), ("title", 0.5))])
def test_the_best_rows_are_the_same_as_when_all_are_scored(
    shelf: "Shelf", parts: bool, weights: tuple[tuple[str, float], ...]
) -> None:
    chance = random.Random(1)
    shelf.put({f"{number:04d}.txt": _text(chance) for number in range(1_500)})
    half = Filter((Condition("path", "*{1,3,5,7,9}.txt"),))
    for _ in range(40):
        terms = tuple(dict.fromkeys(chance.choices(WORDS, WEIGHTS, k=chance.randint(2, 8))))
        query = TextQuery(terms, parts=parts, field_weights=weights)
        whole = shelf.hits(query, 10_000)
        for depth in (1, 3, 10, 60):
            assert shelf.hits(query, depth) == whole[:depth]
        assert shelf.hits(query, 5, half) == shelf.hits(query, 10_000, half)[:5]


def test_no_phrase_adds_more_than_its_bound(shelf: "Shelf") -> None:
    shelf.put(
        {f"{number}.txt": "rare " * (number + 1) if number < 9 else "common word" for number in range(300)}
    )
    for word, matching in (("rare", 9), ("common", 291)):
        best = -shelf.hits(TextQuery((word,)), 1)[0].raw
        assert best < bound(matching, 300)
        assert best < bound(matching, 5_000), "more rows than there are only make it larger"


@given(st.dictionaries(st.text(max_size=3), st.floats(1e-6, 50), max_size=8), st.floats(0, 100))
def test_what_is_left_out_cannot_reach_the_score(bounds: dict[str, float], score: float) -> None:
    kept = decisive(bounds, score)
    assert sum(value for phrase, value in bounds.items() if phrase not in kept) < max(score, 1e-9) * (
        1 + 1e-9
    )
