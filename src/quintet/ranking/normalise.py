"""Scale the scores of one result list."""

from collections.abc import Callable, Mapping, Sequence

from quintet.ranking.order import steady
from quintet.ranking.profile import NormaliserName, Saturating


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
