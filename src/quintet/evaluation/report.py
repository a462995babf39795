"""PURE. What runs are worth: means, intervals, comparisons; as JSON and as a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quintet.evaluation import calibration
from quintet.evaluation.calibration import reliability
from quintet.evaluation.judgements import Judged
from quintet.evaluation.metrics import Metric, mean
from quintet.evaluation.runs import Run
from quintet.evaluation.statistics import Comparison, Interval, compared, intervals

Values = Mapping[str, Mapping[str, float]]
"""By metric, then by query."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What some queries are worth together, by metric."""

    queries: int
    means: Mapping[str, float]
    intervals: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class Measured(Summary):
    """A run over all queries, and over those of each group where there are groups."""

    run: Run
    values: Values
    groups: Mapping[str, Summary]


@dataclass(frozen=True, slots=True)
class Gain:
    """What a run gained over another, by metric; of all queries, and of each group."""

    all: Mapping[str, Comparison]
    groups: Mapping[str, Mapping[str, Comparison]]


@dataclass(frozen=True, slots=True)
class Report:
    """Runs over the same queries; with comparisons, each but the first is set against the first."""

    judged: Judged
    metrics: tuple[Metric, ...]
    runs: Sequence[Measured]
    comparisons: Sequence[Gain] = ()


def report(judged: Judged, metrics: tuple[Metric, ...], runs: Sequence[Run], *, compare: bool) -> Report:
    done = [measured(run, judged, metrics) for run in runs]
    rest = done[1:] if compare else []
    return Report(judged, metrics, done, [_gain(one.values, done[0].values, judged) for one in rest])


def _gain(values: Values, first: Values, judged: Judged) -> Gain:
    groups = {
        name: _compared(_only(group.queries, values), _only(group.queries, first))
        for name, group in judged.groups.items()
    }
    return Gain(_compared(values, first), groups)


def _compared(values: Values, first: Values) -> dict[str, Comparison]:
    return {name: compared(by_query, first[name]) for name, by_query in values.items()}


def _only(queries: Sequence[str], values: Values) -> Values:
    return {name: {query: by_query[query] for query in queries} for name, by_query in values.items()}


def measured(run: Run, judged: Judged, metrics: Sequence[Metric]) -> Measured:
    """A query that the run does not answer counts with 0; what it says of other queries is left out."""
    rankings = run.rankings()
    values = {
        str(metric): {query: metric(rankings.get(query, ()), its) for query, its in judged.grades.items()}
        for metric in metrics
    }
    groups = {name: Summary(*_summary(_only(group.queries, values))) for name, group in judged.groups.items()}
    return Measured(*_summary(values), run, values, groups)


def _summary(values: Values) -> tuple[int, dict[str, float], dict[str, Interval]]:
    columns = {name: list(by_query.values()) for name, by_query in values.items()}
    count = len(next(iter(columns.values())))
    return count, {name: mean(column) for name, column in columns.items()}, intervals(columns)


def as_json(report: Report, *, per_query: bool) -> dict[str, object]:
    """`{dataset, runs: [{contract, mode, metrics, intervals, seconds}]}`, and only what else was asked for:
    `params` of a grid, `groups`, `queries` and `comparisons`; `questions` where no file holds them;
    `calibration` where answers have a confidence."""
    shown: dict[str, object] = {
        "dataset": report.judged.name,
        "runs": [_run_as_json(one, report.judged, per_query=per_query) for one in report.runs],
    }
    if report.comparisons:
        numbered = enumerate(report.comparisons, start=1)
        shown["comparisons"] = [_gain_as_json(place, gain) for place, gain in numbered]
    if per_query and report.judged.groups:
        shown["questions"] = {
            query: {"text": text, "targets": list(report.judged.grades[query])}
            for query, text in report.judged.queries.items()
        }
    return shown


def _gain_as_json(place: int, gain: Gain) -> dict[str, object]:
    shown: dict[str, object] = {"run": place, "with": 0, "metrics": _gains_as_json(gain.all)}
    if gain.groups:
        shown["groups"] = {name: {"metrics": _gains_as_json(one)} for name, one in gain.groups.items()}
    return shown


def _gains_as_json(gains: Mapping[str, Comparison]) -> dict[str, object]:
    return {name: gain.as_json() for name, gain in gains.items()}


def _run_as_json(one: Measured, judged: Judged, *, per_query: bool) -> dict[str, object]:
    asked = one.run.asked
    shown: dict[str, object] = {
        "contract": asked.contract,
        "mode": asked.mode,
        **_summary_as_json(one),
        "seconds": one.run.seconds,
    }
    if asked.params:
        shown["params"] = dict(asked.params)
    if one.run.outcomes:
        shown["calibration"] = calibration.as_json(reliability(one.run.outcomes))
    if one.groups:
        shown["groups"] = {
            name: {"queries": group.queries, "possible": judged.groups[name].possible}
            | _summary_as_json(group)
            for name, group in one.groups.items()
        }
    if per_query:
        shown["queries"] = {
            query: {name: by_query[query] for name, by_query in one.values.items()} for query in judged.grades
        }
    return shown


def _summary_as_json(summary: Summary) -> dict[str, object]:
    edges = {name: list(interval) for name, interval in summary.intervals.items()}
    return {"metrics": dict(summary.means), "intervals": edges}


def table(report: Report, *, per_query: bool) -> Iterator[str]:
    """Lines for people: a row a run, then what each gained, then each query."""
    names = [str(metric) for metric in report.metrics]
    titles = [title for one in report.runs for title, _ in _rows(one)]
    width = max(len("run"), *map(len, titles))
    yield f"{report.judged.name}: {len(report.judged.grades)} queries{_of(report.judged)}"
    heads = "".join(f"{name:>10}" for name in names)
    yield f"{'run':<{width}}{heads}{'s':>8}  95 % of {names[0]}"
    for one in report.runs:
        for title, summary in _rows(one):
            cells = "".join(f"{summary.means[name]:>10.4f}" for name in names)
            timed = summary is one and one.run.seconds is not None
            seconds = f"{one.run.seconds:.1f}" if timed else ""
            low, high = summary.intervals[names[0]]
            yield f"{title:<{width}}{cells}{seconds:>8}  {low:.4f} to {high:.4f}"
    yield from _sure(report)
    for one, gain in zip(report.runs[1:], report.comparisons, strict=False):
        yield ""
        yield f"{one.run.asked.name} against {report.runs[0].run.asked.name}"
        yield from _gains(gain.all)
        for name, gains in gain.groups.items():
            yield f"  {name}"
            yield from _gains(gains)
    if per_query:
        yield from _queries(report, names)


def _sure(report: Report) -> Iterator[str]:
    for one in report.runs:
        if one.run.outcomes:
            found = reliability(one.run.outcomes)
            yield (
                f"{one.run.asked.name}: confidence is off by {found.error:.4f} in the mean, Brier score "
                f"{found.brier:.4f}, over {found.count} answers; half of them without what is relevant"
            )


def _rows(one: Measured) -> Iterator[tuple[str, Summary]]:
    yield one.run.asked.name, one
    yield from ((f"  {name} ({group.queries})", group) for name, group in one.groups.items())


def _of(judged: Judged) -> str:
    """How many there could have been, where that is known."""
    if not judged.groups:
        return ""
    by_kind = ", ".join(f"{name} {group.possible}" for name, group in judged.groups.items())
    return f" of {sum(one.possible for one in judged.groups.values())} that could be made ({by_kind})"


def _gains(gains: Mapping[str, Comparison]) -> Iterator[str]:
    for name, gain in gains.items():
        low, high = gain.interval
        yield f"{name:>10}  {gain.difference:+.4f}  {low:+.4f} to {high:+.4f}  p {gain.p:.4f}"


def _queries(report: Report, names: Sequence[str]) -> Iterator[str]:
    width = max(len("query"), *(len(query) for query in report.judged.grades))
    for one in report.runs:
        yield ""
        yield one.run.asked.name
        yield f"{'query':<{width}}" + "".join(f"{name:>10}" for name in names)
        for query in report.judged.grades:
            cells = "".join(f"{one.values[name][query]:>10.4f}" for name in names)
            text = f"  {report.judged.queries[query]}" if report.judged.groups else ""
            yield f"{query:<{width}}{cells}{text}"
