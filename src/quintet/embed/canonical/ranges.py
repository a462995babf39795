"""How large activations become: measured once, by `bench/ranges.py`, and part of the package."""

from dataclasses import dataclass
from hashlib import sha256
from importlib import resources

import numpy as np

from quintet.embed.canonical.weights import Float32
from quintet.errors import StoreError

HEADROOM = np.float32(1.1)  # over the ranges, which are not those of every text; what lies beyond is clipped
UNIT = 1 / 256  # of the recorded integers
GRANITE = "granite-ranges.bin"
GRANITE_HASH = "ce17377b46c7390e4a31efb87f276f4b54366f9b66486517f29dc39906fe08e6"


@dataclass(frozen=True, slots=True)
class HeadRanges:
    """The largest magnitude in each head of queries, keys and values."""

    q: Float32
    k: Float32
    v: Float32


@dataclass(frozen=True, slots=True)
class LayerRanges:
    """The largest magnitude of each input of four affine maps, without the first and last token."""

    qkv: Float32
    out: Float32
    up: Float32
    down: Float32
    heads: HeadRanges


def granite_ranges() -> list[LayerRanges]:
    return read_ranges(GRANITE, GRANITE_HASH, width=384, inner=1536, heads=12)


def read_ranges(name: str, expected: str, width: int, inner: int, heads: int) -> list[LayerRanges]:
    """Read a file of this package: for each layer the numbers of `LayerRanges`, in its order."""
    data = resources.files("quintet.embed.canonical").joinpath(name).read_bytes()
    digest = sha256(data).hexdigest()
    if digest != expected:
        raise StoreError(f"{name} was changed: expected {expected}, got {digest}; install Quintet again")
    values = np.frombuffer(data, "<u2").astype(np.float32) * np.float32(UNIT)
    layers = []
    ends = np.cumsum([width, width, width, inner])
    for row in values.reshape(-1, ends[-1] + 3 * heads):
        qkv, out, up, down, spans = np.split(row, ends)
        layers.append(LayerRanges(qkv, out, up, down, HeadRanges(*np.split(spans, 3))))
    return layers
