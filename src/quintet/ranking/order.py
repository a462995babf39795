"""One total order. The profile names every key; the item's id breaks the last ties."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import TypeAlias

from quintet.model.results import Facts, Hit, Ranked, Signal
from quintet.ranking.profile import OrderKey, Profile

STEADY = 1e-10  # relative: scores further apart than this differ to `steady`, too
SortKey: TypeAlias = tuple[float | str, ...]


def steady(score: float) -> float:
    """The score rounded to twelve significant digits, which is what orders are decided by. BM25's logarithm
    comes from the system's library, whose last bit may differ between systems.

    >>> steady(-7.123456789012345)
    -7.12345678901
    """
    return float(f"{score:.12g}")


def _lexical_rank(item: Ranked, facts: Facts) -> float:
    evidence = item.evidence.get("lexical")
    return inf if evidence is None or evidence.rank is None else evidence.rank


ORDER_KEYS: Mapping[OrderKey, Callable[[Ranked, Facts], float | str]] = {
    "chunk_id": lambda item, facts: item.best_chunk,
    "document_id": lambda item, facts: facts.document_id,
    "path": lambda item, facts: facts.path,
    "sequence": lambda item, facts: facts.sequence,
    "line": lambda item, facts: facts.line,
    "node_id": lambda item, facts: facts.node_id,
    "newest_first": lambda item, facts: -facts.modified_ms,
    "lexical_rank": _lexical_rank,
}


def deciding(scores: Sequence[float]) -> Sequence[float]:
    """Numbers that order and tie as `steady` scores do: the scores themselves, unless two of them are nearly
    but not quite equal."""
    falling = sorted(scores, reverse=True)
    near = max(map(abs, falling[:1] + falling[-1:]), default=0.0) * STEADY  # no difference below is larger
    for high, low in pairwise(falling):
        if 0.0 < high - low <= near and high - low <= abs(high) * STEADY:
            return [steady(score) for score in scores]
    return scores


def best_first(hits: Sequence[Hit]) -> list[Hit]:
    """Ordered by score; hits that tie under `steady` keep their order."""
    scores = deciding([hit.score for hit in hits])
    return [hits[at] for at in sorted(range(len(hits)), key=scores.__getitem__, reverse=True)]


def leading_signal(profile: Profile, hits: Mapping[Signal, Sequence[Hit]]) -> Signal | None:
    """The first of the profile's leads that found anything."""
    return next((signal for signal in profile.lead if hits.get(signal)), None)


def lead_scores(lead: Signal | None, items: Sequence[Ranked]) -> dict[str, float]:
    """The lead's score of each item that it found."""
    if lead is None:
        return {}
    return {item.item_id: item.evidence[lead].score for item in items if lead in item.evidence}


def in_order(
    profile: Profile, led: Mapping[str, float], items: Sequence[Ranked], facts: Mapping[str, Facts]
) -> list[Ranked]:
    """Items that the lead found first, then by score, by the lead's score (`led`), by the profile's ties."""
    keys = [ORDER_KEYS[name] for name in profile.ties]

    def sort_key(item: Ranked) -> SortKey:
        fact = facts[item.best_chunk]
        return (
            float(item.item_id not in led),
            -steady(item.score),
            -steady(led.get(item.item_id, 0.0)),
            *[key(item, fact) for key in keys],
            item.item_id,
        )

    return sorted(items, key=sort_key)
