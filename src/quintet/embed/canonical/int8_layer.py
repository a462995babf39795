"""A layer of the int8 forward pass, and its steps by numpy: the reference for the compiled ones."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from quintet.embed.canonical.attention import Attention
from quintet.embed.canonical.int8_matrix import Int8Matrix
from quintet.embed.canonical.int8_products import Places, RangedAffine, RowAffine
from quintet.embed.canonical.layer_norm import normalise
from quintet.embed.canonical.ranges import LayerRanges
from quintet.embed.canonical.tables import GELU_RANGE, STEPS, tables
from quintet.embed.canonical.weights import EncoderLayer, Float32, Norm

Projected: TypeAlias = npt.NDArray[Any]  # queries, keys and values: integers stored as `Steps.projected`
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


def int8_layer(matrix: type[Int8Matrix], layer: EncoderLayer, ranges: LayerRanges, head: int) -> Int8Layer:
    attention = Attention(ranges.heads, head)
    return Int8Layer(
        RangedAffine(matrix, layer.qkv, ranges.qkv, attention.times),
        attention,
        RangedAffine(matrix, layer.out, ranges.out),
        layer.out_norm,
        RangedAffine(matrix, layer.up, ranges.up, GELU_STEPS, GELU_ZERO),
        RowAffine(matrix, layer.down, ranges.down),
        layer.down_norm,
    )


def gelu_table() -> Float32:
    """From -8 to 120 in steps of 1/128."""
    known = tables()[0][:: STEPS // GELU_STEPS]
    rest = np.arange(len(known), GELU_ENTRIES, dtype=np.float32) / np.float32(GELU_STEPS)
    return np.concatenate([known, rest - np.float32(GELU_RANGE)])


class Steps(Protocol):
    """How rows go through a layer. `special` are the rows with two limbs."""

    projected: type[np.number[Any]]  # what queries, keys and values are stored as

    def __init__(self, epsilon: float) -> None: ...

    def normalise(self, x: Float32, norm: Norm) -> None:
        """Replace x by its layer norm."""
        ...

    def project(self, layer: Int8Layer, x: Float32, special: Places, out: Projected) -> None:
        """Write the queries, keys and values of the rows x into `out`."""
        ...

    def attend(self, layer: Int8Layer, projected: Projected, queries: int) -> Float32:
        """What the first `queries` tokens of one sequence gather from all."""
        ...

    def feed(self, layer: Int8Layer, x: Float32, mixed: Float32, special: Places) -> None:
        """What follows attention: replaces the rows x by those after the layer."""
        ...


class NumpySteps:
    """By numpy, in many passes over the rows. The reference."""

    projected: type[np.number[Any]] = np.float32

    def __init__(self, epsilon: float) -> None:
        self._epsilon, self._gelu = epsilon, gelu_table()

    def normalise(self, x: Float32, norm: Norm) -> None:
        normalise(x, norm, self._epsilon)

    def project(self, layer: Int8Layer, x: Float32, special: Places, out: Projected) -> None:
        layer.qkv(x, special, out)
        layer.attention.round(out)

    def attend(self, layer: Int8Layer, projected: Projected, queries: int) -> Float32:
        return layer.attention(projected, queries)

    def feed(self, layer: Int8Layer, x: Float32, mixed: Float32, special: Places) -> None:
        inner = np.empty_like(x)
        layer.out(mixed, special, inner)
        inner += x
        normalise(inner, layer.out_norm, self._epsilon)
        wide = np.empty((len(x), len(layer.up.bias)), np.float32)
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
