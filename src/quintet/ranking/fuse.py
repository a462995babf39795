"""What one piece of evidence adds to an item's score."""

from collections.abc import Mapping

from quintet.model import Evidence, Signal
from quintet.ranking.profile import Branch, Profile, Rrf, WeightedSum


def contribution(profile: Profile, branch: Branch, rank: int | None, normalised: float) -> float:
    """`rank` counts from 1, whatever the fusion's own first rank is; None: the signal did not list it."""
    fusion = profile.fusion
    if isinstance(fusion, WeightedSum):
        return branch.weight * normalised
    if rank is None:
        return 0.0
    share = branch.weight / (fusion.rrf_k + fusion.first_rank + rank - 1)
    return share / maximum(profile) if fusion.share_of_maximum else share


def maximum(profile: Profile) -> float:
    """The most an item can reach under RRF: first in every list."""
    assert isinstance(profile.fusion, Rrf)
    weights = sum(branch.weight for branch in profile.branches)
    return weights / (profile.fusion.rrf_k + profile.fusion.first_rank)


def total(evidence: Mapping[Signal, Evidence]) -> float:
    """The sum of contributions, in branch order, so that the same evidence gives the same last bit."""
    return sum((seen.contribution for seen in evidence.values()), 0.0)
