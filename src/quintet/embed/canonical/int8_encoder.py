"""A BERT forward pass in int8 that gives the same bits on every machine (spec 004, section 2).

Products are int8 with exact int32 sums, softmax and layer norm add integers, GELU and exp are tables, and
the rest is single IEEE operations in a fixed order. No BLAS is involved, and no thread is started.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from quintet.embed.canonical.attention import MAX_TOKENS, Attention
from quintet.embed.canonical.encoder import checked_lengths, unit_int16
from quintet.embed.canonical.int8_matrix import Int8Matrix, KernelMatrix
from quintet.embed.canonical.int8_products import Places, RangedAffine, RowAffine
from quintet.embed.canonical.layer_norm import FIXED, normalise
from quintet.embed.canonical.ranges import LayerRanges
from quintet.embed.canonical.tables import GELU_RANGE, STEPS, tables
from quintet.embed.canonical.weights import EncoderLayer, Float32, Norm, Weights
from quintet.errors import StoreError
from quintet.model.vector import Int16

ROWS = 128  # rows processed together: what fits into the cache of a core
GELU_STEPS = 128  # table entries for one unit of the argument
GELU_ENTRIES = 1 << 14
GELU_ZERO = GELU_RANGE * GELU_STEPS + 0.5  # the index of zero, and a half to round by truncation


@dataclass(frozen=True, slots=True)
class Int8Layer:
    qkv: RangedAffine
    attention: Attention
    out: RangedAffine
    out_norm: Norm
    up: RangedAffine
    down: RowAffine
    down_norm: Norm
    inner: int

    def project(self, x: Float32, special: Places, out: Float32) -> None:
        """Write queries, keys and values into `out`."""
        self.qkv(x, special, out)
        self.attention.round(out)


class Int8Encoder:
    """From token ids to canonical int16 vectors. The vector of a sequence does not depend on its batch."""

    def __init__(
        self, weights: Weights, ranges: Sequence[LayerRanges], matrix: type[Int8Matrix] = KernelMatrix
    ) -> None:
        if weights.pooling != "cls":
            raise StoreError(f"int8 inference needs the first token's vector, not the {weights.pooling}")
        self._words, self._positions, self._norm = weights.words, weights.positions, weights.norm
        self._epsilon = weights.epsilon
        self._width = weights.positions.shape[1]
        self._gelu = gelu_table()
        head = self._width // weights.heads
        self._layers = [
            _layer(matrix, layer, spans, head) for layer, spans in zip(weights.layers, ranges, strict=True)
        ]
        self.longest = min(len(weights.positions), MAX_TOKENS)

    def encode(self, sequences: Sequence[Sequence[int]]) -> Int16:
        if not sequences:
            return np.empty((0, self._width), np.int16)
        lengths = checked_lengths(sequences, self.longest)
        ends = np.cumsum(lengths)
        bounds = list(zip((ends - lengths).tolist(), ends.tolist(), strict=True))
        special = np.unique([ends - lengths, ends - 1])
        x = self._embed(sequences)
        projected = np.empty((len(x), 3 * self._width), np.float32)
        for rows, places in _blocks(len(x), special):
            normalise(x[rows], self._norm, self._epsilon)
            self._layers[0].project(x[rows], places, projected[rows])
        for layer, following in zip(self._layers, self._layers[1:], strict=False):
            mixed = np.concatenate([layer.attention(projected[a:b], b - a) for a, b in bounds])
            for rows, places in _blocks(len(x), special):
                self._feed(layer, x[rows], mixed[rows], places)
                following.project(x[rows], places, projected[rows])
        last = self._layers[-1]
        mixed = np.concatenate([last.attention(projected[a:b], 1) for a, b in bounds])
        x = x[ends - lengths]
        self._feed(last, x, mixed, np.arange(len(mixed)))
        return unit_int16(np.rint(x * FIXED).astype(np.int64))

    def _embed(self, sequences: Sequence[Sequence[int]]) -> Float32:
        ids = np.concatenate([np.asarray(sequence, np.int64) for sequence in sequences])
        places = np.concatenate([np.arange(len(sequence)) for sequence in sequences])
        x: Float32 = self._words.rows(ids) + self._positions[places]
        return x

    def _feed(self, layer: Int8Layer, x: Float32, mixed: Float32, special: Places) -> None:
        """What follows attention in a layer: replaces the rows x by those after it."""
        inner = np.empty_like(x)
        layer.out(mixed, special, inner)
        inner += x
        normalise(inner, layer.out_norm, self._epsilon)
        wide = np.empty((len(x), layer.inner), np.float32)
        layer.up(inner, special, wide)
        self._activate(wide, special)
        layer.down(wide, special, x)
        x += inner
        normalise(x, layer.down_norm, self._epsilon)

    def _activate(self, wide: Float32, special: Places) -> None:
        """GELU by table, in place. Beyond the table GELU is the argument, but only special rows reach so
        far."""
        large = wide[special]
        np.clip(wide, 0, GELU_ENTRIES - 1, out=wide)
        self._gelu.take(wide.astype(np.int16), mode="clip", out=wide)
        linear = (large - np.float32(GELU_ZERO)) / np.float32(GELU_STEPS)
        wide[special] = np.where(large < GELU_ENTRIES, wide[special], linear)


def gelu_table() -> Float32:
    """From -8 to 120 in steps of 1/128."""
    known = tables()[0][:: STEPS // GELU_STEPS]
    rest = np.arange(len(known), GELU_ENTRIES, dtype=np.float32) / np.float32(GELU_STEPS)
    return np.concatenate([known, rest - np.float32(GELU_RANGE)])


def _layer(matrix: type[Int8Matrix], layer: EncoderLayer, ranges: LayerRanges, head: int) -> Int8Layer:
    attention = Attention(ranges.heads, head)
    return Int8Layer(
        RangedAffine(matrix, layer.qkv, ranges.qkv, attention.times),
        attention,
        RangedAffine(matrix, layer.out, ranges.out),
        layer.out_norm,
        RangedAffine(matrix, layer.up, ranges.up, GELU_STEPS, GELU_ZERO),
        RowAffine(matrix, layer.down, ranges.down),
        layer.down_norm,
        layer.up.weight.shape[1],
    )


def _blocks(length: int, special: Places) -> Iterator[tuple[slice, Places]]:
    """Rows to process together, and which of them are special."""
    for start in range(0, length, ROWS):
        first, last = np.searchsorted(special, [start, start + ROWS])
        yield slice(start, start + ROWS), special[first:last] - start
