"""Matrix products of integers stored in float32. They are exact, because every partial sum is below 2^24."""

import numpy as np

from quintet.embed.canonical.weights import Affine, Float32, Norm
from quintet.errors import StoreError

EXACT = (1 << 24) - 1  # float32 represents every integer up to this one
EXACT_64 = 1 << 52
NORM_LEVELS, OUT_LEVELS, DOWN_LEVELS = 511, 255, 159  # largest weights, chosen by measuring the loss
MIN_ROW_LEVELS = 127  # levels of activations between zero and the largest of a row
MIN_UNIT_LEVELS = 32  # levels of normalised activations per unit
SLACK = 1.05  # rounding can make a normalised row longer by less than this
SMALLEST = np.float32(1e-20)


class Product:
    """x @ weight + bias, with integer weights and a scale per output."""

    def __init__(self, affine: Affine, levels: int) -> None:
        largest = np.maximum(np.abs(affine.weight).max(axis=0), SMALLEST)
        self.scale: Float32 = largest / np.float32(levels)
        self.weight: Float32 = np.rint(affine.weight / self.scale)
        self.bias = affine.bias


class RowProduct(Product):
    """For any activations: each row has its own unit, from its largest magnitude."""

    def __init__(self, affine: Affine, levels: int) -> None:
        super().__init__(affine, levels)
        heaviest = int(np.abs(self.weight).sum(axis=0, dtype=np.float64).max())
        self.levels = np.float32(EXACT // max(heaviest, 1))
        _require(self.levels, MIN_ROW_LEVELS)

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
        super().__init__(affine, NORM_LEVELS)
        # g and b are rounded up to integers, so that the bound itself is exact and the same everywhere.
        heavy = np.abs(self.weight).astype(np.float64)
        steep, shift = (
            np.ceil(np.abs(values).astype(np.float64) * 256) for values in (norm.weight, norm.bias)
        )
        squares = (steep * steep) @ (heavy * heavy)
        if not squares.max() < EXACT_64:
            raise StoreError("a layer norm's weights are too large for exact integers")
        reach = np.sqrt(squares * len(heavy) * SLACK) + shift @ heavy
        self.levels = np.float32((EXACT - heavy.sum(axis=0).max()) * 256 // max(reach.max(), 1.0))
        _require(self.levels, MIN_UNIT_LEVELS)
        self.scale = self.scale * np.float32(times) / self.levels
        self.bias = affine.bias * np.float32(times) + np.float32(plus)

    def __call__(self, x: Float32, integers: Float32, out: Float32) -> None:
        """The product without `finish`, which the caller runs block by block."""
        np.multiply(x, self.levels, out=integers)
        np.rint(integers, out=integers)
        np.matmul(integers, self.weight, out=out)

    def finish(self, product: Float32) -> None:
        product *= self.scale
        product += self.bias


def _require(levels: np.float32, minimum: int) -> None:
    if not minimum <= levels <= EXACT:
        raise StoreError(f"a weight matrix leaves {levels:.0f} levels for activations; it needs {minimum}")
