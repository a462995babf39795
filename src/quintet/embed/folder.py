"""Embed with a model from a folder that the user names: BERT, RoBERTa or XLM-R, in exact integers."""

import json
import os
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR

from quintet.embed.canonical.encoder import MAX_TOKENS, CanonicalEncoder
from quintet.embed.canonical.safetensors import TensorFiles
from quintet.embed.canonical.shapes import EncoderShape, check_tensors, encoder_shape, read_weights
from quintet.embed.canonical.weights import Pooling, Weights, map_file
from quintet.embed.folder_settings import read_format, read_modules, read_object
from quintet.embed.known_folders import KnownFolder, folder_identity
from quintet.embed.local import LocalEmbedder
from quintet.embed.tokens import TextFormat
from quintet.errors import Conflict, UsageError

WEIGHTS, SHARDS = "model.safetensors", "model.safetensors.index.json"
PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json")
MOST_SHARDS = 100
LARGEST_TOKENIZER = 200_000_000  # bytes


@dataclass(frozen=True)
class FolderModel:
    """A model whose settings and sizes were checked. The values of its weights are read on first use."""

    folder: Path
    shape: EncoderShape
    pooling: Pooling
    form: TextFormat
    tensors: TensorFiles
    tokenizer: memoryview

    @cached_property
    def identity(self) -> str:
        """Names everything that vectors depend on, wherever the folder is: the weights, the tokenizer, and
        the settings that count. The other content of the settings files may change."""
        settings = {"shape": asdict(self.shape), "pooling": self.pooling, "form": asdict(self.form)}
        digests = self.tensors.digest() + sha256(self.tokenizer).digest()
        return folder_identity(sha256(json.dumps(settings, sort_keys=True).encode() + digests).hexdigest())

    @property
    def known(self) -> KnownFolder:
        """What the list of models shows."""
        title = f"{self.shape.kind}, {self.shape.layers} layers"
        return KnownFolder(
            self.identity,
            str(self.folder),
            title,
            self.tensors.megabytes,
            self.shape.width,
            self.form.window,
        )

    def weights(self, expected: str) -> Weights:
        if self.identity != expected:
            raise Conflict(
                f"the model in {self.folder} was changed: its identity is {self.identity}, not {expected}; "
                f"restore its files, or replace all vectors: 'quintet index --reembed --embedder PATH'"
            )
        try:
            description = bytes(self.tokenizer).decode()
        except ValueError as error:
            raise UsageError(f"tokenizer.json in {self.folder} is not UTF-8: {error}") from error
        return read_weights(self.tensors, self.shape, self.pooling, description)

    def embedder(self, identity: str, processes: int | None = None) -> LocalEmbedder:
        """With `identity`, which the model must turn out to have when it is loaded."""
        return LocalEmbedder(
            str(self.folder),
            identity,
            lambda: self.weights(identity),
            CanonicalEncoder,
            self.form,
            processes,
            dimensions=self.shape.width,
            english_only=False,
        )


def open_folder(path: str | os.PathLike[str]) -> FolderModel:
    """Check a model folder. Raises `UsageError` with what is wrong with it."""
    folder = _existing(path)
    modules = read_modules(folder)
    config = modules.encoder / "config.json"
    try:
        shape = encoder_shape(read_object(config))
        tensors = TensorFiles(_weight_files(modules.encoder))
        check_tensors(tensors, shape)
    except UsageError as error:
        if str(folder) in error.message:
            raise
        raise UsageError(f"the model in {folder} cannot be used: {error.message}") from error
    form = read_format(folder, modules.encoder, min(shape.longest, MAX_TOKENS))
    return FolderModel(folder, shape, modules.pooling, form, tensors, _tokenizer(modules.encoder))


def _existing(path: str | os.PathLike[str]) -> Path:
    try:
        folder = Path(path).expanduser().absolute()
        if S_ISDIR(folder.stat().st_mode):
            return folder
        reason = "it is a file"
    except FileNotFoundError:
        reason = "there is no such folder, and Quintet does not download it"
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    raise UsageError(
        f"the model folder {os.fspath(path)[:500]!r} cannot be read: {reason}; "
        "name a folder that sentence-transformers has written"
    )


def _weight_files(folder: Path) -> list[Path]:
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if (folder / SHARDS).is_file():
        return _shards(folder)
    pickle = next((name for name in PICKLES if (folder / name).exists()), None)
    if pickle is not None:
        raise UsageError(
            f"the model folder {folder} has {pickle} but no {WEIGHTS}; a pickle can run programs, "
            "so save the model again as safetensors"
        )
    raise UsageError(f"the model folder {folder} has no {WEIGHTS}; copy all files of the model")


def _shards(folder: Path) -> list[Path]:
    places = read_object(folder / SHARDS).get("weight_map")
    names = {str(name) for name in places.values()} if isinstance(places, dict) else set()
    if not 1 <= len(names) <= MOST_SHARDS or any(set(name) & set("/\\:\0") for name in names):
        allowed = f"weight_map must name 1 to {MOST_SHARDS} files of the same folder"
        raise UsageError(f"{folder / SHARDS} cannot be used: {allowed}")
    for name in sorted(names):
        if not (folder / name).is_file():
            raise UsageError(f"the model folder {folder} has no {name}, which {SHARDS} names")
    return [folder / name for name in sorted(names)]


def _tokenizer(folder: Path) -> memoryview:
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise UsageError(
            f"the model folder {folder} has no tokenizer.json; save its tokenizer again as a fast tokenizer"
        )
    try:
        data = map_file(file)
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    if len(data) > LARGEST_TOKENIZER:
        raise UsageError(f"{file} has {len(data)} bytes; at most {LARGEST_TOKENIZER} are allowed")
    return data
