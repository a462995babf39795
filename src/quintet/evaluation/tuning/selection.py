"""PURE. Which numbers serve a set of queries best, and what choosing is worth on queries it did not see."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product

from quintet.evaluation.metrics import mean
from quintet.evaluation.statistics import Comparison, compared
from quintet.ranking.order import steady

FOLDS = 5
LEAST_QUERIES = 50  # with fewer, a bootstrap interval is too narrow to be trusted

Numbers = Mapping[str, float]
"""Values of parameters by name."""

Values = Mapping[str, Sequence[float]]
"""By query: what each candidate is worth to it."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Queries that the numbers chosen on all others were measured on: the means of both."""

    queries: int
    chosen: Numbers
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Choice:
    """`before` is in use and `after` is best on all queries; the gain is that of the folds' choices."""

    before: Numbers
    after: Numbers
    folds: tuple[Fold, ...]
    means: tuple[float, float]  # before, and over the queries of all folds with what was chosen without them
    gain: Comparison

    @property
    def is_beyond_chance(self) -> bool:
        """Does the 95 % interval of the gain lie above zero?"""
        return self.gain.interval[0] > 0


def candidates(axes: Mapping[str, Sequence[float]], defaults: Numbers, current: Numbers) -> list[Numbers]:
    """Every combination, those first that are the fewest steps from the defaults; and what is in use.

    >>> [one["a"] for one in candidates({"a": [1, 2, 3]}, {"a": 2}, {"a": 9})]
    [2, 1, 3, 9]
    """

    def steps(numbers: Numbers) -> int:
        return sum(abs(axis.index(numbers[name]) - axis.index(defaults[name])) for name, axis in axes.items())

    grid = sorted((dict(zip(axes, point, strict=True)) for point in product(*axes.values())), key=steps)
    return [*grid, *(() if current in grid else (current,))]


def choice(numbers: Sequence[Numbers], values: Values, current: Numbers) -> Choice:
    """Cross-validated. Of candidates with the same mean the first is chosen."""
    now = numbers.index(current)
    before = {query: its[now] for query, its in values.items()}
    after: dict[str, float] = {}
    folds = []
    for held_out in _folds(list(values)):
        best = _best(values, [query for query in values if query not in held_out])
        after |= {query: values[query][best] for query in held_out}
        means = (mean([its[query] for query in held_out]) for its in (before, after))
        folds.append(Fold(len(held_out), numbers[best], *means))
    return Choice(
        current,
        numbers[_best(values, list(values))],
        tuple(folds),
        (mean(list(before.values())), mean(list(after.values()))),
        compared(after, before),
    )


def _folds(queries: Sequence[str]) -> Iterator[frozenset[str]]:
    """Dealt out in the order of their digests, so that neither names nor order of the file decide."""
    dealt = sorted(queries, key=lambda query: sha256(query.encode("utf-8", "surrogatepass")).digest())
    return (frozenset(dealt[first::FOLDS]) for first in range(FOLDS))


def _best(values: Values, queries: Sequence[str]) -> int:
    columns = zip(*(values[query] for query in queries), strict=True)
    means = [steady(mean(column)) for column in columns]  # the last bit must not decide between equals
    return means.index(max(means))
