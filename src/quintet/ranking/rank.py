"""Ranking is one pure function: hits, facts and a profile in, one total order out."""

from collections.abc import Mapping, Sequence

from quintet.model import Facts, Hit, Ranked, Signal, steady
from quintet.ranking.freshness import weigh
from quintet.ranking.gather import gather
from quintet.ranking.group import by_document
from quintet.ranking.order import in_order, leading_signal
from quintet.ranking.profile import Profile


def rank(
    profile: Profile,
    hits: Mapping[Signal, Sequence[Hit]],
    facts: Mapping[str, Facts],
    limit: int,
) -> list[Ranked]:
    """Gather evidence, normalise and fuse, weigh freshness, order, group, cut."""
    lead = leading_signal(profile, hits)
    items = weigh(profile, gather(profile, hits, facts, limit), facts)
    ordered = in_order(profile, lead, items, facts)
    if profile.unit == "document":
        ordered = in_order(profile, lead, by_document(profile, ordered, facts), facts)
    return ordered[:limit]


def first(profile: Profile, hits: Mapping[Signal, Sequence[Hit]], limit: int) -> dict[Signal, Sequence[Hit]]:
    """The hits of the best chunk, and of those that only ties keep behind it: what `rank` puts first among
    these it puts first among all. It takes no facts, and so no time to fetch them."""
    items = gather(profile, hits, {}, limit)
    highest = steady(max((item.score for item in items), default=0.0))
    best = {item.best_chunk for item in items if steady(item.score) == highest}
    return {signal: [hit for hit in found if hit.chunk_id in best] for signal, found in hits.items()}
