"""Scores that decide an order: as `steady` shows them, without asking it where it makes no difference."""

from itertools import combinations
from math import nextafter

from hypothesis import given
from hypothesis import strategies as st

from quintet.model.results import Hit
from quintet.ranking import best_first, deciding
from quintet.ranking.order import steady

NEAR = st.sampled_from([0.0, -0.0, 0.3, 0.3 + 1e-13, nextafter(0.3, 1), 0.3 + 1e-11, -0.3, 7.0, 7.0 + 1e-12])
SCORES = st.lists(NEAR | st.floats(-1e6, 1e6), max_size=12)


@given(SCORES)
def test_two_scores_stand_to_one_another_as_their_first_twelve_digits_do(scores: list[float]) -> None:
    for (one, other), (first, second) in zip(
        combinations(deciding(scores), 2), combinations(map(steady, scores), 2), strict=True
    ):
        assert (one < other, one == other) == (first < second, first == second)


@given(SCORES)
def test_hits_are_sorted_by_steady_scores_and_keep_their_order_in_ties(scores: list[float]) -> None:
    hits = [Hit(str(at), score, 0.0) for at, score in enumerate(scores)]
    assert best_first(hits) == sorted(hits, key=lambda hit: -steady(hit.score))


def test_a_difference_in_the_last_bit_decides_nothing() -> None:
    hits = [Hit("first", 0.3, 0.3), Hit("second", nextafter(0.3, 1), 0.3), Hit("best", 0.4, 0.4)]
    assert [hit.chunk_id for hit in best_first(hits)] == ["best", "first", "second"]
