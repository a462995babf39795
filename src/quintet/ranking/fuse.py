"""Fusion: what each hit contributes to an item's score."""

from collections.abc import Iterable, Mapping, Sequence

from quintet.model.results import Evidence, Signal
from quintet.ranking.profile import Branch, Profile, Rrf, WeightedSum


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
