"""A BERT forward pass in int8 that gives the same bits on every machine (spec 004, section 2).

Products are int8 with exact int32 sums, softmax and layer norm add integers, GELU and exp are tables, and
the rest is single IEEE operations in a fixed order. No thread is started.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from quintet.embed.canonical.attention import MAX_TOKENS
from quintet.embed.canonical.compiled import fastest_matrix, fastest_steps
from quintet.embed.canonical.encoder import checked_lengths, unit_int16
from quintet.embed.canonical.int8_layer import Steps, int8_layer
from quintet.embed.canonical.int8_matrix import Int8Matrix
from quintet.embed.canonical.int8_products import Places
from quintet.embed.canonical.layer_norm import FIXED
from quintet.embed.canonical.ranges import LayerRanges
from quintet.embed.canonical.weights import Float32, Weights
from quintet.errors import StoreError
from quintet.model.vector import Int16

ROWS = 128  # rows processed together: what fits into the cache of a core


class Int8Encoder:
    """From token ids to canonical int16 vectors. The vector of a sequence does not depend on its batch."""

    def __init__(
        self,
        weights: Weights,
        ranges: Sequence[LayerRanges],
        matrix: type[Int8Matrix] | None = None,
        steps: type[Steps] | None = None,
    ) -> None:
        """By default products and steps are the fastest that there are here; the bits are the same."""
        if weights.pooling != "cls":
            raise StoreError(f"int8 inference needs the first token's vector, not the {weights.pooling}")
        self._words, self._positions, self._norm = weights.words, weights.positions, weights.norm
        self._width = weights.positions.shape[1]
        head = self._width // weights.heads
        self._steps = (steps or fastest_steps(self._width, head))(weights.epsilon)
        kind = matrix or fastest_matrix()
        pairs = zip(weights.layers, ranges, strict=True)
        self._layers = [int8_layer(kind, layer, spans, head) for layer, spans in pairs]
        self.longest = min(len(weights.positions), MAX_TOKENS)

    def encode(self, sequences: Sequence[Sequence[int]]) -> Int16:
        if not sequences:
            return np.empty((0, self._width), np.int16)
        lengths = checked_lengths(sequences, self.longest)
        steps = self._steps
        ends = np.cumsum(lengths)
        bounds = list(zip((ends - lengths).tolist(), ends.tolist(), strict=True))
        special = np.unique([ends - lengths, ends - 1])
        x = self._embed(sequences)
        projected = np.empty((len(x), 3 * self._width), steps.projected)
        for rows, places in _blocks(len(x), special):
            steps.normalise(x[rows], self._norm)
            steps.project(self._layers[0], x[rows], places, projected[rows])
        for layer, following in zip(self._layers, self._layers[1:], strict=False):
            mixed = np.concatenate([steps.attend(layer, projected[a:b], b - a) for a, b in bounds])
            for rows, places in _blocks(len(x), special):
                steps.feed(layer, x[rows], mixed[rows], places)
                steps.project(following, x[rows], places, projected[rows])
        last = self._layers[-1]
        mixed = np.concatenate([steps.attend(last, projected[a:b], 1) for a, b in bounds])
        x = x[ends - lengths]
        steps.feed(last, x, mixed, np.arange(len(mixed)))
        return unit_int16(np.rint(x * FIXED).astype(np.int64))

    def _embed(self, sequences: Sequence[Sequence[int]]) -> Float32:
        ids = np.concatenate([np.asarray(sequence, np.int64) for sequence in sequences])
        places = np.concatenate([np.arange(len(sequence)) for sequence in sequences])
        x: Float32 = self._words.rows(ids) + self._positions[places]
        return x


def _blocks(length: int, special: Places) -> Iterator[tuple[slice, Places]]:
    """Rows to process together, and which of them are special."""
    for start in range(0, length, ROWS):
        first, last = np.searchsorted(special, [start, start + ROWS])
        yield slice(start, start + ROWS), special[first:last] - start
