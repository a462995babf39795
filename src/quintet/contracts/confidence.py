"""The probability that the first result of the house ranking answers the query, fitted on labelled questions.

`bench/calibrate.py` fits the numbers: questions with an answer in the index, the same questions without the
documents that answer them, questions about something else, and nonsense.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

from quintet.contracts.contract import Answer
from quintet.contracts.intent import WORD, QueryIntent
from quintet.model.documents import Passage
from quintet.model.results import Note

BEST = 10  # results that count, whatever the limit
DIGITS = 3  # more would not be true, and the last bits of a score may differ between systems
LOW = 0.13  # of the right answers that the fit was tested on, one in eleven is below
ENDING = 3  # letters at the end of a word that may differ
BEGINNING = 4  # letters that may not


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells an answer from the nearest miss: the raw cosine of the first result, the share of the query
    words that it holds, how far its score is above the tenth, and, if the query is a name, how far it is from
    defining that name (0 to 1)."""

    cosine: float
    cover: float
    lead: float
    undefined: float = 0.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic function of the signs.

    >>> Calibration(-1.0, 2.0, 1.0, 10.0, -3.0).probability(Signs(cosine=0.0, cover=1.0, lead=0.0))
    0.5
    """

    intercept: float
    cosine: float
    cover: float
    lead: float
    undefined: float

    def probability(self, signs: Signs) -> float:
        odds = self.intercept + self.cosine * signs.cosine + self.cover * signs.cover
        odds += self.lead * signs.lead + self.undefined * signs.undefined
        return round(1 / (1 + exp(-odds)), DIGITS)


GRANITE = Calibration(-13.0, 13.0, 2.0, 4.0, -3.0)
# By the embedder's identity, because the cosines of models differ. Those of granite's two ways to compute do
# not: their vectors have a cosine of 0.999 with each other.
FITTED: Mapping[str, Calibration] = {
    "granite-30m-english:6a1cc24734a5:1": GRANITE,
    "granite-30m-english:6a1cc24734a5:2": GRANITE,
}


def signs(intent: QueryIntent, answer: Answer) -> Signs | None:
    """None if there are fewer than ten results or one of them has no cosine: there is no fit for these. The
    answer holds the text of at least its first result."""
    best = answer.best
    cosines = [item.evidence["semantic"].raw for item in best if "semantic" in item.evidence]
    if len(cosines) < BEST:
        return None
    first = best[0]
    definition = first.evidence.get("definition")
    undefined = 1.0 - (definition.score if definition else 0.0) if intent.kind == "symbol" else 0.0
    cover = covered(intent.words, answer.passages[first.best_chunk])
    return Signs(cosines[0], cover, first.score - best[BEST - 1].score, undefined)


def covered(words: Sequence[str], passage: Passage) -> float:
    """The share of these words that a passage holds: in its text, headings, title or path. A word may end
    differently there."""
    chunk, document = passage.chunk, passage.document
    text = "\n".join((chunk.content, chunk.heading_path, document.title, document.path))
    held = f" {' '.join(WORD.findall(text)).lower()} "
    return sum([_is_held(word, held) for word in words]) / len(words)


def _is_held(word: str, held: str) -> bool:
    """`held` are words between single spaces."""
    if len(word) > BEGINNING:
        return f" {word[: max(BEGINNING, len(word) - ENDING)]}" in held
    return f" {word} " in held or f" {word}s " in held or f" {word.removesuffix('s')} " in held


def confidence(intent: QueryIntent, answer: Answer) -> float | None:
    """The probability; None if it is not known, or if the query has no word that could be answered."""
    calibration = FITTED.get(answer.embedding_model)
    observed = signs(intent, answer) if calibration and intent.words else None
    return None if calibration is None or observed is None else calibration.probability(observed)


def low_confidence(probability: float | None) -> tuple[Note, ...]:
    if probability is None or probability >= LOW:
        return ()
    message = (
        f"the first result has only a {100 * probability:g} % chance of answering, so the answer is probably "
        "not in this index; use other words, or check that it is indexed"
    )
    return (Note(code="low_confidence", message=message),)
