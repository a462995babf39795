"""A BERT forward pass that gives the same bits on every machine (spec 004, section 2).

Each matrix product multiplies integers stored in float32, and every partial sum is below 2^24. So any BLAS,
kernel, thread count or order of summation gives the same exact result. Softmax sums, layer norm moments and
pooling are sums of integers too. GELU and exp are tables. Everything else is single IEEE operations in a
fixed order. Every bound that exactness depends on is checked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isqrt

import numpy as np
import numpy.typing as npt

from quintet.embed.canonical.layer_norm import FIXED, normalise
from quintet.embed.canonical.products import (
    DOWN_LEVELS,
    EXACT,
    OUT_LEVELS,
    SMALLEST,
    NormProduct,
    RowProduct,
)
from quintet.embed.canonical.tables import EXP_UNIT, GELU_RANGE, STEPS, tables
from quintet.embed.canonical.weights import EncoderLayer, Float32, Norm, Weights
from quintet.errors import StoreError
from quintet.model.vector import SCALE, Int16

PROBABILITY = 8192  # units of an attention weight
MAX_TOKENS = EXACT // EXP_UNIT + 1  # with more tokens a softmax sum could leave the exact range
ROWS = 64  # rows processed together between products: what fits into the cache of a core
ATTENTION_PAIRS = 1 << 14  # pairs of tokens processed at once by each head
POOLED_BITS = 26  # of a pooled activation: its length is exact up to 2048 dimensions
GELU_DIP = np.float32(0.17)  # no GELU value is further below zero


@dataclass(frozen=True, slots=True)
class IntegerLayer:
    """One layer with integer weights."""

    qkv: NormProduct
    out: RowProduct
    out_norm: Norm
    up: NormProduct
    down: RowProduct
    down_norm: Norm


class Buffers:
    """Arrays that all layers of one pass reuse: new memory would cost more than the arithmetic."""

    def __init__(self, tokens: int, width: int, inner: int) -> None:
        self._integers = np.empty(tokens * max(width, inner), np.float32)
        self._products = np.empty(tokens * max(3 * width, inner), np.float32)
        rows = min(tokens, ROWS)
        self.places = np.empty((rows, inner), np.intp)

    def integers(self, rows: int, columns: int) -> Float32:
        return self._integers[: rows * columns].reshape(rows, columns)

    def products(self, rows: int, columns: int) -> Float32:
        return self._products[: rows * columns].reshape(rows, columns)


class CanonicalEncoder:
    """From token ids to canonical int16 vectors. The vector of a sequence does not depend on its batch."""

    def __init__(self, weights: Weights) -> None:
        self._words, self._positions, self._norm = weights.words, weights.positions, weights.norm
        self._heads, self._epsilon, self._pooling = weights.heads, weights.epsilon, weights.pooling
        self._gelu, self._exp = tables()
        norm = weights.norm
        self._layers: list[IntegerLayer] = []
        for layer in weights.layers:
            self._layers.append(_integer_layer(layer, norm))
            norm = layer.down_norm
        self._width = weights.positions.shape[1]
        self._inner = self._layers[0].up.weight.shape[1]
        self.longest = min(len(weights.positions), MAX_TOKENS)
        head = self._width // weights.heads
        self._score_levels = np.float32(isqrt(EXACT // head))
        self._value_levels = np.float32(EXACT // (PROBABILITY + self.longest))
        # 1/sqrt(head) by integer arithmetic, which does not depend on libm.
        self._sharpness = np.float32(STEPS / (isqrt(head << 40) / (1 << 20)))

    def encode(self, sequences: Sequence[Sequence[int]]) -> Int16:
        if not sequences:
            return np.empty((0, self._width), np.int16)
        lengths = checked_lengths(sequences, self.longest)
        ids = np.concatenate([np.asarray(sequence, np.int64) for sequence in sequences])
        places = np.concatenate([np.arange(length) for length in lengths])
        buffers = Buffers(len(ids), self._width, self._inner)
        x = self._words.rows(ids) + self._positions[places]
        self._normalise(x, self._norm)
        for layer in self._layers:
            first_only = self._pooling == "cls" and layer is self._layers[-1]
            x = self._attention(x, lengths, layer, buffers, first_only)
            self._feed_forward(x, layer, buffers)
        return unit_int16(self._pool(x, lengths))

    def _attention(
        self, x: Float32, lengths: Sequence[int], layer: IntegerLayer, buffers: Buffers, first_only: bool
    ) -> Float32:
        """The new x. With `first_only` it has only the first row of each sequence, because no layer needs the
        rest."""
        integers, projected = buffers.integers(len(x), self._width), buffers.products(len(x), 3 * self._width)
        layer.qkv(x, integers, projected)
        for rows in _row_blocks(len(x)):
            layer.qkv.finish(projected[rows])
        if first_only:
            x = x[_starts(lengths)]
            integers = buffers.integers(len(x), self._width)
        start = done = 0
        for length, count in _runs(lengths):
            part = projected[start : start + count * length].reshape(count, length, -1)
            start += count * length
            queries = count if first_only else count * length
            self._attend(part, integers[done : done + queries])
            done += queries
        unit = layer.out.quantise(integers, _largest(integers), integers)
        self._add(x, unit, layer.out, layer.out_norm, integers, buffers)
        return x

    def _feed_forward(self, x: Float32, layer: IntegerLayer, buffers: Buffers) -> None:
        integers, wide = buffers.integers(len(x), self._width), buffers.products(len(x), self._inner)
        layer.up(x, integers, wide)
        integers = buffers.integers(len(x), self._inner)
        unit = np.empty((len(x), 1), np.float32)
        for rows in _row_blocks(len(x)):
            product = wide[rows]
            layer.up.finish(product)
            places = buffers.places[: len(product)]
            places[...] = product
            largest = self._activate(places, product)
            unit[rows] = layer.down.quantise(product, largest, integers[rows])
        self._add(x, unit, layer.down, layer.down_norm, integers, buffers)

    def _add(
        self, x: Float32, unit: Float32, product: RowProduct, norm: Norm, integers: Float32, buffers: Buffers
    ) -> None:
        """Replace x by the layer norm of x plus the product."""
        added = buffers.products(len(x), self._width)
        product.multiply(integers, added)
        for rows in _row_blocks(len(x)):
            product.finish(added[rows], unit[rows])
            x[rows] += added[rows]
        self._normalise(x, norm)

    def _activate(self, places: npt.NDArray[np.intp], out: Float32) -> Float32:
        """GELU by table; returns a bound for each row. Beyond the end of the table GELU is the argument."""
        self._gelu.take(places, mode="clip", out=out)
        largest: Float32 = out.max(axis=1)
        if largest.max() >= GELU_RANGE:
            beyond = out >= GELU_RANGE
            out[beyond] = (places[beyond] - GELU_RANGE * STEPS) / np.float32(STEPS)
            largest = out.max(axis=1)
        return np.maximum(largest, GELU_DIP)

    def _attend(self, projected: Float32, out: Float32) -> None:
        """Attention for sequences of the same length, in integers, for as many first tokens as `out` has
        rows.

        `projected` is overwritten.
        """
        count, length, _ = projected.shape
        queries = len(out) // count
        by_head = (count, 3, self._heads, -1)
        largest = np.maximum(projected.max(axis=1), -projected.min(axis=1)).reshape(by_head).max(axis=3)
        largest = np.maximum(largest, SMALLEST)
        levels = np.array([[self._score_levels], [self._score_levels], [self._value_levels]], np.float32)
        unit = (largest / levels)[..., np.newaxis, np.newaxis]
        projected *= np.repeat(levels / largest, self._width // self._heads).reshape(count, 1, -1)
        np.rint(projected, out=projected)
        query, key, value = projected.reshape(count, length, *by_head[1:]).transpose(2, 0, 3, 1, 4)
        # Keys x queries: reducing over rows is faster than over columns.
        scores: Float32 = np.matmul(key, query[:, :, :queries].swapaxes(2, 3))
        np.subtract(scores.max(axis=2, keepdims=True), scores, out=scores)
        scores *= unit[:, 0] * unit[:, 1] * self._sharpness
        shares = self._exp.take(scores.astype(np.intp), mode="clip", out=scores)
        shares *= np.float32(PROBABILITY) / shares.sum(axis=2, keepdims=True)
        np.rint(shares, out=shares)
        mixed: Float32 = np.matmul(shares.swapaxes(2, 3), value)
        mixed *= unit[:, 2] / np.float32(PROBABILITY)
        out.reshape(count, queries, self._heads, -1)[...] = mixed.swapaxes(1, 2)

    def _normalise(self, x: Float32, norm: Norm) -> None:
        for rows in _row_blocks(len(x)):
            normalise(x[rows], norm, self._epsilon)

    def _pool(self, x: Float32, lengths: Sequence[int]) -> npt.NDArray[np.int64]:
        """As integers: the vector of the first token, which is all that x contains, or of all tokens the
        largest values or the sum."""
        fixed: npt.NDArray[np.int64] = np.rint(x * FIXED).astype(np.int64)
        if self._pooling == "cls":
            return fixed
        if self._pooling == "max":
            largest: npt.NDArray[np.int64] = np.maximum.reduceat(fixed, _starts(lengths), axis=0)
            return largest
        # The sum has the direction of the mean, and only the direction is kept.
        return _shortened(np.add.reduceat(fixed, _starts(lengths), axis=0))


def _integer_layer(layer: EncoderLayer, norm: Norm) -> IntegerLayer:
    """`norm` is the one before the layer."""
    return IntegerLayer(
        NormProduct(layer.qkv, norm),
        RowProduct(layer.out, OUT_LEVELS),
        layer.out_norm,
        NormProduct(layer.up, layer.out_norm, STEPS, GELU_RANGE * STEPS + 0.5),  # table indices
        RowProduct(layer.down, DOWN_LEVELS),
        layer.down_norm,
    )


def _shortened(sums: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Halve the rows that are too long for `unit_int16` as often as needed: their direction stays."""
    sizes = np.abs(sums)
    _, bits = np.frexp(sizes.max(axis=1).astype(np.float64))
    shorter: npt.NDArray[np.int64] = sizes >> np.maximum(bits - POOLED_BITS, 0)[:, np.newaxis]
    return np.sign(sums) * shorter


def checked_lengths(sequences: Sequence[Sequence[int]], longest: int) -> list[int]:
    """The number of tokens of each sequence, of which there is at least one."""
    lengths = [len(sequence) for sequence in sequences]
    if not 1 <= min(lengths) <= max(lengths) <= longest:
        given = f"sequences have {min(lengths)} to {max(lengths)} tokens"
        raise StoreError(f"{given}; the encoder accepts 1 to {longest}")
    return lengths


def unit_int16(integers: npt.NDArray[np.int64]) -> Int16:
    """Scale integer vectors to length 32767. The sum of squares is exact; the rest is single operations."""
    squares = (integers * integers).sum(axis=1)
    if int(np.abs(integers).max(initial=0)) >= 1 << POOLED_BITS:
        raise StoreError("a pooled activation left the range in which its length is exact")
    length = np.maximum(np.sqrt(squares.astype(np.float64)), 1.0)[:, np.newaxis]
    scaled: Int16 = np.rint(integers.astype(np.float64) / length * SCALE).astype(np.int16)
    return scaled


def _starts(lengths: Sequence[int]) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *lengths[:-1]], dtype=np.int64)


def _row_blocks(length: int) -> Iterator[slice]:
    return (slice(start, start + ROWS) for start in range(0, length, ROWS))


def _runs(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Neighbours of equal length as (length, count), as many as fit into the cache of a core."""
    for length, group in groupby(lengths):
        count, step = len(list(group)), max(1, ATTENTION_PAIRS // (length * length))
        yield from ((length, min(step, count - done)) for done in range(0, count, step))


def _largest(x: Float32) -> Float32:
    largest: Float32 = np.maximum(x.max(axis=1), -x.min(axis=1))
    return np.maximum(largest, SMALLEST)
