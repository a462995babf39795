"""The steps of a layer by the compiled module `_passes`: one pass over the rows where numpy needs many. On
processors with AVX-512 VNNI it also multiplies.

The module is part of the package if a C compiler was there when it was built. Its results are those of
`NumpySteps` to the last bit; a test compares them.
"""

from functools import cache
from importlib import import_module
from typing import Any

import numkong
import numpy as np

from quintet.embed.canonical.attention import exp_table
from quintet.embed.canonical.int8_layer import (
    GELU_STEPS,
    GELU_ZERO,
    Int8Layer,
    NumpySteps,
    Projected,
    Steps,
    gelu_table,
)
from quintet.embed.canonical.int8_matrix import Int8, Int8Matrix, Int32, KernelMatrix
from quintet.embed.canonical.int8_products import Int8Affine, Places, RangedAffine
from quintet.embed.canonical.layer_norm import BEYOND
from quintet.embed.canonical.weights import Float32, Norm
from quintet.errors import StoreError

HEAD, EIGHT, BLOCK = 32, 8, 64  # as in passes.h
AMX = "sapphireamx"  # numkong's kernel for processors that multiply matrices faster than by VNNI
VECTOR = 64  # bytes, on which packed weights are aligned


@cache
def compiled_passes() -> Any | None:
    """The module, or None if the package was built without a compiler."""
    try:
        return import_module("quintet.embed.canonical._passes")
    except ImportError:
        return None


def fastest_steps(width: int, head: int) -> type[Steps]:
    """The compiled steps where they are built and the model has the shape that they need."""
    fits = head == HEAD and width % EIGHT == 0
    return CompiledSteps if fits and compiled_passes() is not None else NumpySteps


def fastest_matrix() -> type[Int8Matrix]:
    """Our own products where they are built and the processor has their instructions, else numkong's."""
    passes = compiled_passes()
    own = passes is not None and passes.has_vnni() and not numkong.get_capabilities().get(AMX)
    return VnniMatrix if own else KernelMatrix


class VnniMatrix:
    """By AVX-512 VNNI. Its instruction multiplies unsigned by signed, so 128 is added to every activation and
    taken off again in `start`."""

    def __init__(self, weight: Int8) -> None:
        outputs, depth = weight.shape
        padded = np.zeros((outputs + -outputs % BLOCK, depth + -depth % 4), np.int8)
        padded[:outputs, :depth] = weight
        fours = padded.reshape(-1, BLOCK, padded.shape[1] // 4, 4).transpose(0, 2, 1, 3)
        self._packed = _aligned(padded.size)
        self._packed[...] = fours.reshape(-1)
        self._start: Int32 = padded.sum(axis=1, dtype=np.int32) * -128
        self._depth = padded.shape[1]

    def dots(self, rows: Int8) -> Int32:
        if rows.shape[1] < self._depth:
            rows = np.pad(rows, ((0, 0), (0, self._depth - rows.shape[1])))
        sums = np.empty((len(rows), len(self._start)), np.int32)
        passes: Any = compiled_passes()
        passes.dots(rows, self._packed, self._start, sums)
        return sums


def _aligned(count: int) -> Int8:
    space = np.empty(count + VECTOR, np.int8)
    return space[-space.ctypes.data % VECTOR :][:count]


class CompiledSteps:
    projected: type[np.number[Any]] = np.int16

    def __init__(self, epsilon: float) -> None:
        self._passes: Any = compiled_passes()
        self._epsilon, self._gelu = epsilon, gelu_table()
        self._exp = exp_table().astype(np.int32)

    def normalise(self, x: Float32, norm: Norm) -> None:
        try:
            self._passes.normalise(x, norm.weight, norm.bias, self._epsilon)
        except ArithmeticError as error:
            raise StoreError(BEYOND) from error

    def project(self, layer: Int8Layer, x: Float32, special: Places, out: Projected) -> None:
        attention = layer.attention
        product = self._product(layer.qkv, x, special)
        self._passes.project(*product, attention.score_levels, attention.value_levels, out)

    def attend(self, layer: Int8Layer, projected: Projected, queries: int) -> Float32:
        attention = layer.attention
        mixed = np.empty((queries, projected.shape[1] // 3), np.float32)
        self._passes.attend(projected, attention.sharpness, attention.value_unit, self._exp, mixed)
        return mixed

    def feed(self, layer: Int8Layer, x: Float32, mixed: Float32, special: Places) -> None:
        inner = np.empty_like(x)
        self._add(self._product(layer.out, mixed, special), x, layer.out_norm, inner)
        product = self._product(layer.up, inner, special)
        rows, factors = _space(layer.down, len(x), special)
        self._passes.activate(*product, self._gelu, GELU_ZERO, GELU_STEPS, layer.down.shrink, rows, factors)
        down = layer.down
        sums = (down.matrix.dots(rows), special, factors, down.scale, down.bias)
        self._add(sums, inner, layer.down_norm, x)

    def _product(self, affine: RangedAffine, x: Float32, special: Places) -> "Product":
        rows, factors = _space(affine, len(x), special)
        self._passes.quantise(x, special, affine.levels, affine.shrink, affine.unit, rows, factors)
        return affine.matrix.dots(rows), special, factors, affine.scale, affine.bias

    def _add(self, product: "Product", residual: Float32, norm: Norm, out: Float32) -> None:
        try:
            self._passes.add(*product, residual, norm.weight, norm.bias, self._epsilon, out)
        except ArithmeticError as error:
            raise StoreError(BEYOND) from error


Product = tuple[Int32, Places, Float32, Float32, Float32]  # sums, special, factors, scale, bias


def _space(affine: Int8Affine, count: int, special: Places) -> Any:
    return affine.rows_for(count + len(special)), np.empty(count, np.float32)
