"""Matrix products of integers stored in float32. They are exact, because every partial sum is below 2^24."""

import numpy as np
import numpy.typing as npt

from quintet.embed.canonical.weights import Affine, Float32, Norm
from quintet.errors import StoreError

EXACT = (1 << 24) - 1  # float32 represents every integer up to this one
EXACT_64 = 1 << 52
NORM_LEVELS, OUT_LEVELS, DOWN_LEVELS = 511, 255, 159  # largest weights, chosen by measuring the loss
COARSER_LEVELS = (NORM_LEVELS, 255, 127)  # for layer norms too steep for the first
BLOCK = 1536  # inputs whose products are added up exactly: as many as the small models have
SPLITS = (1, 2, 4, 8)
MIN_ROW_LEVELS = 127  # levels of activations between zero and the largest of a row
MIN_UNIT_LEVELS = 32  # levels of normalised activations per unit
SLACK = 1.05  # rounding can make a normalised row longer by less than this
SMALLEST = np.float32(1e-20)

Float64 = npt.NDArray[np.float64]


class Product:
    """x @ weight + bias, with integer weights and a scale per output.

    The inputs are split into blocks. The sums within a block are exact; blocks are added in a fixed order.
    """

    def __init__(self, affine: Affine, levels: int) -> None:
        largest = np.maximum(np.abs(affine.weight).max(axis=0), SMALLEST)
        self.scale: Float32 = largest / np.float32(levels)
        self.weight: Float32 = np.rint(affine.weight / self.scale)
        self.bias = affine.bias
        self.blocks: list[slice] = []

    def multiply(self, integers: Float32, out: Float32) -> None:
        first, *others = self.blocks
        np.matmul(integers[:, first], self.weight[first], out=out)
        for block in others:
            out += np.matmul(integers[:, block], self.weight[block])


class RowProduct(Product):
    """For any activations: each row has its own unit, from its largest magnitude."""

    def __init__(self, affine: Affine, levels: int) -> None:
        super().__init__(affine, levels)
        heavy = np.abs(self.weight)
        count = -(-len(heavy) // BLOCK)
        while (room := self._room(heavy, count)) < MIN_ROW_LEVELS:
            count += 1  # ends, because a weight is at most `levels`
        self.levels, self.blocks = np.float32(room), _blocks(len(heavy), count)

    @staticmethod
    def _room(heavy: Float32, count: int) -> int:
        """The levels that activations can have if the inputs are split into this many blocks."""
        sums = [heavy[block].sum(axis=0, dtype=np.float64).max() for block in _blocks(len(heavy), count)]
        return EXACT // max(int(max(sums)), 1)

    def quantise(self, x: Float32, largest: Float32, out: Float32) -> Float32:
        """Write the rows as integers into `out`; returns the unit of each. `largest` bounds the magnitudes of
        a row."""
        np.multiply(x, (self.levels / largest)[:, np.newaxis], out=out)
        np.rint(out, out=out)
        unit: Float32 = (largest / self.levels)[:, np.newaxis]
        return unit

    def finish(self, product: Float32, unit: Float32) -> None:
        product *= unit
        product *= self.scale
        product += self.bias


class NormProduct(Product):
    """For the output of a layer norm: all rows share one unit, because the norm bounds every sum.

    Before weight g and bias b are applied, a normalised row has a length of at most sqrt(width). By the
    Cauchy-Schwarz inequality, no partial sum of (g * y + b) w exceeds sqrt(width) |g w| + sum |b w|.
    """

    def __init__(self, affine: Affine, norm: Norm, times: float = 1.0, plus: float = 0.0) -> None:
        """The result is multiplied by `times` and `plus` is added, by changing scale and bias."""
        self.levels = self._fit(affine, norm)
        self.scale = self.scale * np.float32(times) / self.levels
        self.bias = affine.bias * np.float32(times) + np.float32(plus)

    def _fit(self, affine: Affine, norm: Norm) -> np.float32:
        """Choose the finest weights and the fewest blocks that leave enough levels for activations."""
        # g and b are rounded up to integers, so that the bound itself is exact and the same everywhere.
        steep, shift = (
            np.ceil(np.abs(values).astype(np.float64) * 256) for values in (norm.weight, norm.bias)
        )
        width = len(affine.weight)
        for levels in COARSER_LEVELS:
            super().__init__(affine, levels)
            heavy = np.abs(self.weight).astype(np.float64)
            for split in SPLITS:
                self.blocks = _blocks(width, split * -(-width // BLOCK))
                room = min(_room_of(heavy[one], steep[one], shift[one], width) for one in self.blocks)
                if MIN_UNIT_LEVELS <= room <= EXACT:
                    return np.float32(room)
        raise StoreError("a layer norm's weights are too large for exact integers")

    def __call__(self, x: Float32, integers: Float32, out: Float32) -> None:
        """The product without `finish`, which the caller runs block by block."""
        np.multiply(x, self.levels, out=integers)
        np.rint(integers, out=integers)
        self.multiply(integers, out)

    def finish(self, product: Float32) -> None:
        product *= self.scale
        product += self.bias


def _room_of(heavy: Float64, steep: Float64, shift: Float64, width: int) -> float:
    """The levels per unit of normalised activations that keep the sums of one block exact."""
    squares = (steep * steep) @ (heavy * heavy)
    if not squares.max() < EXACT_64:
        return 0.0
    reach = np.sqrt(squares * width * SLACK) + shift @ heavy
    return float((EXACT - heavy.sum(axis=0).max()) * 256 // max(reach.max(), 1.0))


def _blocks(inputs: int, count: int) -> list[slice]:
    """Split the inputs into blocks of equal size, except for the last.

    >>> _blocks(10, 3)
    [slice(0, 4, None), slice(4, 8, None), slice(8, 12, None)]
    """
    size = -(-inputs // count)
    return [slice(start, start + size) for start in range(0, inputs, size)]
