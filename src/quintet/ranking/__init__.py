"""PURE: no I/O, no clock, no randomness, standard library only."""

from quintet.ranking.profile import Branch, Fetch, OrderKey, Profile, Rrf, Saturating, WeightedSum
from quintet.ranking.rank import contenders, rank

__all__ = ["Branch", "Fetch", "OrderKey", "Profile", "Rrf", "Saturating", "WeightedSum", "contenders", "rank"]
