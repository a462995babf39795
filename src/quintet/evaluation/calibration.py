"""PURE. Is confidence calibrated? Of the answers with confidence p, a share of p should be right."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import fsum
from typing import NamedTuple

from quintet.contracts.confidence import Signs
from quintet.evaluation.metrics import mean

BINS = 10


class CalibrationPoint(NamedTuple):
    """The confidence of an answer, the signs it was computed from, and whether the top result is relevant."""

    signs: Signs
    predicted: float
    right: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of about the same confidence: their mean confidence, and the share that is right."""

    predicted: float
    observed: float
    count: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """`brier` is the mean squared error of the confidence, `error` the expected calibration error, and `auc`
    how often a right answer has a higher confidence than a wrong one."""

    bins: tuple[Bin, ...]
    brier: float
    error: float
    auc: float | None

    @property
    def count(self) -> int:
        return sum(bin.count for bin in self.bins)


def reliability(points: Sequence[CalibrationPoint]) -> Reliability:
    """For at least one answer. Bins are tenths, the last includes 1; empty ones are left out."""
    bins = tuple(_bins(points))
    error = fsum(bin.count * abs(bin.predicted - bin.observed) for bin in bins) / len(points)
    squares = [(point.predicted - point.right) ** 2 for point in points]
    return Reliability(bins, mean(squares), error, _auc(points))


def _bins(points: Sequence[CalibrationPoint]) -> Iterator[Bin]:
    for place in range(BINS):
        inside = [point for point in points if min(BINS - 1, int(point.predicted * BINS)) == place]
        if inside:
            predicted = mean([point.predicted for point in inside])
            yield Bin(predicted, mean([float(point.right) for point in inside]), len(inside))


def _auc(points: Sequence[CalibrationPoint]) -> float | None:
    """A tie counts half. None if all answers are right, or none."""
    ordered = sorted(points, key=lambda point: point.predicted)
    right = sum(point.right for point in ordered)
    wrong = len(ordered) - right
    if not right or not wrong:
        return None
    won, below, at = 0.0, 0, 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end].predicted == ordered[at].predicted:
            end += 1
        hits = sum(point.right for point in ordered[at:end])
        misses = end - at - hits
        won += hits * (below + misses / 2)
        below += misses
        at = end
    return won / (right * wrong)


def as_json(curve: Reliability) -> dict[str, object]:
    bins = [asdict(bin) for bin in curve.bins]
    return {"bins": bins, "brier": curve.brier, "expected_calibration_error": curve.error, "auc": curve.auc}
