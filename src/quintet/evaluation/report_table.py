"""PURE. A report as lines of text for people."""

from collections.abc import Iterator, Mapping, Sequence

from quintet.evaluation.beir import JudgedQueries
from quintet.evaluation.calibration import reliability
from quintet.evaluation.report import EvaluationReport, RunScores, Summary
from quintet.evaluation.statistics import PairedComparison


def table(report: EvaluationReport, *, per_query: bool) -> Iterator[str]:
    """A row for each run, then the comparisons, then each query."""
    names = [str(metric) for metric in report.metrics]
    titles = [title for scores in report.runs for title, _ in _rows(scores)]
    width = max(len("run"), *map(len, titles))
    queries = f"{len(report.judged.grades)} queries{_possible(report.judged)}{report.counting}"
    yield f"{report.judged.name}: {queries}"
    heads = "".join(f"{name:>10}" for name in names)
    yield f"{'run':<{width}}{heads}{'s':>8}  95 % of {names[0]}"
    for scores in report.runs:
        for title, summary in _rows(scores):
            cells = "".join(f"{summary.means[name]:>10.4f}" for name in names)
            timed = summary is scores and scores.run.seconds is not None
            seconds = f"{scores.run.seconds:.1f}" if timed else ""
            low, high = summary.intervals[names[0]]
            yield f"{title:<{width}}{cells}{seconds:>8}  {low:.4f} to {high:.4f}"
    yield from _confidence(report)
    for scores, gain in zip(report.runs[1:], report.comparisons, strict=False):
        yield ""
        yield f"{scores.run.spec.name} against {report.runs[0].run.spec.name}"
        yield from _gains(gain.all)
        for name, gains in gain.groups.items():
            yield f"  {name}"
            yield from _gains(gains)
    if per_query:
        yield from _queries(report, names)


def _confidence(report: EvaluationReport) -> Iterator[str]:
    for scores in report.runs:
        if scores.run.points:
            curve = reliability(scores.run.points)
            yield (
                f"{scores.run.spec.name}: confidence is off by {curve.error:.4f} on average, Brier score "
                f"{curve.brier:.4f}, over {curve.count} answers; half of them without the relevant documents"
            )


def _rows(scores: RunScores) -> Iterator[tuple[str, Summary]]:
    yield scores.run.spec.name, scores
    yield from ((f"  {name} ({group.queries})", group) for name, group in scores.groups.items())


def _possible(judged: JudgedQueries) -> str:
    """The number of questions that could be made, if they were generated."""
    if not judged.groups:
        return ""
    by_kind = ", ".join(f"{name} {group.possible}" for name, group in judged.groups.items())
    return f" of {sum(group.possible for group in judged.groups.values())} that could be made ({by_kind})"


def _gains(gains: Mapping[str, PairedComparison]) -> Iterator[str]:
    for name, gain in gains.items():
        low, high = gain.interval
        yield f"{name:>10}  {gain.difference:+.4f}  {low:+.4f} to {high:+.4f}  p {gain.p:.4f}"


def _queries(report: EvaluationReport, names: Sequence[str]) -> Iterator[str]:
    width = max(len("query"), *(len(query) for query in report.judged.grades))
    for scores in report.runs:
        yield ""
        yield scores.run.spec.name
        yield f"{'query':<{width}}" + "".join(f"{name:>10}" for name in names)
        for query in report.judged.grades:
            cells = "".join(f"{scores.values[name][query]:>10.4f}" for name in names)
            text = f"  {report.judged.queries[query]}" if report.judged.groups else ""
            yield f"{query:<{width}}{cells}{text}"
