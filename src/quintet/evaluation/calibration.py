"""PURE. Whether confidence keeps its word: of the answers that got p, a share of p should be right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from quintet.contracts.confidence import Signs
from quintet.evaluation.metrics import mean

BINS = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer's confidence, what that was made of, and whether the first result is relevant."""

    signs: Signs
    predicted: float
    right: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of about the same confidence: its mean, and the share of them that is right."""

    predicted: float
    observed: float
    count: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """`brier` is the mean squared error of a confidence, `error` how far a bin's mean lies from the truth
    (expected calibration error), `auc` how often a right answer has more of it than a wrong one."""

    bins: tuple[Bin, ...]
    brier: float
    error: float
    auc: float | None

    @property
    def count(self) -> int:
        return sum(one.count for one in self.bins)


def reliability(outcomes: Sequence[Outcome]) -> Reliability:
    """Of one answer at least. Bins are tenths, the last with 1 itself; empty ones are left out."""
    bins = tuple(_bins(outcomes))
    far = fsum(one.count * abs(one.predicted - one.observed) for one in bins) / len(outcomes)
    squares = [(one.predicted - one.right) ** 2 for one in outcomes]
    return Reliability(bins, mean(squares), far, _auc(outcomes))


def _bins(outcomes: Sequence[Outcome]) -> Iterator[Bin]:
    for place in range(BINS):
        inside = [one for one in outcomes if min(BINS - 1, int(one.predicted * BINS)) == place]
        if inside:
            predicted = mean([one.predicted for one in inside])
            yield Bin(predicted, mean([float(one.right) for one in inside]), len(inside))


def _auc(outcomes: Sequence[Outcome]) -> float | None:
    """A tie counts half. None where all are right, or none is."""
    ordered = sorted(outcomes, key=lambda one: one.predicted)
    right = sum(one.right for one in ordered)
    wrong = len(ordered) - right
    if not right or not wrong:
        return None
    won, below, at = 0.0, 0, 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end].predicted == ordered[at].predicted:
            end += 1
        hits = sum(one.right for one in ordered[at:end])
        misses = end - at - hits
        won += hits * (below + misses / 2)
        below += misses
        at = end
    return won / (right * wrong)


def as_json(found: Reliability) -> dict[str, object]:
    bins = [{"predicted": one.predicted, "observed": one.observed, "count": one.count} for one in found.bins]
    return {"bins": bins, "brier": found.brier, "expected_calibration_error": found.error, "auc": found.auc}
