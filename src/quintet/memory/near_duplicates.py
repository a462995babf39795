"""Memories that say almost the same as a new text, found by a recall and measured by similarity."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from quintet.model.memories import memo_from
from quintet.model.results import Ranked
from quintet.query.search import Response

MAX_COMPARED = 5  # memories
NEAR_COSINE = 0.9  # by granite, another wording has .91 to .98, as has another number in the same sentence
NEAR_OVERLAP = 0.8  # share of common words, for memories without a vector


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """`by` is `meaning` (cosine) or `words` (share of common words)."""

    id: str
    text: str
    similarity: float
    by: Literal["meaning", "words"]


def near_duplicates(
    text: str, response: Response, tokens: Callable[[str], Sequence[str]]
) -> list[NearDuplicate]:
    """The memories of a recall that say almost the same as `text`, most similar first."""
    answer = response.answer
    assert answer is not None
    words = frozenset(tokens(text))
    duplicates = []
    for item in answer.ranked:
        memo = memo_from(answer.passages[item.best_chunk].document.metadata)
        cosine = _cosine(item)
        if cosine is None:
            others = frozenset(tokens(memo.text))
            overlap = len(words & others) / max(len(words | others), 1)
            if overlap >= NEAR_OVERLAP:
                duplicates.append(NearDuplicate(memo.id, memo.text, overlap, "words"))
        elif cosine >= NEAR_COSINE:
            duplicates.append(NearDuplicate(memo.id, memo.text, cosine, "meaning"))
    return sorted(duplicates, key=lambda memory: (-memory.similarity, memory.id))


def _cosine(item: Ranked) -> float | None:
    evidence = item.evidence.get("semantic")
    return None if evidence is None else evidence.score
