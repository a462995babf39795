"""The encoder once more, in float64 and as the papers write it: what the integers are measured against."""

from math import erf, sqrt

import numpy as np
import numpy.typing as npt

from quintet.embed.canonical.weights import Affine, Norm, Weights

Float64 = npt.NDArray[np.float64]
GRID = np.linspace(-8, 8, 160_001)
ERF = np.array([erf(x / sqrt(2)) for x in GRID])


def encode(weights: Weights, ids: list[int]) -> Float64:
    def norm(x: Float64, by: Norm) -> Float64:
        centred = x - x.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + weights.epsilon)
        return centred / spread * by.weight + by.bias

    def affine(x: Float64, by: Affine) -> Float64:
        return x @ by.weight.astype(np.float64) + by.bias

    words = weights.words.rows(np.array(ids, np.int64)).astype(np.float64)
    x = norm(words + weights.positions[: len(ids)], weights.norm)
    for layer in weights.layers:
        split = affine(x, layer.qkv).reshape(len(ids), 3, weights.heads, -1).transpose(1, 2, 0, 3)
        scores = split[0] @ split[1].transpose(0, 2, 1) / sqrt(split.shape[-1])
        shares = np.exp(scores - scores.max(axis=2, keepdims=True))
        mixed = shares / shares.sum(axis=2, keepdims=True) @ split[2]
        x = norm(x + affine(mixed.transpose(1, 0, 2).reshape(x.shape), layer.out), layer.out_norm)
        inner = affine(x, layer.up)
        inner = inner * (1 + np.interp(inner, GRID, ERF)) / 2
        x = norm(x + affine(inner, layer.down), layer.down_norm)
    pooled = x[0] if weights.pooling == "cls" else x.mean(axis=0)
    return np.asarray(pooled / np.sqrt(pooled @ pooled))
