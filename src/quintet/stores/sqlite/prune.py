"""Which phrases of a query decide its best rows: MaxScore (Turtle and Flood 1995).

FTS5 finds the rows of a common word in no time; the time goes into their scores. What a phrase adds to a
score is bounded by how rare it is. If the common phrases together cannot lift a row into the best, only
rows that match one of the others need a score. The best come out exactly as without this.
"""

from collections.abc import Mapping, Sequence
from math import log

K1 = 1.2  # of FTS5's bm25: a phrase adds less than (K1 + 1) * idf
LEAST_IDF = 1e-6  # what FTS5 takes for a phrase in more than half of the rows
ROUNDING = 1 + 1e-9


def bound(matching: int, rows: int) -> float:
    """More than a phrase in `matching` of at most `rows` rows can add to a score."""
    idf = log(max(rows - matching + 0.5, 0.5) / (matching + 0.5))
    return (K1 + 1) * max(idf, LEAST_IDF) * ROUNDING


def decisive(bounds: Mapping[str, float], score: float) -> Sequence[str]:
    """The phrases without which no row reaches `score`, rarest first.

    >>> decisive({"the": 0.1, "network": 2.0, "splice": 9.0}, 2.5)
    ['splice']
    """
    ordered = sorted(bounds, key=lambda phrase: -bounds[phrase])
    without = 0.0
    while ordered and without + bounds[ordered[-1]] < score:
        without += bounds[ordered.pop()]
    return ordered
