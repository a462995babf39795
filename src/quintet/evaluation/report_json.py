"""PURE. A report as JSON."""

from collections.abc import Mapping

from quintet.evaluation import calibration
from quintet.evaluation.beir import JudgedQueries
from quintet.evaluation.calibration import reliability
from quintet.evaluation.report import EvaluationReport, Gain, RunScores, Summary
from quintet.evaluation.statistics import PairedComparison


def as_json(report: EvaluationReport, *, per_query: bool) -> dict[str, object]:
    """`{dataset, runs: [{contract, mode, metrics, intervals, seconds}]}`, and only if they apply: `unit` and
    `drop_own`; `params` of a grid, `groups`, `queries` and `comparisons`; `questions` that no file holds;
    `calibration` of answers with a confidence."""
    fields: dict[str, object] = {"dataset": report.judged.name}
    if report.counting.unit is not None:
        fields["unit"] = report.counting.unit
    if report.counting.drop_own:
        fields["drop_own"] = True
    fields["runs"] = [_run(scores, report.judged, per_query=per_query) for scores in report.runs]
    if report.comparisons:
        fields["comparisons"] = [
            _gain(number, gain) for number, gain in enumerate(report.comparisons, start=1)
        ]
    if per_query and report.judged.groups:
        fields["questions"] = {
            query: {"text": text, "targets": list(report.judged.grades[query])}
            for query, text in report.judged.queries.items()
        }
    return fields


def _gain(run: int, gain: Gain) -> dict[str, object]:
    fields: dict[str, object] = {"run": run, "with": 0, "metrics": _by_metric(gain.all)}
    if gain.groups:
        fields["groups"] = {name: {"metrics": _by_metric(group)} for name, group in gain.groups.items()}
    return fields


def _by_metric(comparisons: Mapping[str, PairedComparison]) -> dict[str, object]:
    return {name: comparison._asdict() for name, comparison in comparisons.items()}


def _run(scores: RunScores, judged: JudgedQueries, *, per_query: bool) -> dict[str, object]:
    run, spec = scores.run, scores.run.spec
    fields: dict[str, object] = {
        "contract": spec.contract,
        "mode": spec.mode,
        **_summary(scores),
        "seconds": run.seconds,
    }
    if spec.params:
        fields["params"] = dict(spec.params)
    if run.points:
        fields["calibration"] = calibration.as_json(reliability(run.points))
    if scores.groups:
        fields["groups"] = {
            name: {"queries": group.queries, "possible": judged.groups[name].possible} | _summary(group)
            for name, group in scores.groups.items()
        }
    if per_query:
        fields["queries"] = {
            query: {name: by_query[query] for name, by_query in scores.values.items()}
            for query in judged.grades
        }
    return fields


def _summary(summary: Summary) -> dict[str, object]:
    edges = {name: list(interval) for name, interval in summary.intervals.items()}
    return {"metrics": dict(summary.means), "intervals": edges}
