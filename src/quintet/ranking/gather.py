"""Collect the evidence about each item: of all signals, and of the other chunks of its document."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from quintet.model.results import Evidence, Facts, Hit, Ranked, Signal
from quintet.ranking.fuse import add_up, contributions, normalise, total
from quintet.ranking.order import STEADY
from quintet.ranking.profile import Branch, Profile

FINDERS: tuple[Signal, ...] = ("lexical", "semantic", "graph")
OTHERS = 5  # further chunks of a document that count
FADING = 0.9  # what each of them counts, compared with the one before


def gather(
    profile: Profile,
    hits: Mapping[Signal, Sequence[Hit]],
    facts: Mapping[str, Facts],
    limit: int,
    only: Collection[str] | None = None,
) -> list[Ranked]:
    """One item for each chunk or code node that has facts, or for `only` these chunks. It is shown by the
    best chunk of the first branch that has it."""
    evidence: dict[str, dict[Signal, Evidence]] = {}
    best_chunk: dict[str, str] = {}
    for branch in profile.branches:
        branch_hits = hits.get(branch.signal)
        if not branch_hits:
            continue
        if profile.unit == "node":
            branch_hits = _best_of_each_node(branch_hits, facts)
        branch_hits = _cut_at_depth(branch, branch_hits, limit)
        ranks, normalised, added = _weigh(profile, branch, branch_hits)
        listed = len(ranks) - ranks.count(None)
        for hit, rank, score, contribution in zip(branch_hits, ranks, normalised, added, strict=True):
            if hit.chunk_id not in facts or (only is not None and hit.chunk_id not in only):
                continue
            fact = facts[hit.chunk_id]
            item = fact.node_id if profile.unit == "node" else hit.chunk_id
            evidence.setdefault(item, {})[branch.signal] = Evidence(
                rank, listed, hit.score, hit.raw, score, branch.weight, contribution, hit.distance
            )
            best_chunk.setdefault(item, hit.chunk_id)
    return [Ranked(item, total(signals), best_chunk[item], signals) for item, signals in evidence.items()]


def scores_of(
    profile: Profile,
    hits: Mapping[Signal, Sequence[Hit]],
    limit: int,
    signals: Collection[Signal] | None = None,
) -> dict[str, float]:
    """The score of each chunk, equal to the last bit, without the evidence for it; by all signals or some."""
    scores: defaultdict[str, float] = defaultdict(float)
    for branch in profile.branches:
        branch_hits = hits.get(branch.signal)
        if branch_hits and (signals is None or branch.signal in signals):
            branch_hits = _cut_at_depth(branch, branch_hits, limit)
            for hit, contribution in zip(branch_hits, _weigh(profile, branch, branch_hits)[2], strict=True):
                scores[hit.chunk_id] += contribution
    return dict(scores)


def _cut_at_depth(branch: Branch, hits: Sequence[Hit], limit: int) -> list[Hit]:
    """The signal's list down to its depth, then the hits that it only scored for other signals."""
    listed = [hit for hit in hits if hit.listed][: branch.fetch.depth(limit)]
    return [*listed, *[hit for hit in hits if not hit.listed]] if branch.complete else listed


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


def agreement(
    profile: Profile, hits: Mapping[Signal, Sequence[Hit]], facts: Mapping[str, Facts], limit: int
) -> list[Hit]:
    """For every chunk of source code, what the chunks of its file score by words and meaning: all but the
    best, which speaks for itself. Only what lies above the weakest candidate counts: no cosine is near zero.

    Prose is left out: a long page is no better an answer than a short one (Cranfield -.08 nDCG@10).
    """
    code = {chunk_id: fact.document_id for chunk_id, fact in facts.items() if fact.is_code}
    if not code:
        return []
    found = scores_of(profile, hits, limit, FINDERS)
    by_document: dict[str, list[float]] = {}
    for chunk_id, score in found.items():
        if chunk_id in code:
            by_document.setdefault(code[chunk_id], []).append(score)
    floor = min(found.values(), default=0.0)
    agreed = {
        document: _agreement(scores, floor) for document, scores in by_document.items() if len(scores) > 1
    }
    return [
        Hit(chunk_id, agreed[fact.document_id], agreed[fact.document_id], None, False)
        for chunk_id, fact in facts.items()
        if fact.document_id in agreed
    ]


def _agreement(scores: Sequence[float], floor: float) -> float:
    others = sorted(scores, reverse=True)[1 : 1 + OTHERS]
    return add_up((score - floor) * FADING**place for place, score in enumerate(others))


def shortlist(
    profile: Profile, hits: Mapping[Signal, Sequence[Hit]], facts: Mapping[str, Facts], limit: int
) -> set[str]:
    """All chunks that can be among the first once repeats are lowered, found without their evidence. The best
    chunk of a document is not lowered, so that no chunk below the best of `limit` documents can be."""
    scores = scores_of(profile, hits, limit)
    best: dict[str, float] = {}
    for chunk_id, score in scores.items():
        if chunk_id in facts:
            document_id = facts[chunk_id].document_id
            if document_id not in best or score > best[document_id]:
                best[document_id] = score
    if len(best) < limit:
        return set(scores)
    last = sorted(best.values(), reverse=True)[limit - 1]
    cutoff = last - abs(last) * STEADY
    return {chunk_id for chunk_id, score in scores.items() if score >= cutoff}


def lower_repeats(profile: Profile, ordered: Sequence[Ranked], facts: Mapping[str, Facts]) -> list[Ranked]:
    """Take a share off the score of every chunk but the first of its document, and a larger one the more
    chunks are before it. A score of zero or less stays."""
    seen: dict[str, int] = {}
    lowered = []
    for item in ordered:
        document_id = facts[item.best_chunk].document_id
        before = seen.get(document_id, 0)
        seen[document_id] = before + 1
        kept: float = profile.repeat**before
        repeats = Evidence(None, before + 1, kept, kept, kept, profile.repeat, item.score * (kept - 1))
        lowered.append(_with(item, "diversity", repeats if before and item.score > 0 else None))
    return lowered


def _with(item: Ranked, signal: Signal, evidence: Evidence | None) -> Ranked:
    if evidence is None:
        return item
    score = item.score + evidence.contribution
    return item._replace(score=score, evidence={**item.evidence, signal: evidence})
