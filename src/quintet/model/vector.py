"""Canonical int16 vectors: the same integers on every machine, so the same order on every machine.

A vector is L2-normalised, scaled by 32767, rounded half to even. Order is by the integer dot product;
the cosine that people see is that product divided by 32767 squared (spec 004, section 9).
"""

from math import fsum

import numpy as np
import numpy.typing as npt

from quintet.errors import UsageError

SCALE = 32767
Int16 = npt.NDArray[np.int16]
Int64 = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64] | Int64
BLOCK = 64  # scores, far from one another, whose best stands for them


def quantise(values: npt.ArrayLike) -> Int16:
    """The canonical form of one vector or of each row of a matrix. A zero vector stays zero, and a canonical
    one stays as it is.

    >>> quantise([3.0, 4.0]).tolist()
    [19660, 26214]
    """
    array = np.asarray(values)
    if array.dtype != np.int16:
        return _round(array)
    canonical = _has_canonical_length(array)
    if canonical.all():
        return array.astype(np.int16)
    return np.where(canonical[..., np.newaxis], array, _round(array))


def _has_canonical_length(array: Int16) -> npt.NDArray[np.bool_]:
    """Rounding moves each of n elements by at most 0.5, and so the length by at most sqrt(n) / 2."""
    exact = array.astype(np.int64)
    lengths = np.sqrt((exact * exact).sum(axis=-1).astype(np.float64))
    moved = np.sqrt(array.shape[-1]) / 2 + 1e-6  # what is rounded is itself exact but for its last bits
    return np.asarray((np.abs(lengths - SCALE) <= moved) & (array >= -SCALE).all(axis=-1))


def _round(array: npt.NDArray[np.generic]) -> Int16:
    exact = array.astype(np.float64)
    if not np.isfinite(exact).all():
        raise UsageError("an embedding holds NaN or infinity; every element must be a finite number")
    # Scaling by the largest element first prevents underflow and overflow.
    largest = np.abs(exact).max(axis=-1, keepdims=True, initial=0.0)
    exact = np.divide(exact, largest, out=np.zeros_like(exact), where=largest > 0)
    norm = np.sqrt(_exact_sums(exact * exact))
    unit = np.divide(exact, norm, out=np.zeros_like(exact), where=norm > 0)
    rounded: Int16 = np.clip(np.rint(unit * SCALE), -SCALE, SCALE).astype(np.int16)
    return rounded


def _exact_sums(squares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Row sums by `fsum`: numpy's own depend in the last bit on how the machine adds."""
    rows = squares.reshape(-1, squares.shape[-1])
    sums = np.array([fsum(row) for row in rows.tolist()], dtype=np.float64)
    return sums.reshape(*squares.shape[:-1], 1)


def dots(matrix: Int16, query: Int16) -> Int64:
    """Exact integer dot products of every row with the query."""
    # Every sum of products is an integer far below 2^53, so float64 is exact in any order. It is twice as
    # fast as int64, and `einsum` starts no thread.
    sums = np.einsum("ij,j->i", matrix.astype(np.float64), query.astype(np.float64))
    return np.asarray(sums.astype(np.int64))


def nearest(matrix: Int16, count: int) -> Int64:
    """For each row the `count` other rows nearest to it, in the order of the matrix. Of equally near rows the
    earlier counts as nearer. There must be more than `count` rows.

    >>> nearest(np.array([[9, 0], [8, 1], [0, 9], [1, 8]], np.int16), 1).tolist()
    [[1], [0], [3], [2]]
    """
    exact = matrix.astype(np.float64)  # every sum of products is an integer far below 2^53
    size = len(matrix)
    keys = (exact @ exact.T) * size - np.arange(size)  # no two of a row are equal
    np.fill_diagonal(keys, -np.inf)
    return np.sort(np.argpartition(keys, size - count, axis=1)[:, size - count :], axis=1)


def cosine(dot: int) -> float:
    """The cosine an integer dot product stands for, clamped to [-1, 1] against rounding.

    >>> cosine(32767 * 32767)
    1.0
    """
    return max(-1.0, min(1.0, dot / (SCALE * SCALE)))


def cosines(dots: Int64) -> list[float]:
    """`cosine` of each dot product."""
    values: list[float] = np.clip(dots / (SCALE * SCALE), -1.0, 1.0).tolist()
    return values


def nth_largest(scores: Scores, nth: int) -> float:
    """The nth largest of at least `nth` scores, without sorting them."""
    place = len(scores) - nth
    return float(np.partition(scores, place)[place])


def score_reached_by(scores: Scores, many: int) -> float:
    """A score that at least `many` of these reach; 0.0 where there are fewer. It need not be the largest such
    score, which would take longer to find."""
    columns = len(scores) // BLOCK
    if columns > many:
        scores = scores[: columns * BLOCK].reshape(BLOCK, columns).max(axis=0)
    return nth_largest(scores, many) if len(scores) >= many else 0.0
