"""How likely the first result of the house ranking answers at all: fitted on labelled questions.

`bench/calibrate.py` fits the numbers. Each question was asked twice, once with all that answers it left out,
so one question in two had no answer: that is what a probability assumes of the questions to come.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

from quintet.model.results import Note, Ranked

BEST = 10  # results that are looked at, whatever the limit
DIGITS = 3  # more would be pretended, and the last bits of a score may differ between systems
LOW = 0.2


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells a find from the nearest of what is there: the raw cosine of the first result, and by how
    much its score leads that of the tenth."""

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


# By the embedder's identity: cosines of other models mean other things.
FITTED: Mapping[str, Calibration] = {"granite-30m-english:6a1cc24734a5:1": Calibration(-14.0, 14.0, 19.0)}


def signs(best: Sequence[Ranked]) -> Signs | None:
    """None where there are fewer than ten results, or one of them has no cosine: nothing was fitted there."""
    cosines = [item.evidence["semantic"].raw for item in best if "semantic" in item.evidence]
    if len(cosines) < BEST:
        return None
    return Signs(cosines[0], best[0].score - best[BEST - 1].score)


def confidence(best: Sequence[Ranked], embedder: str) -> float | None:
    """None: not known."""
    seen, fitted = signs(best), FITTED.get(embedder)
    return None if seen is None or fitted is None else fitted.probability(seen)


def low_confidence(probability: float | None) -> tuple[Note, ...]:
    if probability is None or probability >= LOW:
        return ()
    message = (
        f"the first result answers with a probability of {probability:g} only: what you look for may not be "
        "in this index; ask in other words, or check that it is indexed"
    )
    return (Note(code="low_confidence", message=message),)
