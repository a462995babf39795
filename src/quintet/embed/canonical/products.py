"""Matrix products of integers held in float32, exact because every partial sum stays below 2^24."""

import numpy as np

from quintet.embed.canonical.weights import Affine, Float32, Norm
from quintet.errors import StoreError

EXACT = (1 << 24) - 1  # the largest integer below which float32 misses none
EXACT_64 = 1 << 52
NORM_LEVELS, OUT_LEVELS, DOWN_LEVELS = 511, 255, 159  # largest weights: what loses least, measured
FEWEST_PER_ROW = 127  # levels of activations between zero and a row's largest
FEWEST_PER_ONE = 32  # levels of normed activations in one unit
SLACK = 1.05  # for what rounding can add to a normed row's length
SMALLEST = np.float32(1e-20)


class Product:
    """x @ weight + bias with weights as integers per output."""

    def __init__(self, affine: Affine, levels: int) -> None:
        largest = np.maximum(np.abs(affine.weight).max(axis=0), SMALLEST)
        self.scale: Float32 = largest / np.float32(levels)
        self.weight: Float32 = np.rint(affine.weight / self.scale)
        self.bias = affine.bias


class RowProduct(Product):
    """Of any activations: each row has a unit of its own, from its largest magnitude."""

    def __init__(self, affine: Affine, levels: int) -> None:
        super().__init__(affine, levels)
        heaviest = int(np.abs(self.weight).sum(axis=0, dtype=np.float64).max())
        self.levels = np.float32(EXACT // max(heaviest, 1))
        _require(self.levels, FEWEST_PER_ROW)

    def quantise(self, x: Float32, largest: Float32, out: Float32) -> Float32:
        """Rows as integers, and the unit of each. `largest` bounds each row's magnitude."""
        np.multiply(x, (self.levels / largest)[:, np.newaxis], out=out)
        np.rint(out, out=out)
        unit: Float32 = (largest / self.levels)[:, np.newaxis]
        return unit

    def finish(self, product: Float32, unit: Float32) -> None:
        product *= unit
        product *= self.scale
        product += self.bias


class NormProduct(Product):
    """Of a layer norm's output: one unit serves all rows, for the norm itself bounds every sum.

    Before its weight g and bias b a normed row has a length of at most sqrt(width), so by Cauchy and
    Schwarz no partial sum of (g * y + b) w exceeds sqrt(width) |g w| + sum |b w|.
    """

    def __init__(self, affine: Affine, norm: Norm, times: float = 1.0, plus: float = 0.0) -> None:
        """`times` and `plus` are applied to the result, folded into the constants."""
        super().__init__(affine, NORM_LEVELS)
        # g and b rounded up to integers, so that this too is exact and the same everywhere.
        heavy = np.abs(self.weight).astype(np.float64)
        steep, shift = (np.ceil(np.abs(each).astype(np.float64) * 256) for each in (norm.weight, norm.bias))
        squares = (steep * steep) @ (heavy * heavy)
        if not squares.max() < EXACT_64:
            raise StoreError("a layer norm's weights are too large for exact integers")
        reach = np.sqrt(squares * len(heavy) * SLACK) + shift @ heavy
        self.levels = np.float32((EXACT - heavy.sum(axis=0).max()) * 256 // max(reach.max(), 1.0))
        _require(self.levels, FEWEST_PER_ONE)
        self.scale = self.scale * np.float32(times) / self.levels
        self.bias = affine.bias * np.float32(times) + np.float32(plus)

    def __call__(self, x: Float32, integers: Float32, out: Float32) -> None:
        """All but `finish`, which is left to the caller, block by block."""
        np.multiply(x, self.levels, out=integers)
        np.rint(integers, out=integers)
        np.matmul(integers, self.weight, out=out)

    def finish(self, product: Float32) -> None:
        product *= self.scale
        product += self.bias


def _require(levels: np.float32, fewest: int) -> None:
    if not fewest <= levels <= EXACT:
        raise StoreError(f"a weight matrix leaves {levels:.0f} levels for activations; {fewest} are needed")
