"""The measures: spec 004's formulas, and the same numbers as the tools of the field."""

from collections.abc import Mapping, Sequence
from math import log2

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from quintet.errors import UsageError
from quintet.evaluation.metrics import DEFAULT, Metric, mean, metrics_named

ITEMS = [f"d{number}" for number in range(15)]
RANKINGS = st.lists(st.sampled_from(ITEMS), unique=True)
GRADES = st.dictionaries(st.sampled_from(ITEMS), st.integers(0, 3), min_size=1).filter(
    lambda grades: any(grades.values())
)
CUTOFFS = (1, 3, 10, 100)


def value(name: str, ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    return Metric.named(name)(ranking, grades)


def scored(ranking: Sequence[str]) -> dict[str, float]:
    """As tools want it: a score for each, falling."""
    return {item: float(len(ranking) - place) for place, item in enumerate(ranking)}


@pytest.mark.requirement("004-M-PRECISION")
def test_precision_is_the_relevant_share_of_k_places_even_of_a_short_list() -> None:
    grades = {"a": 1, "b": 2, "c": 0}
    assert value("p@2", ["a", "c", "b"], grades) == 1 / 2
    assert value("p@10", ["a", "c", "b"], grades) == 2 / 10


@pytest.mark.requirement("004-M-RECALL")
def test_recall_is_the_share_of_all_that_is_relevant() -> None:
    grades = {"a": 1, "b": 3, "c": 1, "d": 0}
    assert value("r@2", ["a", "d", "b"], grades) == 1 / 3
    assert value("r@100", ["a", "d", "b"], grades) == 2 / 3


@pytest.mark.requirement("004-M-NDCG")
def test_ndcg_is_the_discounted_gain_over_that_of_the_best_order() -> None:
    grades = {"a": 1, "b": 3, "c": 2}
    gained = 1 / log2(2) + 0 / log2(3) + 3 / log2(4)
    best = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert value("ndcg@3", ["a", "x", "b", "c"], grades) == pytest.approx(gained / best, abs=1e-15)
    assert value("ndcg@10", ["b", "c", "a"], grades) == 1.0


def test_reciprocal_rank_and_average_precision_are_as_they_are_defined() -> None:
    grades = {"a": 1, "b": 1, "c": 1}
    assert value("mrr", ["x", "y", "a"], grades) == 1 / 3
    assert value("mrr@2", ["x", "y", "a"], grades) == 0.0
    assert value("map", ["x", "a", "y", "b"], grades) == (1 / 2 + 2 / 4) / 3
    assert value("map@3", ["x", "a", "y", "b"], grades) == (1 / 2) / 3


@given(RANKINGS, GRADES)
@pytest.mark.requirement("004-M-PRECISION", "004-M-RECALL", "004-M-NDCG")
def test_trec_eval_gives_the_same_numbers(ranking: list[str], grades: dict[str, int]) -> None:
    cuts = ",".join(map(str, CUTOFFS))
    wanted = {
        "map",
        "ndcg",
        "recip_rank",
        *(f"{one}.{cuts}" for one in ("P", "recall", "ndcg_cut", "map_cut")),
    }
    # An empty list is no run to trec_eval: one result that nobody judged is worth as little.
    run = {"q": scored(ranking or ["unjudged"])}
    theirs = pytrec_eval.RelevanceEvaluator({"q": grades}, wanted).evaluate(run)["q"]
    ours = {"map": "map", "ndcg": "ndcg", "recip_rank": "mrr"}
    for cut in CUTOFFS:
        ours |= {f"P_{cut}": f"p@{cut}", f"recall_{cut}": f"r@{cut}"}
        ours |= {f"ndcg_cut_{cut}": f"ndcg@{cut}", f"map_cut_{cut}": f"map@{cut}"}
    assert theirs.keys() == ours.keys()
    assert {name: value(ours[name], ranking, grades) for name in ours} == pytest.approx(theirs, abs=1e-12)


@given(st.dictionaries(st.sampled_from("abcde"), st.tuples(RANKINGS, GRADES), min_size=1))
def test_ir_measures_gives_the_same_means(queries: dict[str, tuple[list[str], dict[str, int]]]) -> None:
    """Queries that a run does not answer count with 0."""
    theirs = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(name) for name in ("nDCG@10", "P@10", "R@100", "RR@10", "AP@100")],
        {query: grades for query, (_, grades) in queries.items()},
        {query: scored(ranking) for query, (ranking, _) in queries.items()},
    )
    names = {"nDCG@10": "ndcg@10", "P@10": "p@10", "R@100": "r@100", "RR@10": "mrr@10", "AP@100": "map@100"}
    for measure, number in theirs.items():
        metric = Metric.named(names[str(measure)])
        ours = mean([metric(ranking, grades) for ranking, grades in queries.values()])
        assert ours == pytest.approx(number, abs=1e-12), measure


@given(RANKINGS, GRADES)
def test_every_measure_lies_between_zero_and_one(ranking: list[str], grades: dict[str, int]) -> None:
    for metric in metrics_named(DEFAULT):
        assert 0.0 <= metric(ranking, grades) <= 1.0


def test_a_query_without_results_or_without_anything_relevant_is_worth_nothing() -> None:
    for name in (*DEFAULT, "ndcg", "mrr", "map"):
        assert value(name, [], {"a": 1}) == 0.0
        assert value(name, ["a"], {"a": 0}) == 0.0


def test_a_grade_below_zero_is_not_relevant_and_costs_nothing() -> None:
    assert value("ndcg@10", ["spam", "a"], {"spam": -2, "a": 1}) == value("ndcg@10", ["x", "a"], {"a": 1})


def test_the_mean_does_not_depend_on_the_order_of_the_queries() -> None:
    values = [0.1, 1e16, 0.3, -1e16, 0.7]
    assert mean(values) == mean(sorted(values)) == mean(values[::-1])
    assert mean([]) == 0.0


def test_metrics_may_be_joined_by_commas_and_count_once() -> None:
    assert [str(one) for one in metrics_named(["NDCG@10,p@5", "ndcg@10", "mrr"])] == ["ndcg@10", "p@5", "mrr"]


@pytest.mark.parametrize(
    "name", ["", "p", "r", "ndcg@", "ndcg@0", "ndcg@1001", "ndcg@9999999999", "bleu@4", "p@-1"]
)
def test_an_unknown_metric_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UsageError, match=r"there is no metric .*ndcg@N, p@N, r@N, mrr"):
        metrics_named([name])
