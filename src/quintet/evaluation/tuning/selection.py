"""PURE. Choose the numbers that serve a set of queries best, and estimate the gain on other queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from typing import NamedTuple

from quintet.evaluation.metrics import mean
from quintet.evaluation.statistics import PairedComparison, compare
from quintet.ranking.order import steady

FOLDS = 5
LEAST_QUERIES = 50  # with fewer, a bootstrap interval is too narrow to be trusted

Numbers = Mapping[str, float]
"""Values of parameters by name."""

CandidateValues = Mapping[str, Sequence[float]]
"""By query: the metric of each candidate."""


class Fold(NamedTuple):
    """Some of the queries. `chosen` are the numbers that are best on all other queries; `before` and `after`
    are the means over these."""

    queries: int
    chosen: Numbers
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Choice:
    """`before` is in use and `after` is best on all queries; `gain` is measured on the folds."""

    before: Numbers
    after: Numbers
    folds: tuple[Fold, ...]
    means: tuple[
        float, float
    ]  # with `before`, and with the numbers that each fold's queries had no part in choosing
    gain: PairedComparison

    @property
    def is_beyond_chance(self) -> bool:
        """Does the 95 % interval of the gain lie above zero?"""
        return self.gain.interval[0] > 0


def candidates(axes: Mapping[str, Sequence[float]], defaults: Numbers, current: Numbers) -> list[Numbers]:
    """Every combination, those nearest to the defaults first, and the numbers in use.

    >>> [numbers["a"] for numbers in candidates({"a": [1, 2, 3]}, {"a": 2}, {"a": 9})]
    [2, 1, 3, 9]
    """

    def steps(numbers: Numbers) -> int:
        return sum(abs(axis.index(numbers[name]) - axis.index(defaults[name])) for name, axis in axes.items())

    grid = sorted((dict(zip(axes, point, strict=True)) for point in product(*axes.values())), key=steps)
    return [*grid, *(() if current in grid else (current,))]


def choose(numbers: Sequence[Numbers], values: CandidateValues, current: Numbers) -> Choice:
    """Cross-validated. Of candidates with the same mean the first is chosen."""
    now = numbers.index(current)
    before = {query: metrics[now] for query, metrics in values.items()}
    after: dict[str, float] = {}
    folds = []
    for held_out in _folds(list(values)):
        best = _best(values, [query for query in values if query not in held_out])
        after |= {query: values[query][best] for query in held_out}
        means = (mean([metrics[query] for query in held_out]) for metrics in (before, after))
        folds.append(Fold(len(held_out), numbers[best], *means))
    return Choice(
        current,
        numbers[_best(values, list(values))],
        tuple(folds),
        (mean(list(before.values())), mean(list(after.values()))),
        compare(after, before),
    )


def _folds(queries: Sequence[str]) -> Iterator[frozenset[str]]:
    """Dealt out in the order of their digests, so that neither ids nor the order of the file matter."""
    dealt = sorted(queries, key=lambda query: sha256(query.encode("utf-8", "surrogatepass")).digest())
    return (frozenset(dealt[first::FOLDS]) for first in range(FOLDS))


def _best(values: CandidateValues, queries: Sequence[str]) -> int:
    columns = zip(*(values[query] for query in queries), strict=True)
    means = [steady(mean(column)) for column in columns]  # the last bit must not decide a tie
    return means.index(max(means))
