"""Ranking is one pure function: hits, facts and a profile in, one total order out."""

from collections.abc import Mapping, Sequence

from quintet.model import Facts, Hit, Ranked, Signal
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
