"""Ranking: pure functions of hits, facts and a profile. No I/O, no clock, no randomness."""

from quintet.ranking.gather import FINDERS, scores_of
from quintet.ranking.order import best_first, deciding
from quintet.ranking.profile import Branch, Fetch, OrderKey, Profile, Rrf, Saturating, WeightedSum
from quintet.ranking.rank import best_chunk, contenders, rank

__all__ = [
    "FINDERS",
    "Branch",
    "Fetch",
    "OrderKey",
    "Profile",
    "Rrf",
    "Saturating",
    "WeightedSum",
    "best_chunk",
    "best_first",
    "contenders",
    "deciding",
    "rank",
    "scores_of",
]
