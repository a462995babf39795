"""PURE. What runs are worth: means, intervals, comparisons; as JSON and as a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quintet.evaluate.collection import Judged
from quintet.evaluate.metrics import Metric, mean
from quintet.evaluate.runs import Run
from quintet.evaluate.statistics import Comparison, Interval, compared, intervals


@dataclass(frozen=True, slots=True)
class Measured:
    """A run with its values, by metric; `values` by query as well."""

    run: Run
    values: Mapping[str, Mapping[str, float]]
    means: Mapping[str, float]
    intervals: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class Report:
    """Runs over the same queries; with comparisons, each but the first is set against the first."""

    judged: Judged
    metrics: tuple[Metric, ...]
    runs: Sequence[Measured]
    comparisons: Sequence[Mapping[str, Comparison]] = ()


def report(judged: Judged, metrics: tuple[Metric, ...], runs: Sequence[Run], *, compare: bool) -> Report:
    done = [measured(run, judged, metrics) for run in runs]
    first, rest = done[0], done[1:] if compare else []
    comparisons = [
        {name: compared(one.values[name], first.values[name]) for name in one.values} for one in rest
    ]
    return Report(judged, metrics, done, comparisons)


def measured(run: Run, judged: Judged, metrics: Sequence[Metric]) -> Measured:
    """A query that the run does not answer counts with 0; what it says of other queries is left out."""
    rankings = run.rankings()
    values = {
        str(metric): {query: metric(rankings.get(query, ()), its) for query, its in judged.grades.items()}
        for metric in metrics
    }
    return Measured(
        run,
        values,
        {name: mean(list(by_query.values())) for name, by_query in values.items()},
        intervals({name: list(by_query.values()) for name, by_query in values.items()}),
    )


def as_json(report: Report, *, per_query: bool) -> dict[str, object]:
    """`{dataset, runs: [{contract, mode, metrics, intervals, seconds}]}`, and only what else was asked for:
    `params` of a grid, `queries` and `comparisons`."""
    shown: dict[str, object] = {
        "dataset": report.judged.name,
        "runs": [_run_as_json(one, per_query=per_query) for one in report.runs],
    }
    if report.comparisons:
        shown["comparisons"] = [
            {
                "run": place,
                "with": 0,
                "metrics": {
                    name: {"difference": one.difference, "interval": list(one.interval), "p": one.p}
                    for name, one in comparison.items()
                },
            }
            for place, comparison in enumerate(report.comparisons, start=1)
        ]
    return shown


def _run_as_json(one: Measured, *, per_query: bool) -> dict[str, object]:
    asked = one.run.asked
    shown: dict[str, object] = {
        "contract": asked.contract,
        "mode": asked.mode,
        "metrics": dict(one.means),
        "intervals": {name: list(edges) for name, edges in one.intervals.items()},
        "seconds": one.run.seconds,
    }
    if asked.params:
        shown["params"] = dict(asked.params)
    if per_query:
        first = next(iter(one.values.values()))
        shown["queries"] = {
            query: {name: by_query[query] for name, by_query in one.values.items()} for query in first
        }
    return shown


def table(report: Report, *, per_query: bool) -> Iterator[str]:
    """Lines for people: a row a run, then what each gained, then each query."""
    names = [str(metric) for metric in report.metrics]
    width = max(len("run"), *(len(one.run.asked.name) for one in report.runs))
    yield f"{report.judged.name}: {len(report.judged.grades)} queries"
    heads = "".join(f"{name:>10}" for name in names)
    yield f"{'run':<{width}}{heads}{'s':>8}  95 % of {names[0]}"
    for one in report.runs:
        cells = "".join(f"{one.means[name]:>10.4f}" for name in names)
        seconds = "" if one.run.seconds is None else f"{one.run.seconds:.1f}"
        low, high = one.intervals[names[0]]
        yield f"{one.run.asked.name:<{width}}{cells}{seconds:>8}  {low:.4f} to {high:.4f}"
    for one, comparison in zip(report.runs[1:], report.comparisons, strict=False):
        yield ""
        yield f"{one.run.asked.name} against {report.runs[0].run.asked.name}"
        for name, gain in comparison.items():
            low, high = gain.interval
            yield f"{name:>10}  {gain.difference:+.4f}  {low:+.4f} to {high:+.4f}  p {gain.p:.4f}"
    if per_query:
        yield from _queries(report, names)


def _queries(report: Report, names: Sequence[str]) -> Iterator[str]:
    width = max(len("query"), *(len(query) for query in report.judged.grades))
    for one in report.runs:
        yield ""
        yield one.run.asked.name
        yield f"{'query':<{width}}" + "".join(f"{name:>10}" for name in names)
        for query in report.judged.grades:
            yield f"{query:<{width}}" + "".join(f"{one.values[name][query]:>10.4f}" for name in names)
