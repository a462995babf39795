"""The tables of bench/results/relevance.md, from the figures that relevance.py has measured."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from quintet.contracts import HOUSE
from quintet.evaluation.metrics import mean
from quintet.evaluation.statistics import Interval

Kind = Literal["text", "code"]
TEXT: Kind = "text"
CODE: Kind = "code"
DECIDES: Mapping[Kind, str] = {TEXT: "ndcg@10", CODE: "mrr@10"}
SPOKEN = {"ndcg@10": "nDCG@10", "mrr@10": "MRR@10", "r@100": "R@100"}
FOUR = ("scifact", "cranfield", "cacm", "cosqa")  # the mean is over these
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


@dataclass(frozen=True, slots=True)
class Ranking:
    """The figures of one run by metric; `gain` is what the house ranking has more, `gains` its interval."""

    contract: str
    mode: str | None
    means: Mapping[str, float]
    intervals: Mapping[str, Interval]
    gain: Mapping[str, float]
    gains: Mapping[str, Interval]

    @property
    def single(self) -> bool:
        return self.mode not in (None, "hybrid")


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured on one set; `documents` is None where files are indexed."""

    name: str
    kind: Kind
    documents: int | None
    queries: int
    splits: tuple[str, ...]
    rankings: Mapping[str, Ranking]

    @property
    def metric(self) -> str:
        return DECIDES[self.kind]

    @property
    def house(self) -> Ranking:
        """In its usual mode, which comes last of its modes."""
        return [ranking for ranking in self.rankings.values() if ranking.contract == HOUSE][-1]

    def others(self, *, single: bool) -> dict[str, Ranking]:
        """Single legs of all contracts, or what the other contracts make of several."""
        return {
            name: ranking
            for name, ranking in self.rankings.items()
            if ranking is not self.house
            and ranking.single == single
            and (single or ranking.contract != HOUSE)
        }

    def as_json(self) -> dict[str, Any]:
        shown = asdict(self)
        return {name: value for name, value in shown.items() if name != "name"}


def means(results: Sequence[Result]) -> dict[str, float]:
    """nDCG@10 over the four sets, by ranking; nothing if one of them was not measured."""
    four = [result for result in results if result.name in FOUR]
    if len(four) < len(FOUR):
        return {}
    names = four[0].rankings
    return {name: mean([result.rankings[name].means[DECIDES[TEXT]] for result in four]) for name in names}


def below(results: Sequence[Result]) -> dict[str, list[str]]:
    """Which rankings are above the house's beyond the interval, by set."""
    return {
        result.name: [name for name, other in result.rankings.items() if other.gains[result.metric][1] < 0]
        for result in results
    }


def renewed(page: str, results: Sequence[Result]) -> str:
    """The page with new figures between the two marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the page has lost its marks; put {BEGIN} and {END} where the figures belong")
    return "\n".join([before + BEGIN, "", *lines(results), "", END]) + after


def lines(results: Sequence[Result]) -> Iterator[str]:
    for kind in (TEXT, CODE):
        chosen = [result for result in results if result.kind == kind]
        if chosen:
            yield from (f"### {SPOKEN[DECIDES[kind]]}, {'texts' if kind == TEXT else 'code'}", "")
            yield from (*_figures(chosen), "")
    yield from ("### The house ranking against the rest", "")
    yield from (*_verdicts(results), "", "### The sets", "")
    yield from _sets(results)


def _figures(results: Sequence[Result]) -> Iterator[str]:
    """A row a ranking, the best of each set in bold."""
    average = means(results)
    yield _row(["ranking", *(result.name for result in results), *(["mean of four"] if average else [])])
    yield _row(["---"] * (1 + len(results) + bool(average)))
    best = {result.name: max(_value(result, name) for name in result.rankings) for result in results}
    for name in results[0].rankings:
        cells = [_cell(result, name, bold=_value(result, name) == best[result.name]) for result in results]
        if average:
            cells.append(_bold(_short(average[name]), average[name] == max(average.values())))
        yield _row([f"`{name}`", *cells])


def _value(result: Result, name: str) -> float:
    return result.rankings[name].means[result.metric]


def _cell(result: Result, name: str, *, bold: bool) -> str:
    low, high = result.rankings[name].intervals[result.metric]
    return f"{_bold(_short(_value(result, name)), bold)} ({_short(low)} to {_short(high)})"


def _verdicts(results: Sequence[Result]) -> Iterator[str]:
    yield _row(["set", "measure", "house", "best single leg", "gain", "best other contract", "gain", "below"])
    yield _row(["---"] * 8)
    worse = below(results)
    for result in results:
        legs = _against(result, result.others(single=True))
        contracts = _against(result, result.others(single=False))
        said = ", ".join(f"`{name}`" for name in worse[result.name]) or "none"
        yield _row(
            [
                result.name,
                SPOKEN[result.metric],
                _short(result.house.means[result.metric]),
                *legs,
                *contracts,
                said,
            ]
        )


def _against(result: Result, others: Mapping[str, Ranking]) -> tuple[str, str]:
    """The best of them, and what the house ranking has more."""
    if not others:
        return "-", "-"
    metric = result.metric
    name = max(others, key=lambda name: others[name].means[metric])
    low, high = others[name].gains[metric]
    gain = f"{_signed(others[name].gain[metric])} ({_signed(low)} to {_signed(high)})"
    return f"`{name}` {_short(others[name].means[metric])}", gain


def _sets(results: Sequence[Result]) -> Iterator[str]:
    yield _row(["set", "documents", "queries", "splits"])
    yield _row(["---"] * 4)
    for result in results:
        size = "files of a folder" if result.documents is None else f"{result.documents:,}"
        splits = ", ".join(result.splits) if len(result.splits) > 1 else f"{result.splits[0]} only"
        yield _row([result.name, size, str(result.queries), splits])


def _row(cells: Sequence[str]) -> str:
    return "|".join(["", *(f" {cell} " if cell != "---" else cell for cell in cells), ""])


def _bold(text: str, bold: bool) -> str:
    return f"**{text}**" if bold else text


def _short(value: float) -> str:
    """
    >>> _short(0.70684)
    '.707'
    """
    return f"{value:.3f}".removeprefix("0")


def _signed(value: float) -> str:
    return ("-" if value < 0 else "+") + _short(abs(value))
