"""Vectors of the fixed texts, hashed. As a program it prints the hashes, so a test can set its surroundings.

python tests/embed/vectors.py granite single batched              hashes as JSON
python tests/embed/vectors.py granite batched without:icelake     the same without some of numkong's kernels
python tests/embed/vectors.py granite batched numpy               the same without the compiled module
python tests/embed/vectors.py --record                            writes golden.json
"""

import json
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numkong
import numpy as np

from quintet.embed.canonical import compiled
from quintet.embed.local import LocalEmbedder
from quintet.embed.models import MODELS, OLDER, local_embedder

sys.path.insert(0, str(Path(__file__).parent))

from texts import TEXTS

GOLDEN = Path(__file__).with_name("golden.json")


def digest(vectors: object) -> str:
    return sha256(np.ascontiguousarray(vectors, "<i2").tobytes()).hexdigest()


def singly(embedder: LocalEmbedder) -> str:
    return digest([embedder.embed_query(text) for text in TEXTS])


def together(embedder: LocalEmbedder) -> str:
    return digest(embedder.embed_here(TEXTS))


def ordinary_float32() -> str:
    """What plain matrix products in float32 give, by BLAS and by numkong: it differs with how a kernel cuts
    up its long sums."""
    chance = np.random.default_rng(7)
    one, other = chance.random((65, 4_097), np.float32), chance.random((4_097, 33), np.float32)
    kernels = np.asarray(numkong.cdist(one[:8], one[8:16], "dot"))
    return sha256((one @ other).tobytes() + kernels.tobytes()).hexdigest()


def hashes(name: str, how: Sequence[str]) -> dict[str, str]:
    for kernels in [word.removeprefix("without:") for word in how if word.startswith("without:")]:
        numkong.disable_capability(kernels)
    if "numpy" in how:
        compiled.compiled_passes = lambda: None
    embedder = local_embedder(name, processes=1)
    ways = {"single": singly, "batched": together}
    return {**{way: ways[way](embedder) for way in how if way in ways}, "float32": ordinary_float32()}


def record() -> None:
    """The hashes of models that are not installed here stay as they are."""
    known = json.loads(GOLDEN.read_text("utf-8"))
    models = (MODELS | OLDER).items()
    known |= {name: singly(local_embedder(name, 1)) for name, model in models if model.location()}
    GOLDEN.write_text(json.dumps(known, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "--record":
        record()
    else:
        print(json.dumps(hashes(sys.argv[1], sys.argv[2:])))
