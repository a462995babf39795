"""PURE. Runs measured: means, intervals and comparisons. `report_json`, `_table` and `_html` show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quintet.evaluation.beir import JudgedQueries
from quintet.evaluation.counting import Counting
from quintet.evaluation.metrics import Metric, mean
from quintet.evaluation.rankings import SearchRun
from quintet.evaluation.statistics import Interval, PairedComparison, compare, intervals

MetricValues = Mapping[str, Mapping[str, float]]
"""By metric, then by query."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The mean and interval of each metric over some queries."""

    queries: int
    means: Mapping[str, float]
    intervals: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class RunScores(Summary):
    """A run over all queries, and over each group of queries if there are groups."""

    run: SearchRun
    values: MetricValues
    groups: Mapping[str, Summary]


@dataclass(frozen=True, slots=True)
class Gain:
    """A run compared with the first, by metric; over all queries, and over each group."""

    all: Mapping[str, PairedComparison]
    groups: Mapping[str, Mapping[str, PairedComparison]]


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """Runs over the same queries. `comparisons` compares each but the first with the first."""

    judged: JudgedQueries
    metrics: tuple[Metric, ...]
    counting: Counting
    runs: Sequence[RunScores]
    comparisons: Sequence[Gain] = ()


def make_report(
    judged: JudgedQueries,
    metrics: tuple[Metric, ...],
    counting: Counting,
    runs: Sequence[SearchRun],
    *,
    with_comparisons: bool,
) -> EvaluationReport:
    scores = [score_run(run, judged, metrics) for run in runs]
    others = scores[1:] if with_comparisons else []
    gains = [_gain(other.values, scores[0].values, judged) for other in others]
    return EvaluationReport(judged, metrics, counting, scores, gains)


def _gain(values: MetricValues, first: MetricValues, judged: JudgedQueries) -> Gain:
    groups = {
        name: _compare(_only(group.queries, values), _only(group.queries, first))
        for name, group in judged.groups.items()
    }
    return Gain(_compare(values, first), groups)


def _compare(values: MetricValues, first: MetricValues) -> dict[str, PairedComparison]:
    return {name: compare(by_query, first[name]) for name, by_query in values.items()}


def _only(queries: Sequence[str], values: MetricValues) -> MetricValues:
    return {name: {query: by_query[query] for query in queries} for name, by_query in values.items()}


def score_run(run: SearchRun, judged: JudgedQueries, metrics: Sequence[Metric]) -> RunScores:
    """A query without results counts as 0; results of queries that are not judged are ignored."""
    rankings = run.rankings()
    values = {
        str(metric): {
            query: metric(rankings.get(query, ()), grades) for query, grades in judged.grades.items()
        }
        for metric in metrics
    }
    groups = {name: Summary(*_summary(_only(group.queries, values))) for name, group in judged.groups.items()}
    return RunScores(*_summary(values), run, values, groups)


def _summary(values: MetricValues) -> tuple[int, dict[str, float], dict[str, Interval]]:
    columns = {name: list(by_query.values()) for name, by_query in values.items()}
    count = len(next(iter(columns.values())))
    return count, {name: mean(column) for name, column in columns.items()}, intervals(columns)
