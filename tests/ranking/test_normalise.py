"""Scaling one result list."""

from math import nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.ranking.fuse import add_up, as_is, min_max, saturating, unit

SCORES = st.lists(st.floats(-1e6, 1e6), max_size=30)


@pytest.mark.requirement("001-NORM")
def test_min_max_places_each_score_between_worst_and_best() -> None:
    scores = [8.0, 5.0, 3.0, 2.0]
    assert min_max(scores) == [(score - 2.0) / (8.0 - 2.0) for score in scores]


@pytest.mark.requirement("001-NORM-FLAT", "003-FUSE-FLAT")
def test_a_flat_list_is_all_one() -> None:
    assert min_max([3.5, 3.5, 3.5]) == [1.0, 1.0, 1.0]
    assert min_max([0.0]) == [1.0]


def test_an_empty_list_stays_empty() -> None:
    assert [min_max([]), unit([]), as_is([])] == [[], [], []]


@given(SCORES)
def test_min_max_stays_in_the_unit_interval_and_keeps_the_order(scores: list[float]) -> None:
    scaled = min_max(scores)
    assert all(0.0 <= value <= 1.0 for value in scaled)
    assert not scores or max(scaled) == 1.0
    by_score = [value for _, value in sorted(zip(scores, scaled, strict=True))]
    assert by_score == sorted(scaled)


def test_the_best_is_exactly_one_however_close_the_others_are() -> None:
    best = 0.1
    assert min_max([best, nextafter(best, 0), nextafter(nextafter(best, 0), 0)])[0] == 1.0


def test_scores_that_differ_in_their_last_bit_alone_are_a_flat_list() -> None:
    # BM25 of the same counts for other terms: the sum is taken in another order.
    counts = (0.3, 0.6, 0.1)
    one, other = add_up(counts), add_up(reversed(counts))
    assert one != other
    assert min_max([one, other]) == [1.0, 1.0]


@pytest.mark.requirement("003-FUSE-SIMILARITY", "004-S2-SCORE")
def test_unit_clamps_a_cosine_to_zero_and_one() -> None:
    assert unit([1.0000000000000002, 0.4, 0.0, -0.7]) == [1.0, 0.4, 0.0, 0.0]


@given(SCORES)
def test_as_is_changes_nothing(scores: list[float]) -> None:
    assert as_is(scores) == scores


@given(st.lists(st.floats(0, 1e6), max_size=30), st.floats(1, 1e4))
def test_a_saturating_score_keeps_order_below_one_and_is_one_half_at_its_half(
    scores: list[float], half: float
) -> None:
    scaled = saturating(sorted(scores), half)
    assert scaled == sorted(scaled) and all(0.0 <= share <= 1.0 for share in scaled)
    assert saturating([half, 0.0, -1.0], half) == [0.5, 0.0, 0.0]
