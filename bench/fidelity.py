"""How near granite's int8 vectors come to float64, on texts of 128 and of 512 tokens.

    python bench/fidelity.py

The texts are windows of the standard library's source, which no number was chosen on. It prints the mean and
the smallest cosine, and for how many texts the nearest of the others is the same.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy is imported

import json
import sysconfig
from pathlib import Path

import numpy as np
import numpy.typing as npt

from float_encoder import Float64, FloatEncoder
from quintet.embed.local import LocalEmbedder
from quintet.embed.models import MODELS, local_embedder

SIZES = ((128, 240), (512, 160))  # tokens of a text, and how many texts
COSINE, SAME_NEAREST = 0.998, 0.95  # required


def windows(embedder: LocalEmbedder, size: int, count: int) -> list[list[int]]:
    """The first windows of the modules, round by round, until there are enough."""
    modules = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    texts = [file.read_text("utf-8", errors="replace")[: 8 * size * 4] for file in modules]
    tokenizer = embedder._model[1].tokenizer
    first, last = tokenizer.encode("").ids
    found: list[list[int]] = []
    for turn in range(4):
        for encoded in tokenizer.encode_batch(texts, add_special_tokens=False):
            part = encoded.ids[turn * (size - 2) : (turn + 1) * (size - 2)]
            if len(part) == size - 2:
                found.append([first, *part, last])
    return found[:count]


def nearest(vectors: Float64) -> npt.NDArray[np.intp]:
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -2)
    return np.asarray(likeness.argmax(axis=1))


def compare(embedder: LocalEmbedder, exact: FloatEncoder, sequences: list[list[int]]) -> dict[str, float]:
    expected = np.array([exact.encode(sequence) for sequence in sequences])
    encoder = embedder._model[0]
    found = np.concatenate([encoder.encode([sequence]) for sequence in sequences]).astype(np.float64)
    found /= np.sqrt((found * found).sum(axis=1, keepdims=True))
    cosines = (expected * found).sum(axis=1)
    return {
        "texts": len(sequences),
        "mean_cosine": round(float(cosines.mean()), 5),
        "smallest_cosine": round(float(cosines.min()), 5),
        "same_nearest": round(float((nearest(expected) == nearest(found)).mean()), 4),
    }


def main() -> None:
    model = MODELS["granite"]
    place = model.location()
    if place is None:
        raise SystemExit(f"the weights of {model.title} are not installed")
    embedder, exact = local_embedder("granite", processes=1), FloatEncoder(model.read(place))
    results = {
        f"{size} tokens": compare(embedder, exact, windows(embedder, size, count)) for size, count in SIZES
    }
    print(json.dumps({"identity": model.identity, **results}, indent=2))
    if any(one["mean_cosine"] < COSINE or one["same_nearest"] < SAME_NEAREST for one in results.values()):
        raise SystemExit(f"less than a mean cosine of {COSINE} or {SAME_NEAREST} of the nearest texts")


if __name__ == "__main__":
    main()
