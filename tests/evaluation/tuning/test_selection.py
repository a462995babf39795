"""Choosing numbers: what is chosen, on which queries, and what is said about the gain."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from quintet.contracts import HOUSE, contract_named, read
from quintet.evaluation.metrics import mean
from quintet.evaluation.statistics import PairedComparison
from quintet.evaluation.tuning.selection import FOLDS, CandidateValues, candidates, choose
from quintet.evaluation.tuning.tuned_numbers import AXES

DEFAULTS = {"a": 2.0, "b": 0.0}
GRID = candidates({"a": (1.0, 2.0, 3.0), "b": (0.0, 1.0)}, DEFAULTS, DEFAULTS)

WORTH = st.lists(st.sampled_from((0.0, 0.25, 0.5, 1.0)), min_size=len(GRID), max_size=len(GRID))
QUERIES = st.dictionaries(st.text(min_size=1, max_size=4), WORTH, min_size=FOLDS, max_size=20)


def alike(*worth: float, queries: int = 60) -> CandidateValues:
    """Every query says the same of each candidate."""
    return {f"q{number}": worth for number in range(queries)}


def test_candidates_come_in_the_order_of_their_steps_from_the_defaults() -> None:
    assert [tuple(one.values()) for one in GRID] == [(2, 0), (1, 0), (2, 1), (3, 0), (1, 1), (3, 1)]


def test_what_is_in_use_is_a_candidate_even_off_the_grid() -> None:
    found = candidates({"a": (1.0, 2.0)}, {"a": 2.0}, {"a": 1.75})
    assert found == [{"a": 2.0}, {"a": 1.0}, {"a": 1.75}]


def test_the_defaults_of_the_house_ranking_are_on_every_axis_and_all_values_are_allowed() -> None:
    parameters = contract_named(HOUSE).parameters
    for name, axis in AXES.items():
        assert getattr(parameters(), name) in axis
        assert [getattr(read(HOUSE, parameters, {name: value}, {}), name) for value in axis] == list(axis)
        assert list(axis) == sorted(set(axis))


def test_a_gain_that_every_query_sees_is_beyond_chance() -> None:
    found = choose(GRID, alike(0.5, 0.2, 0.1, 0.75, 0.1, 0.1), DEFAULTS)
    assert found.after == GRID[3]
    assert found.gain.difference == 0.25
    assert found.gain.interval == (0.25, 0.25)
    assert found.is_beyond_chance
    assert found.means == (0.5, 0.75)


def test_of_equally_good_numbers_those_nearest_to_the_defaults_are_chosen() -> None:
    assert choose(GRID, alike(0.5, 0.7, 0.7, 0.7, 0.7, 0.7), DEFAULTS).after == GRID[1]
    assert choose(GRID, alike(0.5, 0.5, 0.5, 0.5, 0.5, 0.5), GRID[4]).after == DEFAULTS


def test_a_difference_in_the_last_bit_does_not_decide() -> None:
    assert choose(GRID, alike(0.3, 0.1 + 0.2, 0.0, 0.0, 0.0, 0.0), DEFAULTS).after == DEFAULTS


def test_numbers_that_only_fit_the_queries_they_were_chosen_on_gain_nothing() -> None:
    """Each query likes one candidate of its own: what helps some harms as many others."""
    values = {f"q{number}": [float(number % 6 == at) for at in range(6)] for number in range(60)}
    found = choose(GRID, values, DEFAULTS)
    assert not found.is_beyond_chance


def test_a_loss_beyond_chance_is_no_gain() -> None:
    found = choose(GRID, alike(0.5, 0.2, 0.1, 0.75, 0.1, 0.1), DEFAULTS)
    lost = replace(found, gain=PairedComparison(-0.2, (-0.3, -0.1), 0.001))
    assert not lost.is_beyond_chance


@settings(max_examples=20)  # each draws 2,000 samples
@given(QUERIES)
def test_every_query_is_held_out_once_and_its_fold_did_not_choose_by_it(values: CandidateValues) -> None:
    found = choose(GRID, values, DEFAULTS)
    sizes = [fold.queries for fold in found.folds]
    assert len(sizes) == FOLDS
    assert sum(sizes) == len(values)
    assert max(sizes) - min(sizes) <= 1
    weighed = sum(fold.after * fold.queries for fold in found.folds) / len(values)
    assert abs(weighed - found.means[1]) < 1e-12


@settings(max_examples=20)  # each draws 2,000 samples
@given(QUERIES)
def test_the_final_choice_is_the_best_there_is_on_all_queries(values: CandidateValues) -> None:
    found = choose(GRID, values, DEFAULTS)
    means = [mean(column) for column in zip(*values.values(), strict=True)]
    assert abs(means[GRID.index(found.after)] - max(means)) < 1e-11


@settings(max_examples=20)  # each draws 2,000 samples
@given(QUERIES, st.randoms())
def test_the_order_of_the_queries_changes_nothing(values: CandidateValues, chance: object) -> None:
    shuffled = list(values.items())
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert choose(GRID, dict(shuffled), DEFAULTS) == choose(GRID, values, DEFAULTS)
