"""From one list per signal to all the evidence about each item."""

from collections.abc import Iterable, Mapping, Sequence

from quintet.model import Evidence, Facts, Hit, Ranked, Signal
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
        items = _as_items(profile, _brought(branch, hits.get(branch.signal, ()), limit), facts)
        weighed = _weighed(profile, branch, [hit for _, hit in items])
        listed = sum(hit.listed for _, hit in items)
        for (item, hit), (rank, share, worth) in zip(items, weighed, strict=True):
            if hit.chunk_id not in facts:
                continue
            seen = Evidence(rank, listed, hit.score, hit.raw, share, branch.weight, worth, hit.distance)
            evidence.setdefault(item, {})[branch.signal] = seen
            best_chunk.setdefault(item, hit.chunk_id)
    return [Ranked(item, total(seen), best_chunk[item], seen) for item, seen in evidence.items()]


def scores_of(profile: Profile, hits: Mapping[Signal, Sequence[Hit]], limit: int) -> dict[str, float]:
    """The score of each chunk, up to its last bit, without the evidence for it."""
    scores: dict[str, float] = {}
    for branch in profile.branches:
        brought = _brought(branch, hits.get(branch.signal, ()), limit)
        for hit, (_, _, worth) in zip(brought, _weighed(profile, branch, brought), strict=True):
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + worth
    return scores


def _brought(branch: Branch, hits: Sequence[Hit], limit: int) -> list[Hit]:
    """The signal's list down to its depth, and behind it what it scored for others."""
    listed = [hit for hit in hits if hit.listed][: branch.fetch.depth(limit)]
    return [*listed, *(hit for hit in hits if branch.complete and not hit.listed)]


def _as_items(profile: Profile, hits: Sequence[Hit], facts: Mapping[str, Facts]) -> list[tuple[str, Hit]]:
    """Name each hit's item. Nodes are merged, best chunk first, before ranks are counted."""
    if profile.unit != "node":
        return [(hit.chunk_id, hit) for hit in hits]
    nodes: dict[str, Hit] = {}
    for hit in hits:
        nodes.setdefault(facts[hit.chunk_id].node_id, hit)
    return list(nodes.items())


def _weighed(
    profile: Profile, branch: Branch, hits: Sequence[Hit]
) -> Iterable[tuple[int | None, float, float]]:
    """The rank of each hit in its signal's own list, its normalised score, and what that adds."""
    ranks = [place if hit.listed else None for place, hit in enumerate(hits, start=1)]
    shares = normalised(branch.normalise, [hit.score for hit in hits])
    return zip(ranks, shares, contributions(profile, branch, ranks, shares), strict=True)
