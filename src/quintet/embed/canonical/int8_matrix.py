"""Products of int8 matrices with exact int32 sums."""

from functools import cache
from typing import Protocol

import numkong
import numpy as np
import numpy.typing as npt

from quintet.errors import StoreError

Int8 = npt.NDArray[np.int8]
Int32 = npt.NDArray[np.int32]
LEVELS = 127  # the largest magnitude; -128 is not used


class Int8Matrix(Protocol):
    """A matrix, outputs x inputs, that rows are multiplied with."""

    def __init__(self, weight: Int8) -> None: ...

    def dots(self, rows: Int8) -> Int32:
        """The dot product of each row with each output. Further columns may follow, which mean nothing."""
        ...


class KernelMatrix:
    """By numkong, in one thread and with whatever instructions the processor has."""

    def __init__(self, weight: Int8) -> None:
        require_exact_kernels()
        # Unless the number of outputs is a multiple of 8, numkong 7.8 multiplies 4 x 4 values at a time
        # instead of 1 x 8: with 1540 outputs it is a third faster than with 1536.
        padded = np.zeros((len(weight) + (4 - len(weight)) % 8, weight.shape[1]), np.int8)
        padded[: len(weight)] = weight
        self._packed = numkong.dots_pack(padded)

    def dots(self, rows: Int8) -> Int32:
        return np.asarray(numkong.dots_packed(rows, self._packed))


@cache
def require_exact_kernels() -> None:
    """Switch off kernels of numkong, newest first, until a sample of its products is right.

    Nobody has tried them on every processor: that for SME gives wrong sums under an emulator (QEMU 7.2).
    """
    newest_last = [name for name, usable in numkong.get_capabilities().items() if usable and name != "serial"]
    while not _sample_is_exact():
        if not newest_last:
            raise StoreError("numkong multiplies int8 matrices wrongly on this machine; install it again")
        numkong.disable_capability(newest_last.pop())


def _sample_is_exact() -> bool:
    values = np.arange(36 * 388) * 37 % 255 - LEVELS
    rows, weight = np.split(values.reshape(36, 388), [20])
    sums = numkong.dots_packed(rows.astype(np.int8), numkong.dots_pack(weight.astype(np.int8)))
    return bool((np.asarray(sums) == rows @ weight.T).all())


class ReferenceMatrix:
    """By numpy in float64, which is exact below 2^53. The reference, and far slower."""

    def __init__(self, weight: Int8) -> None:
        self._weight = weight.T.astype(np.float64)

    def dots(self, rows: Int8) -> Int32:
        return (rows.astype(np.float64) @ self._weight).astype(np.int32)
