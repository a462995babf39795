"""Memories that say almost what a text says: found by the one read path, judged by likeness."""

from dataclasses import dataclass

from quintet.memory.contract import MEMORY
from quintet.model.memories import memo_from
from quintet.model.results import Ranked
from quintet.ports.reading import Disk, Embedder, Snapshot
from quintet.query.search import search
from quintet.settings import Settings

LOOKED_AT = 5
NEAR_COSINE = 0.9  # of granite: another wording has .91 to .98; so has the same sentence with another number
NEAR_OVERLAP = 0.8  # of the words of both, where there is no vector


@dataclass(frozen=True, slots=True)
class Near:
    """`by` is `meaning` (cosine) or `words` (how many of both are in common)."""

    id: str
    text: str
    similarity: float
    by: str


def near(
    snapshot: Snapshot, embedder: Embedder | None, text: str, settings: Settings, disk: Disk
) -> list[Near]:
    """Most alike first; only memories that still hold."""
    answer = search(snapshot, embedder, MEMORY, text, {"limit": LOOKED_AT}, settings, disk).answer
    assert answer is not None
    words = frozenset(snapshot.text.tokens(text))
    found = []
    for item in answer.ranked:
        memo = memo_from(answer.passages[item.best_chunk].document.metadata)
        cosine = _cosine(item)
        if cosine is None:
            others = frozenset(snapshot.text.tokens(memo.text))
            overlap = len(words & others) / max(len(words | others), 1)
            if overlap >= NEAR_OVERLAP:
                found.append(Near(memo.id, memo.text, overlap, "words"))
        elif cosine >= NEAR_COSINE:
            found.append(Near(memo.id, memo.text, cosine, "meaning"))
    return sorted(found, key=lambda one: (-one.similarity, one.id))


def _cosine(item: Ranked) -> float | None:
    seen = item.evidence.get("semantic")
    return None if seen is None else seen.score
