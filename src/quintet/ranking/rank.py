"""Ranking is one pure function: hits, facts and a profile in, one total order out."""

from collections.abc import Mapping, Sequence

from quintet.model.results import Facts, Hit, Ranked, Signal
from quintet.ranking.freshness import weigh
from quintet.ranking.gather import gather, scores_of
from quintet.ranking.group import by_document
from quintet.ranking.order import STEADY, in_order, lead_scores, leading_signal
from quintet.ranking.profile import Profile


def rank(
    profile: Profile,
    hits: Mapping[Signal, Sequence[Hit]],
    facts: Mapping[str, Facts],
    limit: int,
) -> list[Ranked]:
    """Gather evidence, normalise and fuse, weigh freshness, order, group, cut.

    Chunks without facts are left out; those of the `contenders` are enough.
    """
    lead = leading_signal(profile, hits)
    items = weigh(profile, gather(profile, hits, facts, limit), facts)
    ordered = in_order(profile, lead_scores(lead, items), items, facts)
    if profile.unit == "document":
        documents, led = by_document(profile, lead, ordered, facts)
        ordered = in_order(profile, led, documents, facts)
    return ordered[:limit]


def contenders(profile: Profile, hits: Mapping[Signal, Sequence[Hit]], limit: int, places: int) -> list[str]:
    """All chunks that can be among the first `places`. It takes no facts, and so no time to fetch them: what
    only ties keep behind is left in."""
    if profile.unit != "chunk" or profile.lead or profile.freshness:  # more than its score decides
        return [hit.chunk_id for found in hits.values() for hit in found]
    scores = scores_of(profile, hits, limit)
    last = min(sorted(scores.values(), reverse=True)[:places], default=0.0)
    least = last - abs(last) * STEADY
    return [chunk_id for chunk_id, score in scores.items() if score >= least]
