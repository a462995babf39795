"""From one list per signal to all the evidence about each item."""

from collections.abc import Mapping, Sequence

from quintet.model.results import Evidence, Facts, Hit, Ranked, Signal
from quintet.ranking.fuse import contributions, total
from quintet.ranking.normalise import normalised
from quintet.ranking.profile import Branch, Profile


def gather(
    profile: Profile, hits: Mapping[Signal, Sequence[Hit]], facts: Mapping[str, Facts], limit: int
) -> list[Ranked]:
    """One item per chunk or per code node that has facts, shown by the best chunk of the first branch that
    saw it."""
    evidence: dict[str, dict[Signal, Evidence]] = {}
    best_chunk: dict[str, str] = {}
    for branch in profile.branches:
        found = hits.get(branch.signal, ())
        if profile.unit == "node":
            found = _by_node(found, facts)
        brought = _brought(branch, found, limit)
        ranks, shares, worths = _weighed(profile, branch, brought)
        listed = len(ranks) - ranks.count(None)
        for hit, rank, share, worth in zip(brought, ranks, shares, worths, strict=True):
            known = facts.get(hit.chunk_id)
            if known is None:
                continue
            item = known.node_id if profile.unit == "node" else hit.chunk_id
            seen = Evidence(rank, listed, hit.score, hit.raw, share, branch.weight, worth, hit.distance)
            evidence.setdefault(item, {})[branch.signal] = seen
            best_chunk.setdefault(item, hit.chunk_id)
    return [Ranked(item, total(seen), best_chunk[item], seen) for item, seen in evidence.items()]


def scores_of(profile: Profile, hits: Mapping[Signal, Sequence[Hit]], limit: int) -> dict[str, float]:
    """The score of each chunk, up to its last bit, without the evidence for it."""
    scores: dict[str, float] = {}
    for branch in profile.branches:
        brought = _brought(branch, hits.get(branch.signal, ()), limit)
        _, _, worths = _weighed(profile, branch, brought)
        for hit, worth in zip(brought, worths, strict=True):
            chunk_id = hit.chunk_id
            scores[chunk_id] = scores.get(chunk_id, 0.0) + worth
    return scores


def _brought(branch: Branch, hits: Sequence[Hit], limit: int) -> list[Hit]:
    """The signal's list down to its depth, and behind it what it scored for others."""
    listed = [hit for hit in hits if hit.listed]
    others = [hit for hit in hits if not hit.listed] if branch.complete else []
    return listed[: branch.fetch.depth(limit)] + others


def _by_node(hits: Sequence[Hit], facts: Mapping[str, Facts]) -> list[Hit]:
    """The best chunk of each node: chunks of one are merged before the list is cut and ranks are counted."""
    nodes: dict[str, Hit] = {}
    for hit in hits:
        nodes.setdefault(facts[hit.chunk_id].node_id, hit)
    return list(nodes.values())


def _weighed(
    profile: Profile, branch: Branch, hits: Sequence[Hit]
) -> tuple[list[int | None], list[float], list[float]]:
    """The rank of each hit in its signal's own list, its normalised score, and what that adds."""
    ranks = [place if hit.listed else None for place, hit in enumerate(hits, start=1)]
    shares = normalised(branch.normalise, [hit.score for hit in hits])
    return ranks, shares, contributions(profile, branch, ranks, shares)
