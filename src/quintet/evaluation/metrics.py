"""PURE. Metrics of one query's ranking, from 0 to 1. Spec 004 defines precision, recall and nDCG.

An item is relevant if its grade is above 0; an item without a grade is not. Ranks beyond the end of a short
ranking count as not relevant: precision at 10 of three results divides by 10.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log2

from quintet.errors import UsageError
from quintet.model.parameters import shown

Grades = Mapping[str, int]
"""The judgements of one query: a grade by item."""

LARGEST_CUTOFF = 1000  # no contract returns more
NAMED = re.compile(r"(ndcg|p|r|mrr|map)(?:@([1-9][0-9]{0,8}))?")
DEFAULT = ("ndcg@10", "p@10", "r@10", "r@100", "mrr@10", "map@100")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by name; `cutoff` is the number of results it looks at.

    >>> str(Metric.named("ndcg@10"))
    'ndcg@10'
    """

    kind: str
    cutoff: int | None

    @staticmethod
    def named(name: str) -> "Metric":
        match = NAMED.fullmatch(name.strip().lower())
        cutoff = int(match[2]) if match and match[2] else None
        if not match or (cutoff or 0) > LARGEST_CUTOFF or (cutoff is None and match[1] in ("p", "r")):
            raise UsageError(
                f"there is no metric {shown(name)}; there are ndcg@N, p@N, r@N, mrr, mrr@N, map and map@N "
                f"with N from 1 to {LARGEST_CUTOFF}",
                details={"parameter": "metrics"},
            )
        return Metric(match[1], cutoff)

    def __str__(self) -> str:
        return self.kind if self.cutoff is None else f"{self.kind}@{self.cutoff}"

    def __call__(self, ranking: Sequence[str], grades: Grades) -> float:
        """`ranking` holds each item once, best first. Without a relevant item every metric is 0."""
        gains = [max(0, grades.get(item, 0)) for item in ranking[: self.cutoff]]
        ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
        if not ideal or not gains:
            return 0.0
        return _KINDS[self.kind](gains, ideal, self.cutoff)


def metrics_named(names: Sequence[str]) -> tuple[Metric, ...]:
    """Each metric once, in the order given; names may be joined by commas."""
    single = [part for name in names for part in name.split(",")]
    return tuple(dict.fromkeys(map(Metric.named, single)))


def has_relevant(grades: Grades) -> bool:
    """Is there a relevant item? A query without one is left out: no ranking could do well."""
    return any(grade > 0 for grade in grades.values())


def mean(values: Sequence[float]) -> float:
    """Rounded once, so that the order of the values cannot change the last digit."""
    return fsum(values) / len(values) if values else 0.0


Gains = Sequence[int]  # grades by rank, or in the best possible order


def _precision(gains: Gains, ideal: Gains, cutoff: int | None) -> float:
    return sum(gain > 0 for gain in gains) / (cutoff or len(gains))


def _recall(gains: Gains, ideal: Gains, cutoff: int | None) -> float:
    return sum(gain > 0 for gain in gains) / len(ideal)


def _ndcg(gains: Gains, ideal: Gains, cutoff: int | None) -> float:
    """Spec 004: relevance[i] / log2(i + 2), i from 0, divided by that of the best possible order."""
    return _dcg(gains) / _dcg(ideal[:cutoff])


def _dcg(gains: Gains) -> float:
    return fsum(gain / log2(place + 2) for place, gain in enumerate(gains))


def _reciprocal_rank(gains: Gains, ideal: Gains, cutoff: int | None) -> float:
    return next((1 / place for place, gain in enumerate(gains, start=1) if gain > 0), 0.0)


def _average_precision(gains: Gains, ideal: Gains, cutoff: int | None) -> float:
    places = [place for place, gain in enumerate(gains, start=1) if gain > 0]
    return fsum(count / place for count, place in enumerate(places, start=1)) / len(ideal)


_KINDS: Mapping[str, Callable[[Gains, Gains, int | None], float]] = {
    "p": _precision,
    "r": _recall,
    "ndcg": _ndcg,
    "mrr": _reciprocal_rank,
    "map": _average_precision,
}
