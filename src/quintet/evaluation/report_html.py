"""PURE. A report as one self-contained HTML page: tables, plots, best and worst queries."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from quintet.evaluation.beir import JudgedQueries
from quintet.evaluation.calibration import Reliability, reliability
from quintet.evaluation.rankings import RunResult
from quintet.evaluation.report import EvaluationReport, RunScores, Summary
from quintet.evaluation.statistics import PairedComparison
from quintet.model.results import Evidence, Signal

QUERIES_SHOWN = 5  # best and worst of each run
RELEVANT_SHOWN = 10
LONGEST = 300  # characters of a query
BARS = 10
BAR_WIDTH, HEIGHT, MARGIN = 36, 120, 24
SIDE = 312  # of a reliability diagram: as wide as the others with its margins

STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --dim: #667; --line: #ccd; --bar: #3a6ea5; --back: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --dim: #9aa4b2; --line: #3a4150; --bar: #7fb0e6; --back: #14181f; }
}
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: var(--back); }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
td, svg { font-variant-numeric: tabular-nums; }
small, .dim { color: var(--dim); }
.wide { overflow-x: auto; }
svg rect, svg circle { fill: var(--bar); } svg path { stroke: var(--dim); fill: none; }
svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }
article { border-left: 3px solid var(--line); padding-left: 1rem; margin: 1rem 0; overflow-wrap: anywhere; }
"""


def page(report: EvaluationReport) -> str:
    """Text from files is escaped; the page has no scripts and no outside links."""
    return "\n".join(_page(report)) + "\n"


def _page(report: EvaluationReport) -> Iterator[str]:
    title = f"{escape(report.judged.name)}: evaluation"
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{STYLE}</style></head><body>"
    queries = f"{len(report.judged.grades)} queries{report.counting}"
    yield f"<h1>{title}</h1><p>{queries}. Below each mean is its 95 % interval.</p>"
    for note in report.judged.notes:
        yield f"<p class=dim>{escape(note['message'])}</p>"
    yield from _means(report)
    yield from _comparisons(report)
    for scores in report.runs:
        yield f"<section><h2>{escape(scores.run.spec.name)}</h2>"
        for metric in report.metrics:
            yield _distribution(str(metric), list(scores.values[str(metric)].values()))
        if scores.run.points:
            yield from _reliability(reliability(scores.run.points))
        yield from _queries(scores, report)
        yield "</section>"
    yield "</body></html>"


def _means(report: EvaluationReport) -> Iterator[str]:
    names = [str(metric) for metric in report.metrics]
    yield '<div class="wide"><table><thead><tr><th scope="col">run</th>'
    yield "".join(f'<th scope="col">{name}</th>' for name in names) + "</tr></thead><tbody>"
    for scores in report.runs:
        yield _row(scores.run.spec.name, scores, names)
        for name, group in scores.groups.items():
            yield _row(f"{name} ({group.queries} of {report.judged.groups[name].possible})", group, names)
    yield "</tbody></table></div>"


def _row(title: str, summary: Summary, names: Sequence[str]) -> str:
    cells = "".join(
        f"<td>{summary.means[name]:.4f}<br><small>{_span(summary.intervals[name])}</small></td>"
        for name in names
    )
    return f"<tr><td>{escape(title)}</td>{cells}</tr>"


def _span(edges: tuple[float, float]) -> str:
    return f"{edges[0]:.4f} to {edges[1]:.4f}"


def _comparisons(report: EvaluationReport) -> Iterator[str]:
    for scores, gain in zip(report.runs[1:], report.comparisons, strict=False):
        yield f"<h2>{escape(scores.run.spec.name)} against {escape(report.runs[0].run.spec.name)}</h2>"
        yield from _gains(gain.all)
        for name, gains in gain.groups.items():
            yield f"<h3>{escape(name)}</h3>"
            yield from _gains(gains)


def _gains(gains: Mapping[str, PairedComparison]) -> Iterator[str]:
    yield '<table><thead><tr><th scope="col">metric</th><th scope="col">gain</th>'
    yield '<th scope="col">95 % interval</th><th scope="col">p</th></tr></thead><tbody>'
    for name, gain in gains.items():
        cells = (name, f"{gain.difference:+.4f}", _span(gain.interval), f"{gain.p:.4f}")
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table>"


def _distribution(name: str, values: Sequence[float]) -> str:
    """The number of queries by value: ten bars from 0 to 1; the last includes 1."""
    counts = [0] * BARS
    for value in values:
        counts[min(BARS - 1, int(value * BARS))] += 1
    tallest = max(1, *counts)
    parts = []
    for place, count in enumerate(counts):
        height = round((HEIGHT - 2 * MARGIN) * count / tallest, 2)
        left, top = place * BAR_WIDTH, HEIGHT - MARGIN - height
        parts.append(f'<rect x="{left + 2}" y="{top:g}" width="{BAR_WIDTH - 4}" height="{height:g}"/>')
        middle = left + BAR_WIDTH / 2
        parts.append(f'<text x="{middle:g}" y="{top - 4:g}" text-anchor="middle">{count}</text>')
        parts.append(f'<text x="{left}" y="{HEIGHT - 8}">{place / BARS:g}</text>')
    spoken = f"{name}: queries by value, from 0 to 1 in tenths: {', '.join(map(str, counts))}"
    width = BARS * BAR_WIDTH
    return (
        f"<figure><figcaption>{name}: queries by value</figcaption>"
        f'<svg viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" role="img" '
        f'aria-label="{spoken}">{"".join(parts)}</svg></figure>'
    )


def _reliability(curve: Reliability) -> Iterator[str]:
    """A dot per bin, its size by the number of answers; on the diagonal, confidence is right."""
    largest = max(bin.count for bin in curve.bins)
    parts = [f'<path d="M0 0V{SIDE}H{SIDE}M0 {SIDE}L{SIDE} 0"/>', *_scale()]
    for bin in curve.bins:
        across, down = SIDE * bin.predicted, SIDE * (1 - bin.observed)
        size = 3 + 9 * (bin.count / largest) ** 0.5
        parts.append(f'<circle cx="{across:.2f}" cy="{down:.2f}" r="{size:.2f}"/>')
        above = bin.observed > bin.predicted
        beside, anchor = (across - size - 4, "end") if above else (across + size + 4, "start")
        label = f'<text x="{beside:.2f}" y="{down + 4:.2f}" text-anchor="{anchor}">{bin.count}</text>'
        parts.append(label)
    spoken = "; ".join(f"{bin.observed:.2f} of {bin.count} at {bin.predicted:.2f}" for bin in curve.bins)
    whole = SIDE + 2 * MARGIN
    yield "<figure><figcaption>confidence (across) and the share of answers that are right (up)</figcaption>"
    yield (
        f'<svg viewBox="{-MARGIN} {-MARGIN} {whole} {whole}" width="{whole}" height="{whole}" role="img" '
        f'aria-label="right answers by confidence: {spoken}">{"".join(parts)}</svg></figure>'
    )
    yield (
        "<p>Each query was searched twice, the second time without its relevant documents. "
        f"Over {curve.count} answers confidence is off by {curve.error:.4f} on average; "
        f"its Brier score is {curve.brier:.4f}.</p>"
    )


def _scale() -> Iterator[str]:
    for value in (0, 0.5, 1):
        at = SIDE * value
        yield f'<text x="{at:g}" y="{SIDE + 16}" text-anchor="middle">{value}</text>'
        yield f'<text x="-6" y="{SIDE - at + 4:g}" text-anchor="end">{value}</text>'


def _queries(scores: RunScores, report: EvaluationReport) -> Iterator[str]:
    """By the first metric; ties by the other metrics, then by id."""
    order = sorted(
        report.judged.grades, key=lambda query: (*(values[query] for values in scores.values.values()), query)
    )
    worst = order[:QUERIES_SHOWN]
    best = [query for query in reversed(order) if query not in worst][:QUERIES_SHOWN]
    for title, queries in (("Worst queries", worst), ("Best queries", best)):
        if queries:
            yield f"<h3>{title}</h3>"
            for query in queries:
                yield from _query(query, scores, report.judged)


def _query(query: str, scores: RunScores, judged: JudgedQueries) -> Iterator[str]:
    values = ", ".join(f"{name} {by_query[query]:.4f}" for name, by_query in scores.values.items())
    text = judged.queries[query]
    shown = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    results = scores.run.results.get(query, ())
    ranks = {result.item: rank for rank, result in enumerate(results, start=1)}
    yield f"<article><h4>{escape(shown)}</h4><p class=dim>query {escape(query)}: {values}</p><ul>"
    relevant = sorted(
        (item for item, grade in judged.grades[query].items() if grade > 0),
        key=lambda item: (ranks.get(item, len(results) + 1), item),
    )
    for item in relevant[:RELEVANT_SHOWN]:
        yield f"<li>relevant: {_explained(item, ranks, results, judged.grades[query])}</li>"
    if len(relevant) > RELEVANT_SHOWN:
        yield f"<li>and {len(relevant) - RELEVANT_SHOWN} more that are relevant</li>"
    for result in results[:3]:
        if result.item not in relevant:
            yield f"<li>instead: {_explained(result.item, ranks, results, {})}</li>"
    yield "</ul></article>"


def _explained(
    item: str, ranks: Mapping[str, int], results: Sequence[RunResult], grades: Mapping[str, int]
) -> str:
    grade = f" (grade {grades[item]})" if item in grades else ""
    if item not in ranks:
        return f"<b>{escape(item)}</b>{grade} is not among the first {len(results)}"
    result = results[ranks[item] - 1]
    why = "; ".join(_signal(name, evidence) for name, evidence in result.evidence.items())
    place = f"<b>{escape(item)}</b>{grade} at rank {ranks[item]}, score {result.score:.4g}"
    return f"{place}: {why}" if why else place


def _signal(name: Signal, evidence: Evidence) -> str:
    place = "not among the" if evidence.rank is None else f"rank {evidence.rank} of"
    return (
        f"{name} {place} {evidence.of}, raw {evidence.raw:.4g}, weight {evidence.weight:.4g}, "
        f"gave {evidence.contribution:.4g}"
    )
