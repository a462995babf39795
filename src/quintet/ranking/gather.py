"""From one list per signal to all the evidence about each item."""

from collections.abc import Mapping, Sequence

from quintet.model import Evidence, Facts, Hit, Ranked, Signal
from quintet.ranking.fuse import contribution, total
from quintet.ranking.normalise import normalised
from quintet.ranking.profile import Branch, Profile


def gather(
    profile: Profile, hits: Mapping[Signal, Sequence[Hit]], facts: Mapping[str, Facts], limit: int
) -> list[Ranked]:
    """One item per chunk or per code node, shown by the best chunk of the first branch that saw it."""
    evidence: dict[str, dict[Signal, Evidence]] = {}
    best_chunk: dict[str, str] = {}
    for branch in profile.branches:
        found = _brought(branch, hits.get(branch.signal, ()), limit)
        for item, hit, seen in _weighed(profile, branch, _as_items(profile, found, facts)):
            evidence.setdefault(item, {})[branch.signal] = seen
            best_chunk.setdefault(item, hit.chunk_id)
    return [Ranked(item, total(seen), best_chunk[item], seen) for item, seen in evidence.items()]


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
    profile: Profile, branch: Branch, items: Sequence[tuple[str, Hit]]
) -> list[tuple[str, Hit, Evidence]]:
    scaled = normalised(branch.normalise, [hit.score for _, hit in items])
    listed = sum(hit.listed for _, hit in items)
    weighed = []
    for place, ((item, hit), share) in enumerate(zip(items, scaled, strict=True), start=1):
        rank = place if hit.listed else None
        worth = contribution(profile, branch, rank, share)
        seen = Evidence(rank, listed, hit.score, hit.raw, share, branch.weight, worth, hit.distance)
        weighed.append((item, hit, seen))
    return weighed
