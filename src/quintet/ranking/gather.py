"""Collect the evidence of all signals about each item."""

from collections.abc import Mapping, Sequence

from quintet.model.results import Evidence, Facts, Hit, Ranked, Signal
from quintet.ranking.fuse import contributions, total
from quintet.ranking.normalise import normalise
from quintet.ranking.profile import Branch, Profile


def gather(
    profile: Profile, hits: Mapping[Signal, Sequence[Hit]], facts: Mapping[str, Facts], limit: int
) -> list[Ranked]:
    """One item for each chunk or code node that has facts. It is shown by the best chunk of the first branch
    that has it."""
    evidence: dict[str, dict[Signal, Evidence]] = {}
    best_chunk: dict[str, str] = {}
    for branch in profile.branches:
        branch_hits = hits.get(branch.signal, ())
        if profile.unit == "node":
            branch_hits = _best_of_each_node(branch_hits, facts)
        branch_hits = _cut_at_depth(branch, branch_hits, limit)
        ranks, normalised, added = _weigh(profile, branch, branch_hits)
        listed = len(ranks) - ranks.count(None)
        for hit, rank, score, contribution in zip(branch_hits, ranks, normalised, added, strict=True):
            fact = facts.get(hit.chunk_id)
            if fact is None:
                continue
            item = fact.node_id if profile.unit == "node" else hit.chunk_id
            evidence.setdefault(item, {})[branch.signal] = Evidence(
                rank, listed, hit.score, hit.raw, score, branch.weight, contribution, hit.distance
            )
            best_chunk.setdefault(item, hit.chunk_id)
    return [Ranked(item, total(signals), best_chunk[item], signals) for item, signals in evidence.items()]


def scores_of(profile: Profile, hits: Mapping[Signal, Sequence[Hit]], limit: int) -> dict[str, float]:
    """The score of each chunk, equal to the last bit, without the evidence for it."""
    scores: dict[str, float] = {}
    for branch in profile.branches:
        branch_hits = _cut_at_depth(branch, hits.get(branch.signal, ()), limit)
        _, _, added = _weigh(profile, branch, branch_hits)
        for hit, contribution in zip(branch_hits, added, strict=True):
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + contribution
    return scores


def _cut_at_depth(branch: Branch, hits: Sequence[Hit], limit: int) -> list[Hit]:
    """The signal's list down to its depth, then the hits that it only scored for other signals."""
    listed = [hit for hit in hits if hit.listed]
    others = [hit for hit in hits if not hit.listed] if branch.complete else []
    return listed[: branch.fetch.depth(limit)] + others


def _best_of_each_node(hits: Sequence[Hit], facts: Mapping[str, Facts]) -> list[Hit]:
    """The best chunk of each node. This happens before the list is cut and before ranks are counted."""
    nodes: dict[str, Hit] = {}
    for hit in hits:
        nodes.setdefault(facts[hit.chunk_id].node_id, hit)
    return list(nodes.values())


def _weigh(
    profile: Profile, branch: Branch, hits: Sequence[Hit]
) -> tuple[list[int | None], list[float], list[float]]:
    """The rank of each hit in its signal's own list, its normalised score, and its contribution."""
    ranks = [place if hit.listed else None for place, hit in enumerate(hits, start=1)]
    normalised = normalise(branch.normalise, [hit.score for hit in hits])
    return ranks, normalised, contributions(profile, branch, ranks, normalised)
