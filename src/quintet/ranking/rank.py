"""Ranking is one pure function: hits, facts and a profile in, one total order out."""

from collections.abc import Mapping, Sequence

from quintet.model import Facts, Hit, Ranked, Signal, steady
from quintet.ranking.freshness import weigh
from quintet.ranking.fuse import contribution
from quintet.ranking.gather import brought, gather
from quintet.ranking.group import by_document
from quintet.ranking.normalise import normalised
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
    totals: dict[str, float] = {}
    for branch in profile.branches:
        found = brought(branch, hits.get(branch.signal, ()), limit)
        shares = normalised(branch.normalise, [hit.score for hit in found])
        for place, (hit, share) in enumerate(zip(found, shares, strict=True), start=1):
            worth = contribution(profile, branch, place if hit.listed else None, share)
            totals[hit.chunk_id] = totals.get(hit.chunk_id, 0.0) + worth
    highest = steady(max(totals.values(), default=0.0))
    best = {chunk_id for chunk_id, total in totals.items() if steady(total) == highest}
    return {signal: [hit for hit in found if hit.chunk_id in best] for signal, found in hits.items()}
