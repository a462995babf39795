"""The forward pass in float64 as the papers write it: what integers are measured against, and by."""

from collections.abc import Callable, Sequence
from math import erf, sqrt

import numpy as np
import numpy.typing as npt

from quintet.embed.canonical.weights import Affine, EncoderLayer, Norm, Weights

Float64 = npt.NDArray[np.float64]
Watch = Callable[[int, str, Float64], None]
GRID = np.linspace(-8, 8, 160_001)
ERF = np.array([erf(x / sqrt(2)) for x in GRID])


def ignore(layer: int, name: str, x: Float64) -> None:
    """Watch nothing."""


class FloatEncoder:
    """`watch` sees the inputs of each affine map, and `heads`: queries, keys and values."""

    def __init__(self, weights: Weights, watch: Watch = ignore) -> None:
        self._weights, self._watch = weights, watch
        self._layers = [
            EncoderLayer(
                _wide(layer.qkv),
                _wide(layer.out),
                layer.out_norm,
                _wide(layer.up),
                _wide(layer.down),
                layer.down_norm,
            )
            for layer in weights.layers
        ]

    def encode(self, ids: Sequence[int]) -> Float64:
        """The first token's vector, at unit length."""
        words = self._weights.words.rows(np.array(ids, np.int64)).astype(np.float64)
        x = self._normalise(words + self._weights.positions[: len(ids)], self._weights.norm)
        for number, layer in enumerate(self._layers):
            x = self._through(number, layer, x)
        return np.asarray(x[0] / np.sqrt(x[0] @ x[0]))

    def _through(self, number: int, layer: EncoderLayer, x: Float64) -> Float64:
        self._watch(number, "qkv", x)
        projected = _affine(x, layer.qkv)
        self._watch(number, "heads", projected)
        query, key, value = projected.reshape(len(x), 3, self._weights.heads, -1).transpose(1, 2, 0, 3)
        scores = query @ key.swapaxes(1, 2) / sqrt(query.shape[-1])
        shares = np.exp(scores - scores.max(axis=2, keepdims=True))
        mixed = (shares / shares.sum(axis=2, keepdims=True) @ value).swapaxes(0, 1).reshape(x.shape)
        self._watch(number, "out", mixed)
        x = self._normalise(x + _affine(mixed, layer.out), layer.out_norm)
        self._watch(number, "up", x)
        inner = _affine(x, layer.up)
        inner = inner * (1 + np.interp(inner, GRID, ERF)) / 2
        self._watch(number, "down", inner)
        return self._normalise(x + _affine(inner, layer.down), layer.down_norm)

    def _normalise(self, x: Float64, norm: Norm) -> Float64:
        centred = x - x.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + self._weights.epsilon)
        return centred / spread * norm.weight + norm.bias


def _wide(affine: Affine) -> Affine:
    return Affine(affine.weight.astype(np.float64), affine.bias.astype(np.float64))  # type: ignore[arg-type]


def _affine(x: Float64, affine: Affine) -> Float64:
    return np.asarray(x @ affine.weight + affine.bias)
