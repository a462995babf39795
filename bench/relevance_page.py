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
        return [one for one in self.rankings.values() if one.contract == HOUSE][-1]

    def others(self, *, single: bool) -> dict[str, Ranking]:
        """Single legs of all contracts, or what the other contracts make of several."""
        return {
            name: one
            for name, one in self.rankings.items()
            if one is not self.house and one.single == single and (single or one.contract != HOUSE)
        }

    def as_json(self) -> dict[str, Any]:
        shown = asdict(self)
        return {name: value for name, value in shown.items() if name != "name"}


def means(results: Sequence[Result]) -> dict[str, float]:
    """nDCG@10 over the four sets, by ranking; nothing if one of them was not measured."""
    four = [one for one in results if one.name in FOUR]
    if len(four) < len(FOUR):
        return {}
    names = four[0].rankings
    return {name: mean([one.rankings[name].means[DECIDES[TEXT]] for one in four]) for name in names}


def below(results: Sequence[Result]) -> dict[str, list[str]]:
    """Which rankings are above the house's beyond the interval, by set."""
    return {
        one.name: [name for name, other in one.rankings.items() if other.gains[one.metric][1] < 0]
        for one in results
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
        chosen = [one for one in results if one.kind == kind]
        if chosen:
            yield from (f"### {SPOKEN[DECIDES[kind]]}, {'texts' if kind == TEXT else 'code'}", "")
            yield from (*_figures(chosen), "")
    yield from ("### The house ranking against the rest", "")
    yield from (*_verdicts(results), "", "### The sets", "")
    yield from _sets(results)


def _figures(results: Sequence[Result]) -> Iterator[str]:
    """A row a ranking, the best of each set in bold."""
    average = means(results)
    yield _row(["ranking", *(one.name for one in results), *(["mean of four"] if average else [])])
    yield _row(["---"] * (1 + len(results) + bool(average)))
    best = {one.name: max(_value(one, name) for name in one.rankings) for one in results}
    for name in results[0].rankings:
        cells = [_cell(one, name, bold=_value(one, name) == best[one.name]) for one in results]
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
    for one in results:
        legs = _against(one, one.others(single=True))
        contracts = _against(one, one.others(single=False))
        said = ", ".join(f"`{name}`" for name in worse[one.name]) or "none"
        yield _row(
            [one.name, SPOKEN[one.metric], _short(one.house.means[one.metric]), *legs, *contracts, said]
        )


def _against(result: Result, others: Mapping[str, Ranking]) -> tuple[str, str]:
    """The best of them, and what the house ranking has more."""
    if not others:
        return "-", "-"
    metric = result.metric
    name = max(others, key=lambda one: others[one].means[metric])
    low, high = others[name].gains[metric]
    gain = f"{_signed(others[name].gain[metric])} ({_signed(low)} to {_signed(high)})"
    return f"`{name}` {_short(others[name].means[metric])}", gain


def _sets(results: Sequence[Result]) -> Iterator[str]:
    yield _row(["set", "documents", "queries", "splits"])
    yield _row(["---"] * 4)
    for one in results:
        size = "files of a folder" if one.documents is None else f"{one.documents:,}"
        splits = ", ".join(one.splits) if len(one.splits) > 1 else f"{one.splits[0]} only"
        yield _row([one.name, size, str(one.queries), splits])


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
