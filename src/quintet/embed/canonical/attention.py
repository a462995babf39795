"""Attention over queries, keys and values that are integers held in float32, with exact sums."""

from math import isqrt

import numpy as np

from quintet.embed.canonical.products import EXACT
from quintet.embed.canonical.ranges import HEADROOM, HeadRanges
from quintet.embed.canonical.tables import EXP_UNIT, STEPS, tables
from quintet.embed.canonical.weights import Float32

EXP_STEPS = 64  # table entries for one unit of the exponent
PROBABILITY = 8192  # units of an attention weight
MAX_TOKENS = EXACT // EXP_UNIT + 1  # with more tokens a softmax sum could leave the exact range
# OpenBLAS starts threads only for products of more multiplications than this; they would spin beside other
# programs and gain little.
ONE_THREAD = 1 << 18
PAIRS = 1 << 16  # pairs of tokens processed at once: what fits into the cache of a core


def exp_table() -> Float32:
    """exp(-x) over [0, 16), at the middle of each step."""
    every = STEPS // EXP_STEPS
    return tables()[1][every // 2 :: every].copy()


class Attention:
    """The heads of one layer. `times` turns the output of the affine map before it into integers."""

    def __init__(self, ranges: HeadRanges, head: int) -> None:
        self._head, self._table = head, exp_table()
        self.score_levels = isqrt(EXACT // head)
        self.value_levels = EXACT // (PROBABILITY + MAX_TOKENS)
        query, key = (span * HEADROOM / np.float32(self.score_levels) for span in (ranges.q, ranges.k))
        value = ranges.v * HEADROOM / np.float32(self.value_levels)
        self.times: Float32 = np.repeat(np.float32(1) / np.concatenate([query, key, value]), head)
        step = np.float32(EXP_STEPS) / np.sqrt(np.float32(head))
        self.sharpness = (query * key * step)[:, np.newaxis, np.newaxis]
        self.value_unit = (value / np.float32(PROBABILITY))[:, np.newaxis, np.newaxis]

    def round(self, projected: Float32) -> None:
        """Queries, keys and values as integers within their bounds, in place."""
        np.rint(projected, out=projected)
        scores = projected.shape[1] // 3 * 2
        np.clip(projected[:, :scores], -self.score_levels, self.score_levels, out=projected[:, :scores])
        np.clip(projected[:, scores:], -self.value_levels, self.value_levels, out=projected[:, scores:])

    def __call__(self, projected: Float32, queries: int) -> Float32:
        """What the first `queries` tokens of one sequence gather from all."""
        length = len(projected)
        query, key, value = projected.reshape(length, 3, -1, self._head).transpose(1, 2, 0, 3)
        key = np.ascontiguousarray(key.swapaxes(1, 2))
        mixed = np.empty((queries, len(query), self._head), np.float32)
        rows = min(queries, max(1, ONE_THREAD // (length * self._head)))
        step = max(1, PAIRS // (rows * length))
        for first in range(0, len(query), step):
            heads = slice(first, first + step)
            for start in range(0, queries, rows):
                some = slice(start, min(start + rows, queries))
                shares = self._shares(np.matmul(query[heads, some], key[heads]), heads)
                gathered = np.matmul(shares, value[heads])
                np.multiply(gathered, self.value_unit[heads], out=mixed[some, heads].swapaxes(0, 1))
        return mixed.reshape(queries, -1)

    def _shares(self, scores: Float32, heads: slice) -> Float32:
        """Softmax in integers. `scores` is overwritten."""
        np.subtract(scores.max(axis=2, keepdims=True), scores, out=scores)
        scores *= self.sharpness[heads]
        np.clip(scores, 0, len(self._table) - 1, out=scores)
        shares = self._table.take(scores.astype(np.int16), mode="clip", out=scores)
        # A product with ones adds up exact integers, faster than `sum` does.
        shares *= np.float32(PROBABILITY) / np.matmul(shares, np.ones((shares.shape[2], 1), np.float32))
        return np.rint(shares, out=shares)
