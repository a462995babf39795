"""Affine maps with int8 weights: one int8 limb for ordinary rows, two for the first and last of a text.

The special tokens at both ends have activations up to a hundred times larger than any word has, and the
vector of a text is the first of them. The other rows share one unit per input, from recorded ranges.
"""

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from quintet.embed.canonical.int8_matrix import LEVELS, Int8, Int8Matrix
from quintet.embed.canonical.products import SMALLEST
from quintet.embed.canonical.ranges import HEADROOM
from quintet.embed.canonical.weights import Affine, Float32
from quintet.errors import StoreError

Places = npt.NDArray[np.intp]
LIMB = 64  # units of the high limb; with more of them, the sum of 1536 products could leave int32
TWO_LIMBS = np.float32(LEVELS * LIMB)  # the largest magnitude of two limbs
MAX_INPUTS = ((1 << 31) - 1) // (LEVELS * LEVELS * (LIMB + 1))


class Int8Affine(ABC):
    """x @ weight + bias. `times` and `plus` are applied to the result, by changing scale and bias.

    Half of what varies between the ranges of inputs moves into the weights (SmoothQuant, Xiao et al. 2022,
    with exponent 1/2): each input is divided by `even`, and its weights are multiplied by it.
    """

    def __init__(
        self,
        matrix: type[Int8Matrix],
        affine: Affine,
        ranges: Float32,
        times: npt.ArrayLike = 1.0,
        plus: float = 0.0,
    ) -> None:
        if len(affine.weight) > MAX_INPUTS:
            raise StoreError(f"a weight matrix has {len(affine.weight)} inputs; int32 holds {MAX_INPUTS}")
        heaviest = np.maximum(np.abs(affine.weight).max(axis=1), SMALLEST)
        even: Float32 = np.sqrt(ranges / heaviest)
        weight = affine.weight.T * even
        scale = largest_magnitude(weight) / np.float32(LEVELS)
        weight /= scale[:, np.newaxis]
        np.rint(weight, out=weight)
        self.matrix = matrix(weight.astype(np.int8))
        self.scale: Float32 = scale * np.asarray(times, np.float32)
        self.bias: Float32 = affine.bias * np.asarray(times, np.float32) + np.float32(plus)
        self.shrink: Float32 = np.float32(1) / even

    @abstractmethod
    def __call__(self, x: Float32, special: Places, out: Float32) -> None:
        """Write the result into `out`. The rows `special` of x have two limbs and a unit each."""

    def rows_for(self, count: int) -> Int8:
        """Space for so many rows, and for up to three more: numkong is slower for other numbers."""
        return np.empty((count + -count % 4, len(self.shrink)), np.int8)

    def _limbs(self, x: Float32) -> tuple[Float32, Float32, Float32]:
        """The unit of each row, and its two limbs."""
        y = x * self.shrink
        largest = largest_magnitude(y)
        y *= (TWO_LIMBS / largest)[:, np.newaxis]
        np.rint(y, out=y)
        high = np.rint(y / np.float32(LIMB))
        y -= high * np.float32(LIMB)
        return largest / TWO_LIMBS, high, y

    def _sums(self, y: Float32, special: Places, high: Float32, low: Float32, out: Float32) -> None:
        """The products of all rows, which are integers; of special rows, those of both limbs together."""
        count, both = len(y), len(y) + len(low)
        rows = self.rows_for(both)
        rows[:count], rows[count:both], rows[both:], rows[special] = y, low, 0, high
        sums = self.matrix.dots(rows)[:, : len(self.scale)]
        sums[special] = sums[special] * LIMB + sums[count:both]
        out[...] = sums[:count]


class RangedAffine(Int8Affine):
    """For activations of which the range of every input is known. What lies beyond is clipped."""

    def __init__(
        self,
        matrix: type[Int8Matrix],
        affine: Affine,
        ranges: Float32,
        times: npt.ArrayLike = 1.0,
        plus: float = 0.0,
    ) -> None:
        super().__init__(matrix, affine, ranges, times, plus)
        self.unit = (ranges * self.shrink).max() * HEADROOM / np.float32(LEVELS)
        self.levels = self.shrink / self.unit
        self.scale = self.scale * self.unit

    def __call__(self, x: Float32, special: Places, out: Float32) -> None:
        unit, high, low = self._limbs(x[special])
        y = x * self.levels
        np.clip(y, -LEVELS, LEVELS, out=y)
        self._sums(np.rint(y, out=y), special, high, low, out)
        out[special] *= (unit / self.unit)[:, np.newaxis]
        out *= self.scale
        out += self.bias


class RowAffine(Int8Affine):
    """For any activations: every row has a unit of its own. `x` is overwritten."""

    def __call__(self, x: Float32, special: Places, out: Float32) -> None:
        special_unit, high, low = self._limbs(x[special])
        x *= self.shrink
        largest = largest_magnitude(x)
        x *= (np.float32(LEVELS) / largest)[:, np.newaxis]
        self._sums(np.rint(x, out=x), special, high, low, out)
        unit = largest / np.float32(LEVELS)
        unit[special] = special_unit
        out *= unit[:, np.newaxis]
        out *= self.scale
        out += self.bias


def largest_magnitude(x: Float32) -> Float32:
    largest: Float32 = np.maximum(x.max(axis=1), -x.min(axis=1))
    return np.maximum(largest, SMALLEST)
