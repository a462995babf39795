"""PURE. Confidence intervals of means, and tests of whether two runs differ: by resampling, with a seed.

`random.Random` gives the same numbers on every system and version of Python, and sums are rounded once, so
the last digit of an interval is the same everywhere.
"""

from collections.abc import Mapping, Sequence
from math import fsum
from random import Random
from typing import NamedTuple

from quintet.evaluation.metrics import mean

RESAMPLES = 2_000
SEED = 7
CONFIDENCE = 0.95

Interval = tuple[float, float]


class PairedComparison(NamedTuple):
    """The mean difference of two runs, query by query; `p` is how often chance alone does as much."""

    difference: float
    interval: Interval
    p: float


def intervals(
    columns: Mapping[str, Sequence[float]], resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Interval]:
    """The 95 % interval of each column's mean, by a percentile bootstrap over queries.

    All columns hold the same queries in the same order, and share the draws.
    """
    count, *others = {len(values) for values in columns.values()}
    if others or not count:
        raise ValueError("an interval needs values of the same queries, at least one")
    chance = Random(seed)
    means: dict[str, list[float]] = {name: [] for name in columns}
    for _ in range(resamples):
        drawn = [int(chance.random() * count) for _ in range(count)]
        for name, values in columns.items():
            means[name].append(fsum(map(values.__getitem__, drawn)) / count)
    return {name: _middle(sorted(drawn_means)) for name, drawn_means in means.items()}


def interval(values: Sequence[float], resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    return intervals({"": values}, resamples, seed)[""]


def compare(
    values: Mapping[str, float], baseline: Mapping[str, float], resamples: int = RESAMPLES, seed: int = SEED
) -> PairedComparison:
    """A bootstrap interval of the mean difference, and a two-sided randomisation test.

    The test flips the sign of each query's difference at random. With 2,000 tries and the observation, the
    smallest p is 1/2001. Both runs must have the same queries.
    """
    if values.keys() != baseline.keys() or not values:
        raise ValueError("the two runs are not over the same queries")
    differences = [values[query] - baseline[query] for query in sorted(values)]
    observed = abs(fsum(differences))
    chance = Random(seed)
    as_far = sum(abs(_flipped(differences, chance)) >= observed for _ in range(resamples))
    p = (as_far + 1) / (resamples + 1)
    return PairedComparison(mean(differences), interval(differences, resamples, seed), p)


def _flipped(differences: Sequence[float], chance: Random) -> float:
    signs = f"{chance.getrandbits(len(differences)):0{len(differences)}b}"
    pairs = zip(signs, differences, strict=True)
    return fsum(difference if sign == "1" else -difference for sign, difference in pairs)


def _middle(ordered: Sequence[float]) -> Interval:
    tail = (1 - CONFIDENCE) / 2
    return _quantile(ordered, tail), _quantile(ordered, 1 - tail)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """By linear interpolation between the two nearest values."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
