"""Fusion: scores of one list are scaled, then each hit contributes to the score of its item."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from quintet.model.results import Evidence, Signal
from quintet.ranking.order import steady
from quintet.ranking.profile import Branch, NormaliserName, Profile, Rrf, Saturating, WeightedSum


def contributions(
    profile: Profile, branch: Branch, ranks: Sequence[int | None], normalised: Sequence[float]
) -> list[float]:
    """`ranks` count from 1, whatever the fusion's own first rank is. None means that the signal did not list
    the hit."""
    fusion = profile.fusion
    if isinstance(fusion, WeightedSum):
        return [branch.weight * score for score in normalised]
    before_first = fusion.rrf_k + fusion.first_rank
    divisor = maximum(profile) if fusion.share_of_maximum else 1.0
    return [0.0 if rank is None else branch.weight / (before_first + rank - 1) / divisor for rank in ranks]


def maximum(profile: Profile) -> float:
    """The highest score under RRF: first in every list."""
    assert isinstance(profile.fusion, Rrf)
    weights = add_up(branch.weight for branch in profile.branches)
    return weights / (profile.fusion.rrf_k + profile.fusion.first_rank)


def total(evidence: Mapping[Signal, Evidence]) -> float:
    """The sum of contributions, in branch order, so that the same evidence gives the same last bit."""
    return add_up(signal.contribution for signal in evidence.values())


def add_up(values: Iterable[float]) -> float:
    """The sum from left to right. Since Python 3.12 `sum` compensates for rounding, before it did not."""
    subtotal = 0.0
    for value in values:
        subtotal += value
    return subtotal


def as_is(scores: Sequence[float]) -> list[float]:
    return list(scores)


def min_max(scores: Sequence[float]) -> list[float]:
    """Scale to [0, 1]. A flat list becomes all 1.0, not 0.0: every item matched equally well.

    Scores are rounded by `steady` first, or two that differ in their last bit would become 0.0 and 1.0.

    >>> min_max([4.0, 3.0, 2.0])
    [1.0, 0.5, 0.0]
    """
    if not scores:
        return []
    scores = [steady(score) for score in scores]
    low, high = min(scores), max(scores)
    if low == high:
        return [1.0] * len(scores)
    # The quotient of two roundings can exceed 1 by a bit; the best is 1.0 by definition.
    return [min(1.0, (score - low) / (high - low)) for score in scores]


def unit(scores: Sequence[float]) -> list[float]:
    """Clamp to [0, 1]: a cosine below zero counts as zero."""
    return [1.0 if score > 1.0 else score if score > 0.0 else 0.0 for score in scores]


def saturating(scores: Sequence[float], half: float) -> list[float]:
    """`score / (score + half)`; a score of zero or less counts nothing.

    >>> saturating([180.0, 60.0, 0.0], half=60.0)
    [0.75, 0.5, 0.0]
    """
    return [score / (score + half) if score > 0 else 0.0 for score in scores]


NORMALISERS: Mapping[NormaliserName, Callable[[Sequence[float]], list[float]]] = {
    "as_is": as_is,
    "min_max": min_max,
    "unit": unit,
}


def normalise(how: NormaliserName | Saturating, scores: Sequence[float]) -> list[float]:
    return saturating(scores, how.half) if isinstance(how, Saturating) else NORMALISERS[how](scores)
