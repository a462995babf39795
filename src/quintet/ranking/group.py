"""From ranked chunks to ranked documents."""

from collections.abc import Mapping, Sequence
from math import fsum

from quintet.model.results import Evidence, Facts, Ranked, Signal
from quintet.ranking.profile import Profile


def by_document(
    profile: Profile, lead: Signal | None, ordered: Sequence[Ranked], facts: Mapping[str, Facts]
) -> tuple[list[Ranked], dict[str, float]]:
    """One item per document, shown by its first chunk in `ordered`, scored by its best or average chunk; and
    what the lead says of the documents that it found, for where scores are equal.

    Where a signal leads, only the chunks that it found count, if it found any of the document.
    """
    documents: dict[str, list[Ranked]] = {}
    for item in ordered:
        documents.setdefault(facts[item.best_chunk].document_id, []).append(item)
    grouped, led = [], {}
    for document_id, chunks in documents.items():
        found = [chunk for chunk in chunks if lead in chunk.evidence]
        score = _aggregate(profile, [chunk.score for chunk in found or chunks])
        grouped.append(chunks[0]._replace(item_id=document_id, score=score))
        if lead and found:
            led[document_id] = _aggregate(profile, [_untold(chunk.evidence[lead]) for chunk in found])
    return grouped, led


def _untold(seen: Evidence) -> float:
    """What the score does not say of it already."""
    return 0.0 if seen.weight else seen.normalised


def _aggregate(profile: Profile, scores: Sequence[float]) -> float:
    """Of the document's candidate chunks, best first, not of all its chunks."""
    return fsum(scores) / len(scores) if profile.aggregate == "avg" else scores[0]
