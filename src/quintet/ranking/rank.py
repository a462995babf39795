"""Ranking is one pure function: hits, facts and a profile in, one total order out."""

from collections.abc import Mapping, Sequence

from quintet.model.results import Facts, Hit, Ranked, Signal
from quintet.ranking.freshness import weigh
from quintet.ranking.gather import agreement, gather, lower_repeats, scores_of, shortlist
from quintet.ranking.group import by_document
from quintet.ranking.order import STEADY, in_order, lead_scores, leading_signal
from quintet.ranking.profile import Profile


def rank(
    profile: Profile,
    hits: Mapping[Signal, Sequence[Hit]],
    facts: Mapping[str, Facts],
    limit: int,
) -> list[Ranked]:
    """Gather evidence, normalise, fuse, weigh the rest of the document and freshness, order, group, cut.

    Chunks without facts are left out; the facts of the `contenders` are enough.
    """
    lead = leading_signal(profile, hits)
    hits = _with_agreement(profile, hits, facts, limit)
    only = shortlist(profile, hits, facts, limit) if profile.repeat != 1.0 else None
    items = gather(profile, hits, facts, limit, only)
    if profile.freshness:
        items = weigh(profile, items, facts)
    ordered = in_order(profile, lead_scores(lead, items), items, facts)
    if profile.unit == "document":
        documents, led = by_document(profile, lead, ordered, facts)
        ordered = in_order(profile, led, documents, facts)
    if profile.repeat != 1.0:
        ordered = in_order(profile, {}, lower_repeats(profile, ordered, facts), facts)
    return ordered[:limit]


def _with_agreement(
    profile: Profile, hits: Mapping[Signal, Sequence[Hit]], facts: Mapping[str, Facts], limit: int
) -> Mapping[Signal, Sequence[Hit]]:
    if profile.branch("agreement") is None:
        return hits
    return {**hits, "agreement": agreement(profile, hits, facts, limit)}


def best_chunk(
    profile: Profile, hits: Mapping[Signal, Sequence[Hit]], facts: Mapping[str, Facts], limit: int
) -> str:
    """The first chunk of the ranking, of which there is at least one, in a fraction of the time: nothing
    lowers the best chunk of a document."""
    scores = scores_of(profile, _with_agreement(profile, hits, facts, limit), limit)
    best = max(scores.values())
    leaders = [chunk_id for chunk_id, score in scores.items() if score >= best - abs(best) * STEADY]
    return leaders[0] if len(leaders) == 1 else rank(profile, hits, facts, limit)[0].best_chunk


def contenders(profile: Profile, hits: Mapping[Signal, Sequence[Hit]], limit: int, places: int) -> list[str]:
    """All chunks that can be among the first `places`, found without their facts. Ties are left in."""
    by_others = profile.branch("agreement") or profile.repeat != 1.0
    if profile.unit != "chunk" or profile.lead or profile.freshness or by_others:
        # The score alone does not decide.
        return list(dict.fromkeys(hit.chunk_id for leg_hits in hits.values() for hit in leg_hits))
    scores = scores_of(profile, hits, limit)
    last = min(sorted(scores.values(), reverse=True)[:places], default=0.0)
    cutoff = last - abs(last) * STEADY
    return [chunk_id for chunk_id, score in scores.items() if score >= cutoff]
