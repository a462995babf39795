"""Weigh items by how far the index lags behind their source."""

from collections.abc import Mapping, Sequence

from quintet.model.results import Facts, Freshness, Ranked
from quintet.ranking.profile import Profile

BEST_FIRST: tuple[Freshness, ...] = ("Fresh", "Acceptable", "Stale", "StaleWithRisk")


def weigh(profile: Profile, items: Sequence[Ranked], facts: Mapping[str, Facts]) -> list[Ranked]:
    """Multiply each score by its freshness factor and drop items below the floor."""
    factors = dict(profile.freshness)
    lowest = BEST_FIRST.index(profile.freshness_floor)
    weighted = []
    for item in items:
        freshness = facts[item.best_chunk].freshness
        if BEST_FIRST.index(freshness) <= lowest:
            factor = factors[freshness]
            weighted.append(item._replace(score=item.score * factor, freshness_factor=factor))
    return weighted
