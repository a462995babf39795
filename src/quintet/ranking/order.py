"""One total order. Every key is named in the profile; the item's id settles what is left."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import TypeAlias

from quintet.model.results import Facts, Hit, Ranked, Signal, steady
from quintet.ranking.profile import OrderKey, Profile

STEADY = 1e-10  # of a score: no two that are further apart are the same to `steady`
SortKey: TypeAlias = tuple[float | str, ...]


def _lexical_rank(item: Ranked, facts: Facts) -> float:
    seen = item.evidence.get("lexical")
    return inf if seen is None or seen.rank is None else seen.rank


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
    """Numbers in the order of `steady` scores that tie where those do: the scores as they are, unless two of
    them are nearly but not quite the same."""
    falling = sorted(scores, reverse=True)
    near = any(0.0 < high - low <= abs(high) * STEADY for high, low in pairwise(falling))
    return [steady(score) for score in scores] if near else scores


def best_first(hits: Sequence[Hit]) -> list[Hit]:
    """By score; where `steady` sees no difference, as they stand."""
    scored = zip(deciding([hit.score for hit in hits]), hits, strict=True)
    return [hit for _, hit in sorted(scored, key=lambda one: one[0], reverse=True)]


def leading_signal(profile: Profile, hits: Mapping[Signal, Sequence[Hit]]) -> Signal | None:
    """The first of the profile's leads that found anything."""
    return next((signal for signal in profile.lead if hits.get(signal)), None)


def lead_scores(lead: Signal | None, items: Sequence[Ranked]) -> dict[str, float]:
    """The lead's own score of each item that it found."""
    if lead is None:
        return {}
    return {item.item_id: item.evidence[lead].score for item in items if lead in item.evidence}


def in_order(
    profile: Profile, led: Mapping[str, float], items: Sequence[Ranked], facts: Mapping[str, Facts]
) -> list[Ranked]:
    """Found by the lead first, then score, then what the lead says (`led`), then the profile's ties."""
    keys = [ORDER_KEYS[name] for name in profile.ties]

    def place(item: Ranked) -> SortKey:
        known = facts[item.best_chunk]
        return (
            float(item.item_id not in led),
            -steady(item.score),
            -steady(led.get(item.item_id, 0.0)),
            *(key(item, known) for key in keys),
            item.item_id,
        )

    return sorted(items, key=place)
