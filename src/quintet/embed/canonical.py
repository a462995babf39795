"""A BERT forward pass whose every bit is the same on every machine (spec 004, section 2).

Each matrix product multiplies integers held in float32 and every partial sum stays below 2^24, so any
BLAS, kernel, thread count or order of summation gives the same exact result. Softmax sums, layer norm
moments and pooling are sums of integers too. GELU and exp are tables. All else is one IEEE operation
after another, in a fixed order. A bound that exactness rests on is checked, never assumed.
"""

from collections.abc import Sequence
from math import isqrt

import numpy as np
import numpy.typing as npt

from quintet.embed.tables import EXP_UNIT, GELU_RANGE, STEPS, tables
from quintet.embed.weights import Affine, Float32, Norm, Weights
from quintet.errors import StoreError
from quintet.vector import SCALE, Int16

EXACT = (1 << 24) - 1  # the largest integer below which float32 misses none
EXACT_64 = 1 << 52
FIXED = np.float32(4096)  # units of fixed point in layer norm and pooling
PROBABILITY = 8192  # units of an attention weight
LONGEST = EXACT // EXP_UNIT + 1  # tokens: more would let a softmax sum leave the exact range
SMALLEST = np.float32(1e-20)
GELU_DIP = np.float32(0.17)  # no GELU value lies further below zero than this


class Product:
    """x @ weight + bias with weights as int8 per output and activations as integers per row."""

    def __init__(self, affine: Affine, times: float = 1.0, plus: float = 0.0) -> None:
        """`times` and `plus` are applied to the result, folded into the constants."""
        largest = np.maximum(np.abs(affine.weight).max(axis=0), SMALLEST)
        scale = (largest / np.float32(127)).astype(np.float32)
        self.weight = np.rint(affine.weight / scale).astype(np.float32)
        heaviest = int(np.abs(self.weight).astype(np.float64).sum(axis=0).max())
        self.levels = np.float32(EXACT // max(heaviest, 1))
        if not 127 <= self.levels <= EXACT:
            raise StoreError(
                f"a weight matrix sums to {heaviest}; exact integers need less than {EXACT // 127}"
            )
        self.scale = scale * np.float32(times)
        self.bias = affine.bias * np.float32(times) + np.float32(plus)

    def __call__(self, x: Float32, largest: Float32) -> Float32:
        """`largest` is a bound on each row's magnitude."""
        largest = np.maximum(largest, SMALLEST)
        integers = x * (self.levels / largest)[:, np.newaxis]
        np.rint(integers, out=integers)
        product: Float32 = integers @ self.weight
        product *= (largest / self.levels)[:, np.newaxis]
        product *= self.scale
        product += self.bias
        return product


class CanonicalEncoder:
    """Token ids to canonical int16 vectors. What a sequence gives does not depend on its batch."""

    def __init__(self, weights: Weights) -> None:
        self._words, self._positions, self._norm = weights.words, weights.positions, weights.norm
        self._heads, self._epsilon, self._pooling = weights.heads, weights.epsilon, weights.pooling
        self._gelu, self._exp = tables()
        self._layers = [
            (
                Product(layer.qkv),
                Product(layer.out),
                layer.out_norm,
                Product(layer.up, STEPS, GELU_RANGE * STEPS + 0.5),  # gives table indices
                Product(layer.down),
                layer.down_norm,
            )
            for layer in weights.layers
        ]
        self._width = weights.positions.shape[1]
        self.longest = min(len(weights.positions), LONGEST)
        head = self._width // weights.heads
        self._score_levels = np.float32(isqrt(EXACT // head))
        self._value_levels = np.float32(EXACT // (PROBABILITY + self.longest))
        # 1/sqrt(head) by integer arithmetic: a square root of libm's would do, but this needs no trust.
        self._sharpness = np.float32(STEPS / (isqrt(head << 40) / (1 << 20)))

    def encode(self, sequences: Sequence[Sequence[int]]) -> Int16:
        if not sequences:
            return np.empty((0, self._width), np.int16)
        lengths = [len(sequence) for sequence in sequences]
        if not 1 <= min(lengths) <= max(lengths) <= self.longest:
            raise StoreError(f"a sequence has {max(lengths)} tokens; the encoder takes 1 to {self.longest}")
        ids = np.concatenate([np.asarray(sequence, np.int64) for sequence in sequences])
        places = np.concatenate([np.arange(length) for length in lengths])
        x = self._words.rows(ids) + self._positions[places]
        x = self._normalised(x, self._norm)
        for layer in self._layers:
            x = self._layer(x, lengths, *layer)
        return self._pooled(x, lengths)

    def _layer(
        self,
        x: Float32,
        lengths: Sequence[int],
        qkv: Product,
        out: Product,
        out_norm: Norm,
        up: Product,
        down: Product,
        down_norm: Norm,
    ) -> Float32:
        projected = qkv(x, _largest(x))
        attended = np.empty_like(x)
        start = 0
        for length in lengths:
            stop = start + length
            self._attend(projected[start:stop], attended[start:stop])
            start = stop
        y = out(attended, _largest(attended))
        y += x
        x = self._normalised(y, out_norm)
        active, largest = self._activated(up(x, _largest(x)))
        y = down(active, largest)
        y += x
        return self._normalised(y, down_norm)

    def _activated(self, indices: Float32) -> tuple[Float32, Float32]:
        """GELU by table, and a bound on each row. Beyond the table's end GELU is the argument itself."""
        active: Float32 = self._gelu.take(indices.astype(np.intp), mode="clip")
        largest = active.max(axis=1)
        if largest.max() >= GELU_RANGE:
            beyond = active >= GELU_RANGE
            zero = np.float32(GELU_RANGE * STEPS + 0.5)
            active[beyond] = (indices[beyond] - zero) / np.float32(STEPS)
            largest = active.max(axis=1)
        return active, np.maximum(largest, GELU_DIP)

    def _attend(self, projected: Float32, out: Float32) -> None:
        """Attention of one sequence, head by head, in integers."""
        length, heads = len(projected), self._heads
        largest = np.abs(projected).max(axis=0).reshape(3, heads, -1).max(axis=2)
        largest = np.maximum(largest, SMALLEST)
        levels = np.array([self._score_levels, self._score_levels, self._value_levels], np.float32)
        steps = levels[:, np.newaxis] / largest
        split = projected.reshape(length, 3, heads, -1).transpose(1, 2, 0, 3)
        query, key, value = np.rint(split * steps[:, :, np.newaxis, np.newaxis])
        scores = query @ key.transpose(0, 2, 1)
        sharpness = (largest[0] / levels[0]) * (largest[1] / levels[1]) * self._sharpness
        scores *= sharpness[:, np.newaxis, np.newaxis]
        top = scores.max(axis=2, keepdims=True) + np.float32(0.5)
        np.subtract(top, scores, out=scores)
        shares: Float32 = self._exp.take(scores.astype(np.intp), mode="clip")
        shares *= np.float32(PROBABILITY) / shares.sum(axis=2, keepdims=True)
        np.rint(shares, out=shares)
        mixed = shares @ value
        mixed *= (largest[2] / levels[2] / np.float32(PROBABILITY))[:, np.newaxis, np.newaxis]
        out.reshape(length, heads, -1)[:] = mixed.transpose(1, 0, 2)

    def _normalised(self, x: Float32, norm: Norm) -> Float32:
        """Layer norm with moments of fixed-point integers, exact in float64 whatever the order."""
        fixed = np.rint(x * FIXED).astype(np.float64)
        squares = np.einsum("ij,ij->i", fixed, fixed)
        if not squares.max() < EXACT_64:
            raise StoreError("an activation left the range in which layer norm is exact")
        mean = fixed.sum(axis=1) / self._width
        variance = squares / self._width - mean * mean
        unit = float(FIXED)
        spread = np.sqrt(np.maximum(variance, 0.0) / (unit * unit) + self._epsilon)
        y: Float32 = x - (mean / unit).astype(np.float32)[:, np.newaxis]
        y *= (1.0 / spread).astype(np.float32)[:, np.newaxis]
        y *= norm.weight
        y += norm.bias
        return y

    def _pooled(self, x: Float32, lengths: Sequence[int]) -> Int16:
        """The first token's vector or the mean of all, as integers, then of unit length times 32767."""
        fixed = np.rint(x * FIXED).astype(np.int64)
        starts = np.cumsum([0, *lengths[:-1]])
        # The sum points where the mean does, and a direction is all that is kept.
        pooled = fixed[starts] if self._pooling == "cls" else np.add.reduceat(fixed, starts, axis=0)
        return unit_int16(pooled)


def unit_int16(integers: npt.NDArray[np.int64]) -> Int16:
    """Integer vectors scaled to length 32767. The sum of squares is exact, the rest single operations."""
    squares = (integers * integers).sum(axis=1)
    if int(np.abs(integers).max(initial=0)) >= 1 << 26:
        raise StoreError("a pooled activation left the range in which its length is exact")
    length = np.maximum(np.sqrt(squares.astype(np.float64)), 1.0)[:, np.newaxis]
    scaled: Int16 = np.rint(integers.astype(np.float64) / length * SCALE).astype(np.int16)
    return scaled


def _largest(x: Float32) -> Float32:
    largest: Float32 = np.maximum(x.max(axis=1), -x.min(axis=1))
    return largest
