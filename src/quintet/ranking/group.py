"""Group ranked chunks by document."""

from collections.abc import Mapping, Sequence
from math import fsum

from quintet.model.results import Evidence, Facts, Ranked, Signal
from quintet.ranking.profile import Profile


def by_document(
    profile: Profile, lead: Signal | None, ordered: Sequence[Ranked], facts: Mapping[str, Facts]
) -> tuple[list[Ranked], dict[str, float]]:
    """One item for each document, shown by its first chunk in `ordered`, scored by its best or average chunk;
    and the lead's scores of the documents that it found, to break ties.

    Where a signal leads and found chunks of the document, only those chunks count.
    """
    documents: dict[str, list[Ranked]] = {}
    for item in ordered:
        documents.setdefault(facts[item.best_chunk].document_id, []).append(item)
    grouped, led = [], {}
    for document_id, chunks in documents.items():
        led_chunks = [chunk for chunk in chunks if lead in chunk.evidence]
        score = _aggregate(profile, [chunk.score for chunk in led_chunks or chunks])
        grouped.append(chunks[0]._replace(item_id=document_id, score=score))
        if lead and led_chunks:
            scores = [_unweighted_score(chunk.evidence[lead]) for chunk in led_chunks]
            led[document_id] = _aggregate(profile, scores)
    return grouped, led


def _unweighted_score(evidence: Evidence) -> float:
    """The normalised score, if the item's own score does not include it already."""
    return 0.0 if evidence.weight else evidence.normalised


def _aggregate(profile: Profile, scores: Sequence[float]) -> float:
    """Over the document's candidate chunks, best first; other chunks of it do not count."""
    return fsum(scores) / len(scores) if profile.aggregate == "avg" else scores[0]
