"""From ranked chunks to ranked documents."""

from collections.abc import Mapping, Sequence
from math import fsum

from quintet.model import Facts, Ranked
from quintet.ranking.profile import Profile


def by_document(profile: Profile, ordered: Sequence[Ranked], facts: Mapping[str, Facts]) -> list[Ranked]:
    """One item per document, shown by its first chunk in `ordered`, scored by its best or average chunk."""
    documents: dict[str, list[Ranked]] = {}
    for item in ordered:
        documents.setdefault(facts[item.best_chunk].document_id, []).append(item)
    grouped = []
    for document_id, chunks in documents.items():
        score = chunks[0].score
        if profile.aggregate == "avg":  # over the document's candidate chunks, not all its chunks
            score = fsum(chunk.score for chunk in chunks) / len(chunks)
        grouped.append(chunks[0]._replace(item_id=document_id, score=score))
    return grouped
