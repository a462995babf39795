"""Products of int8 matrices with exact int32 sums."""

from typing import Protocol

import numkong
import numpy as np
import numpy.typing as npt

Int8 = npt.NDArray[np.int8]
Int32 = npt.NDArray[np.int32]
LEVELS = 127  # the largest magnitude; -128 is not used


class Int8Matrix(Protocol):
    """A matrix, outputs x inputs, that rows are multiplied with."""

    def __init__(self, weight: Int8) -> None: ...

    def dots(self, rows: Int8) -> Int32:
        """The dot product of each row with each output."""
        ...


class KernelMatrix:
    """By numkong, in one thread and with whatever instructions the processor has."""

    def __init__(self, weight: Int8) -> None:
        self._packed = numkong.dots_pack(weight)

    def dots(self, rows: Int8) -> Int32:
        return np.asarray(numkong.dots_packed(rows, self._packed))


class ReferenceMatrix:
    """By numpy in float64, which is exact below 2^53. The reference, and far slower."""

    def __init__(self, weight: Int8) -> None:
        self._weight = weight.T.astype(np.float64)

    def dots(self, rows: Int8) -> Int32:
        return (rows.astype(np.float64) @ self._weight).astype(np.int32)
