"""What one piece of evidence adds to an item's score."""

from collections.abc import Iterable, Mapping, Sequence

from quintet.model.results import Evidence, Signal
from quintet.ranking.profile import Branch, Profile, Rrf, WeightedSum


def contributions(
    profile: Profile, branch: Branch, ranks: Sequence[int | None], shares: Sequence[float]
) -> list[float]:
    """`ranks` count from 1, whatever the fusion's own first rank is; None: the signal did not list it."""
    fusion = profile.fusion
    if isinstance(fusion, WeightedSum):
        return [branch.weight * share for share in shares]
    before_first = fusion.rrf_k + fusion.first_rank
    most = maximum(profile) if fusion.share_of_maximum else 1.0
    return [0.0 if rank is None else branch.weight / (before_first + rank - 1) / most for rank in ranks]


def maximum(profile: Profile) -> float:
    """The most an item can reach under RRF: first in every list."""
    assert isinstance(profile.fusion, Rrf)
    weights = added(branch.weight for branch in profile.branches)
    return weights / (profile.fusion.rrf_k + profile.fusion.first_rank)


def total(evidence: Mapping[Signal, Evidence]) -> float:
    """The sum of contributions, in branch order, so that the same evidence gives the same last bit."""
    return added(seen.contribution for seen in evidence.values())


def added(values: Iterable[float]) -> float:
    """One after the other. Since Python 3.12 `sum` makes up for what rounding loses, before it did not."""
    sum_so_far = 0.0
    for value in values:
        sum_so_far += value
    return sum_so_far
