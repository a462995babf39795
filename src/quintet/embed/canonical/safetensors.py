"""Read safetensors files. They may come from anybody, so every number in them is checked."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from quintet.embed.canonical.weights import Float32, map_file
from quintet.errors import StoreError, UsageError

LARGEST_HEADER = 100_000_000  # bytes; the limit of the format's own library
TYPES: Mapping[str, "np.dtype[Any]"] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
}
CHECKED_ROWS = 4096  # rows converted at once to look for values that are no numbers

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor in a mapped file. Its rows become float32 only when they are read."""

    name: str
    values: npt.NDArray[Any]  # bfloat16, which numpy does not have, is uint16: the upper half of float32

    def rows(self, which: npt.NDArray[np.int64] | slice = slice(None)) -> Float32:
        values = self.values[which]
        if values.dtype == np.uint16:
            return (values.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return values.astype(np.float32, copy=False)

    def __len__(self) -> int:
        return len(self.values)

    def checked(self) -> "StoredTensor":
        """The same tensor, if all of its values are finite."""
        for start in range(0, len(self.values), CHECKED_ROWS):
            if not np.isfinite(self.rows(slice(start, start + CHECKED_ROWS))).all():
                raise StoreError(f"the tensor {self.name} has values that are not finite numbers")
        return self


class TensorFiles:
    """The tensors of one file, or of several files that share a model."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._data = [_mapped(file) for file in files]
        self._entries: dict[str, _Place] = {}
        for file, data in zip(files, self._data, strict=True):
            header, start = _header(file, data)
            self._entries |= {
                name: _Place(file, data[start:], fields)
                for name, fields in header.items()
                if name != "__metadata__"
            }

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    @property
    def megabytes(self) -> int:
        return round(sum(len(data) for data in self._data) / 1_000_000)

    def digest(self) -> bytes:
        return sha256(b"".join(sha256(data).digest() for data in self._data)).digest()

    def shape(self, name: str) -> Shape:
        return self._entries[name].shape(name)

    def tensor(self, name: str) -> StoredTensor:
        return self._entries[name].tensor(name)


@dataclass(frozen=True, slots=True)
class _Place:
    """What the header of a file says of a tensor, not checked yet."""

    file: Path
    data: memoryview
    fields: Any

    def shape(self, name: str) -> Shape:
        shape = self.fields.get("shape") if isinstance(self.fields, dict) else None
        if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
            raise self._damaged(name)
        return tuple(shape)

    def tensor(self, name: str) -> StoredTensor:
        shape = self.shape(name)
        kind = TYPES.get(str(self.fields.get("dtype")))
        if kind is None:
            given = str(self.fields.get("dtype"))[:20]
            raise UsageError(f"the tensor {name} in {self.file} is {given}; it must be F32, F16 or BF16")
        offsets = self.fields.get("data_offsets")
        if not isinstance(offsets, list) or [type(offset) for offset in offsets] != [int, int]:
            raise self._damaged(name)
        begin, end = offsets
        if not 0 <= begin <= end <= len(self.data) or end - begin != prod(shape) * kind.itemsize:
            raise self._damaged(name)
        return StoredTensor(
            f"{name} in {self.file}", np.frombuffer(self.data[begin:end], kind).reshape(shape)
        )

    def _damaged(self, name: str) -> UsageError:
        return UsageError(
            f"{self.file} is damaged or cut short: the tensor {name} does not fit into it; copy it again"
        )


def _mapped(file: Path) -> memoryview:
    try:
        return map_file(file)
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error


def _header(file: Path, data: memoryview) -> tuple[Mapping[str, Any], int]:
    """The header, and where the tensors begin."""
    start = 8 + int.from_bytes(data[:8], "little")
    if start > min(len(data), LARGEST_HEADER):
        raise UsageError(f"{file} is damaged or cut short: its header does not fit into it; copy it again")
    try:
        header = json.loads(bytes(data[8:start]))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no safetensors file: its header is not JSON") from error
    if not isinstance(header, dict):
        raise UsageError(f"{file} is no safetensors file: its header is no JSON object")
    return header, start
