"""A BERT forward pass whose every bit is the same on every machine (spec 004, section 2).

Each matrix product multiplies integers held in float32 and every partial sum stays below 2^24, so any
BLAS, kernel, thread count or order of summation gives the same exact result. Softmax sums, layer norm
moments and pooling are sums of integers too. GELU and exp are tables. All else is one IEEE operation
after another, in a fixed order. A bound that exactness rests on is checked, never assumed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
ROWS = 64  # rows worked on together between products: what a core keeps in its cache
SMALLEST = np.float32(1e-20)
GELU_DIP = np.float32(0.17)  # no GELU value lies further below zero than this


class Product:
    """x @ weight + bias with weights as int8 per output and activations as integers per row."""

    def __init__(self, affine: Affine, times: float = 1.0, plus: float = 0.0) -> None:
        """`times` and `plus` are applied to the result, folded into the constants."""
        largest = np.maximum(np.abs(affine.weight).max(axis=0), SMALLEST)
        scale = (largest / np.float32(127)).astype(np.float32)
        self.weight = np.rint(affine.weight / scale)
        heaviest = int(np.abs(self.weight).sum(axis=0, dtype=np.float64).max())
        self.levels = np.float32(EXACT // max(heaviest, 1))
        if not 127 <= self.levels <= EXACT:
            raise StoreError(
                f"a weight matrix sums to {heaviest}; exact integers need less than {EXACT // 127}"
            )
        self.scale = scale * np.float32(times)
        self.bias = affine.bias * np.float32(times) + np.float32(plus)

    def quantised(self, x: Float32, largest: Float32, out: Float32) -> Float32:
        """Rows as integers, and the unit of each row's products. `largest` bounds each row's magnitude."""
        np.multiply(x, (self.levels / largest)[:, np.newaxis], out=out)
        np.rint(out, out=out)
        unit: Float32 = (largest / self.levels)[:, np.newaxis]
        return unit


@dataclass(frozen=True, slots=True)
class Stage:
    """One layer, its weights as integers."""

    qkv: Product
    out: Product
    out_norm: Norm
    up: Product
    down: Product
    down_norm: Norm


class Room:
    """The arrays that all layers of one pass write into: fresh memory costs more than the arithmetic."""

    def __init__(self, tokens: int, width: int, inner: int) -> None:
        self._integers = np.empty(tokens * inner, np.float32)
        self._products = np.empty(tokens * inner, np.float32)
        self._tokens = tokens
        rows = min(tokens, ROWS)
        self.places = np.empty((rows, inner), np.intp)
        self.fixed = np.empty((rows, width), np.float64)

    def integers(self, columns: int) -> Float32:
        return self._integers[: self._tokens * columns].reshape(-1, columns)

    def products(self, columns: int) -> Float32:
        return self._products[: self._tokens * columns].reshape(-1, columns)


class CanonicalEncoder:
    """Token ids to canonical int16 vectors. What a sequence gives does not depend on its batch."""

    def __init__(self, weights: Weights) -> None:
        self._words, self._positions, self._norm = weights.words, weights.positions, weights.norm
        self._heads, self._epsilon, self._pooling = weights.heads, weights.epsilon, weights.pooling
        self._gelu, self._exp = tables()
        self._stages = [
            Stage(
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
        self._inner = weights.layers[0].up.weight.shape[1]
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
        room = Room(len(ids), self._width, self._inner)
        x = self._words.rows(ids) + self._positions[places]
        self._normalise(x, self._norm, room)
        for stage in self._stages:
            self._attention(x, lengths, stage, room)
            self._feed_forward(x, stage, room)
        return self._pooled(x, lengths)

    def _attention(self, x: Float32, lengths: Sequence[int], stage: Stage, room: Room) -> None:
        integers, projected = room.integers(self._width), room.products(3 * self._width)
        unit = stage.qkv.quantised(x, _largest(x), integers)
        np.matmul(integers, stage.qkv.weight, out=projected)
        for rows in _blocks(len(x)):
            _scale(projected[rows], unit[rows], stage.qkv)
        start = 0
        for length in lengths:
            stop = start + length
            self._attend(projected[start:stop], integers[start:stop])
            start = stop
        unit = stage.out.quantised(integers, _largest(integers), integers)
        self._add(x, unit, stage.out, stage.out_norm, integers, room)

    def _feed_forward(self, x: Float32, stage: Stage, room: Room) -> None:
        integers, wide = room.integers(self._width), room.products(self._inner)
        unit = stage.up.quantised(x, _largest(x), integers)
        np.matmul(integers, stage.up.weight, out=wide)
        integers = room.integers(self._inner)
        down = np.empty_like(unit)
        for rows in _blocks(len(x)):
            product = wide[rows]
            product *= unit[rows]
            product *= stage.up.scale
            places = room.places[: len(product)]
            np.add(product, stage.up.bias, out=product)
            places[...] = product
            largest = self._activate(places, product)
            down[rows] = stage.down.quantised(product, largest, integers[rows])
        self._add(x, down, stage.down, stage.down_norm, integers, room)

    def _add(
        self, x: Float32, unit: Float32, product: Product, norm: Norm, integers: Float32, room: Room
    ) -> None:
        """x becomes the layer norm of x plus the product."""
        added = room.products(self._width)
        np.matmul(integers, product.weight, out=added)
        for rows in _blocks(len(x)):
            _scale(added[rows], unit[rows], product)
            x[rows] += added[rows]
        self._normalise(x, norm, room)

    def _activate(self, places: npt.NDArray[np.intp], out: Float32) -> Float32:
        """GELU by table, and a bound on each row. Beyond the table's end GELU is the argument itself."""
        self._gelu.take(places, mode="clip", out=out)
        largest: Float32 = out.max(axis=1)
        if largest.max() >= GELU_RANGE:
            beyond = out >= GELU_RANGE
            out[beyond] = (places[beyond] - GELU_RANGE * STEPS) / np.float32(STEPS)
            largest = out.max(axis=1)
        return np.maximum(largest, GELU_DIP)

    def _attend(self, projected: Float32, out: Float32) -> None:
        """Attention of one sequence, all heads at once, in integers. Scores are keys x queries."""
        length, heads = len(projected), self._heads
        largest = np.maximum(projected.max(axis=0), -projected.min(axis=0)).reshape(3, heads, -1).max(axis=2)
        largest = np.maximum(largest, SMALLEST)
        levels = np.array([[self._score_levels], [self._score_levels], [self._value_levels]], np.float32)
        projected *= np.repeat(levels / largest, self._width // heads)
        np.rint(projected, out=projected)
        query, key, value = projected.reshape(length, 3, heads, -1).transpose(1, 2, 0, 3)
        scores = key @ query.transpose(0, 2, 1)
        np.subtract(scores.max(axis=1, keepdims=True), scores, out=scores)
        unit = largest / levels
        scores *= (unit[0] * unit[1] * self._sharpness)[:, np.newaxis, np.newaxis]
        shares = self._exp.take(scores.astype(np.intp), mode="clip", out=scores)
        shares *= np.float32(PROBABILITY) / shares.sum(axis=1, keepdims=True)
        np.rint(shares, out=shares)
        mixed = shares.transpose(0, 2, 1) @ value
        np.multiply(
            mixed.transpose(1, 0, 2),
            (unit[2] / np.float32(PROBABILITY))[:, np.newaxis],
            out=out.reshape(length, heads, -1),
        )

    def _normalise(self, x: Float32, norm: Norm, room: Room) -> None:
        """Layer norm in place, with moments of fixed-point integers, exact in float64 whatever the order."""
        unit = float(FIXED)
        for rows in _blocks(len(x)):
            y = x[rows]
            fixed = room.fixed[: len(y)]
            np.rint(y * FIXED, out=fixed)
            squares = np.einsum("ij,ij->i", fixed, fixed)
            if not squares.max() < EXACT_64:
                raise StoreError("an activation left the range in which layer norm is exact")
            mean = fixed.sum(axis=1) / self._width
            variance = squares / self._width - mean * mean
            spread = np.sqrt(np.maximum(variance, 0.0) / (unit * unit) + self._epsilon)
            y -= (mean / unit).astype(np.float32)[:, np.newaxis]
            y *= (1.0 / spread).astype(np.float32)[:, np.newaxis]
            y *= norm.weight
            y += norm.bias

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


def _blocks(length: int) -> Iterator[slice]:
    return (slice(start, start + ROWS) for start in range(0, length, ROWS))


def _scale(products: Float32, unit: Float32, product: Product) -> None:
    products *= unit
    products *= product.scale
    products += product.bias


def _largest(x: Float32) -> Float32:
    largest: Float32 = np.maximum(x.max(axis=1), -x.min(axis=1))
    return np.maximum(largest, SMALLEST)
