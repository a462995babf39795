"""The scores of the best, without sorting all of them."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

BLOCK = 64  # scores, far from one another, of which the best is looked at first
Scores: TypeAlias = npt.NDArray[np.float64] | npt.NDArray[np.int64]


def nth_largest(scores: Scores, nth: int) -> float:
    """The nth largest of at least so many."""
    place = len(scores) - nth
    return float(np.partition(scores, place)[place])


def reached_by(scores: Scores, many: int) -> float:
    """A score that at least so many of these reach, or 0.0 where there are fewer: cheaper than the largest
    such score."""
    columns = len(scores) // BLOCK
    if columns > many:
        scores = scores[: columns * BLOCK].reshape(BLOCK, columns).max(axis=0)
    return nth_largest(scores, many) if len(scores) >= many else 0.0
