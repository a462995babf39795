"""Memories that say almost what a text says: found by the one read path, judged by likeness."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from quintet.model.memories import memo_from
from quintet.model.results import Ranked
from quintet.query.search import Response

LOOKED_AT = 5
NEAR_COSINE = 0.9  # of granite: another wording has .91 to .98; so has the same sentence with another number
NEAR_OVERLAP = 0.8  # of the words of both, where there is no vector


@dataclass(frozen=True, slots=True)
class Near:
    """`by` is `meaning` (cosine) or `words` (how many of both are in common)."""

    id: str
    text: str
    similarity: float
    by: Literal["meaning", "words"]


def near(text: str, response: Response, tokens: Callable[[str], Sequence[str]]) -> list[Near]:
    """The memories of a recall that say almost what `text` says, most similar first."""
    answer = response.answer
    assert answer is not None
    words = frozenset(tokens(text))
    memories = []
    for item in answer.ranked:
        memo = memo_from(answer.passages[item.best_chunk].document.metadata)
        cosine = _cosine(item)
        if cosine is None:
            others = frozenset(tokens(memo.text))
            overlap = len(words & others) / max(len(words | others), 1)
            if overlap >= NEAR_OVERLAP:
                memories.append(Near(memo.id, memo.text, overlap, "words"))
        elif cosine >= NEAR_COSINE:
            memories.append(Near(memo.id, memo.text, cosine, "meaning"))
    return sorted(memories, key=lambda memory: (-memory.similarity, memory.id))


def _cosine(item: Ranked) -> float | None:
    seen = item.evidence.get("semantic")
    return None if seen is None else seen.score
