"""Intervals and comparisons: what they must say, and that they say it again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.evaluation.metrics import mean
from quintet.evaluation.statistics import compare, interval, intervals

VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(VALUES)
def test_an_interval_lies_within_the_values(values: list[float]) -> None:
    low, high = interval(values, resamples=200)
    assert min(values) - 1e-12 <= low <= high <= max(values) + 1e-12


def test_equal_values_leave_no_doubt() -> None:
    assert interval([0.5] * 40) == (0.5, 0.5)


def test_an_interval_is_that_of_the_normal_approximation_where_that_holds() -> None:
    values = [0.0, 1.0] * 200
    low, high = interval(values)
    half = 1.96 * 0.5 / 400**0.5
    assert low == pytest.approx(0.5 - half, abs=0.006)
    assert high == pytest.approx(0.5 + half, abs=0.006)


def test_more_queries_make_a_narrower_interval() -> None:
    few, many = interval([0.0, 1.0] * 10), interval([0.0, 1.0] * 250)
    assert many[1] - many[0] < few[1] - few[0]


def test_intervals_are_the_same_every_time_and_other_with_another_seed() -> None:
    values = [number / 17 % 1 for number in range(50)]
    assert interval(values) == interval(values)
    assert interval(values) != interval(values, seed=8)


def test_intervals_of_several_metrics_are_those_of_each_alone() -> None:
    columns = {"a": [0.1, 0.5, 0.9, 0.2], "b": [1.0, 0.0, 0.0, 1.0]}
    assert intervals(columns) == {name: interval(values) for name, values in columns.items()}


def test_an_interval_needs_values_of_the_same_queries() -> None:
    for columns in ({"a": []}, {"a": [1.0], "b": [1.0, 0.0]}):
        with pytest.raises(ValueError, match="values of the same queries"):
            intervals(columns)


def queries(*values: float) -> dict[str, float]:
    return {f"q{number}": value for number, value in enumerate(values)}


def test_a_run_against_itself_gains_nothing_and_proves_nothing() -> None:
    same = queries(0.1, 0.5, 0.9)
    found = compare(same, same)
    assert (found.difference, found.interval, found.p) == (0.0, (0.0, 0.0), 1.0)


def test_a_steady_gain_over_many_queries_is_not_chance() -> None:
    before = queries(*(number / 40 for number in range(40)))
    after = {query: value + 0.1 for query, value in before.items()}
    found = compare(after, before)
    assert found.difference == pytest.approx(0.1)
    assert found.interval[0] > 0
    assert found.p == 1 / 2001


def test_gain_and_loss_that_balance_are_chance() -> None:
    found = compare(queries(*[0.6, 0.4] * 20), queries(*[0.4, 0.6] * 20))
    assert found.difference == pytest.approx(0.0)
    assert found.interval[0] < 0 < found.interval[1]
    assert found.p > 0.5


def test_p_is_the_share_of_sign_flips_that_go_as_far() -> None:
    """Of three equal gains two of eight flips go as far: all or none of them turned round."""
    found = compare(queries(1.0, 1.0, 1.0), queries(0.0, 0.0, 0.0))
    assert found.p == pytest.approx(2 / 8, abs=0.03)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_the_other_way_round_the_gain_is_a_loss_of_the_same_p(pairs: list[tuple[float, float]]) -> None:
    one, other = queries(*(a for a, _ in pairs)), queries(*(b for _, b in pairs))
    there, back = compare(one, other, resamples=50), compare(other, one, resamples=50)
    assert (
        there.difference
        == -back.difference
        == pytest.approx(mean(list(one.values())) - mean(list(other.values())))
    )
    assert there.p == back.p


def test_the_order_of_the_queries_does_not_matter() -> None:
    one, other = queries(0.1, 0.7, 0.3), queries(0.2, 0.2, 0.2)
    assert compare(dict(reversed(one.items())), other) == compare(one, other)


def test_runs_over_different_queries_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="not over the same queries"):
        compare(queries(1.0), queries(1.0, 0.5))
