"""The probability that the first result of the house ranking answers the query, fitted on labelled questions.

`bench/calibrate.py` fits the numbers. Each question was asked twice, once without the documents that answer
it. So the probability assumes that half of all questions have no answer in the index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum

from quintet.model.results import Note, Ranked, Signal

BEST = 10  # results that count, whatever the limit
DIGITS = 3  # more would not be true, and the last bits of a score may differ between systems
LOW = 0.2
LEGS: tuple[Signal, ...] = ("lexical", "semantic")


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells an answer from the nearest miss: the raw cosine of the first result, and how far text and
    vectors put it above the tenth."""

    cosine: float
    lead: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic function of the two signs.

    >>> Calibration(-1.0, 2.0, 10.0).probability(Signs(cosine=0.5, lead=0.0))
    0.5
    """

    intercept: float
    cosine: float
    lead: float

    def probability(self, signs: Signs) -> float:
        odds = self.intercept + self.cosine * signs.cosine + self.lead * signs.lead
        return round(1 / (1 + exp(-odds)), DIGITS)


GRANITE = Calibration(-14.0, 14.0, 19.0)
# By the embedder's identity, because the cosines of models differ. Those of granite's two ways to compute do
# not: their vectors have a cosine of 0.999 with each other.
FITTED: Mapping[str, Calibration] = {
    "granite-30m-english:6a1cc24734a5:1": GRANITE,
    "granite-30m-english:6a1cc24734a5:2": GRANITE,
}


def signs(best: Sequence[Ranked]) -> Signs | None:
    """None if there are fewer than ten results or one of them has no cosine: there is no fit for these."""
    cosines = [item.evidence["semantic"].raw for item in best if "semantic" in item.evidence]
    if len(cosines) < BEST:
        return None
    return Signs(cosines[0], _found(best[0]) - _found(best[BEST - 1]))


def _found(item: Ranked) -> float:
    """What full text and vectors contribute. Evidence about code says which file is meant, not whether the
    index has an answer, and no set that was fitted on has it."""
    contributions = [item.evidence[leg].contribution for leg in LEGS if leg in item.evidence]
    return fsum(contributions)


def confidence(best: Sequence[Ranked], embedder: str) -> float | None:
    """The probability; None if it is not known."""
    observed, calibration = signs(best), FITTED.get(embedder)
    return None if observed is None or calibration is None else calibration.probability(observed)


def low_confidence(probability: float | None) -> tuple[Note, ...]:
    if probability is None or probability >= LOW:
        return ()
    message = (
        f"the first result has only a {100 * probability:g} % chance of answering, so the answer may not be "
        "in this index; use other words, or check that it is indexed"
    )
    return (Note(code="low_confidence", message=message),)
