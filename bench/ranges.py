"""Measure how large granite's activations become, and write the ranges that int8 inference uses.

    python bench/ranges.py

The texts are this project's own pages and source at a fixed commit. Magnitudes are rounded up to 1/256, so
that the file does not depend on the last digits of a machine's arithmetic.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy is imported

import subprocess
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from float_encoder import Float64, FloatEncoder
from quintet.embed.canonical import ranges
from quintet.embed.models import MODELS

PROJECT = Path(__file__).resolve().parent.parent
COMMIT = "26a786e"
SIZES = ((128, 160), (512, 40))  # tokens of a window, and how many windows


def windows(tokenizer: Tokenizer) -> list[list[int]]:
    """Windows of each size, evenly spread over all files."""
    listed = _git("ls-tree", "-r", "--name-only", COMMIT, "docs", "src/quintet").split()
    texts = [_git("show", f"{COMMIT}:{name}") for name in listed if name.endswith((".md", ".py"))]
    tokenizer.no_truncation()
    encoded = tokenizer.encode_batch(texts, add_special_tokens=False)
    tokens = [token for one in encoded for token in one.ids]
    first, last = tokenizer.encode("").ids
    found = []
    for size, count in SIZES:
        step = (len(tokens) - size) // count
        found += [[first, *tokens[n * step : n * step + size - 2], last] for n in range(count)]
    return found


class Ranges:
    """The largest magnitudes so far, by layer and name."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, str], Float64] = {}

    def watch(self, layer: int, name: str, x: Float64) -> None:
        """Every column of every row; but of inputs not the first and last row, which have two limbs."""
        largest = np.abs(x if name == "heads" else x[1:-1]).max(axis=0)
        self._seen[layer, name] = np.maximum(self._seen.get((layer, name), largest), largest)

    def numbers(self, layer: int, heads: int) -> npt.NDArray[np.uint16]:
        """In the order of `LayerRanges`."""
        spans = self._seen[layer, "heads"].reshape(3 * heads, -1).max(axis=1)
        values = [self._seen[layer, name] for name in ("qkv", "out", "up", "down")]
        return np.ceil(np.concatenate([*values, spans]) / ranges.UNIT).clip(1, 65535).astype("<u2")


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=PROJECT, capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout


def main() -> None:
    model = MODELS["granite"]
    place = model.location()
    if place is None:
        raise SystemExit(f"the weights of {model.title} are not installed")
    weights = model.read(place)
    seen = Ranges()
    encoder = FloatEncoder(weights, seen.watch)
    for ids in windows(Tokenizer.from_str(weights.tokenizer)):
        encoder.encode(ids)
    data = np.concatenate(
        [seen.numbers(layer, weights.heads) for layer in range(len(weights.layers))]
    ).tobytes()
    Path(ranges.__file__).with_name(ranges.GRANITE).write_bytes(data)
    print(f"{ranges.GRANITE}: {len(data)} bytes, SHA-256 {sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
