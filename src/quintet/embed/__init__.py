"""Load embedders by name or folder. Models and servers are imported when first needed."""

import os
from typing import Any, Final

from quintet.embed.checked import CheckedEmbedder
from quintet.errors import UsageError
from quintet.ports.reading import Embedder
from quintet.ports.writing import Choices

STORED: Final[Any] = object()  # instead of an embedder: the one that the index was built with
LOCAL = ("granite", "minilm")
NAMES = (*LOCAL, "remote", "hashing", "none")
DEFAULT = "granite"
OLDER = {
    "granite-30m-english:6a1cc24734a5:1": "granite-1"
}  # identities of indexes made before, and their names
IDENTITY_PREFIXES = {"granite-30m-english:": "granite", "all-minilm-l6-v2:": "minilm", "remote:": "remote"}
FOLDER_PREFIX = "folder:"


def load_embedder(name: str | os.PathLike[str]) -> Embedder | None:
    """The embedder of this name, or of the model in this folder; None for `none`, which means text only.

    Weights are read on first use. Those of a folder are hashed at once, because they are its identity.
    """
    if name == "none":
        return None
    if not isinstance(name, str) or _is_path(name):
        return CheckedEmbedder(_load_folder(name))
    return CheckedEmbedder(_load(name))


def _is_path(name: str) -> bool:
    """A folder is written with a slash, so that no folder can be taken for a name, now or later."""
    return "/" in name or os.sep in name or name in (".", "..", "~")


def _load_folder(path: str | os.PathLike[str]) -> Embedder:
    from quintet.embed.folder import open_folder
    from quintet.embed.known_folders import remember

    model = open_folder(path)
    remember(model.known)
    return model.embedder(model.identity)


def _load_known_folder(identity: str) -> Embedder | None:
    """The model of an index, from the folder that the user named for it before."""
    from quintet.embed.folder import open_folder
    from quintet.embed.known_folders import find_present, is_folder_identity

    if not is_folder_identity(identity):
        return None
    return CheckedEmbedder(open_folder(find_present(identity).path).embedder(identity))


def _load(name: str) -> Embedder:
    if name in LOCAL or name in OLDER.values():
        from quintet.embed.models import local_embedder

        return local_embedder(name)
    if name == "remote":
        from quintet.embed.remote import RemoteEmbedder

        return RemoteEmbedder.from_environment()
    if name == "hashing":
        from quintet.embed.hashing import HashingEmbedder

        return HashingEmbedder()
    allowed = f"choose one of: {', '.join(NAMES)}, or a model's folder, written with a slash as in './model'"
    raise UsageError(f"there is no embedder {name!r}; {allowed}")


def name_of(identity: str) -> str | None:
    """The name that loads the embedder an index was built with, if one does.

    >>> name_of("remote:text-embedding-3-small:1536")
    'remote'
    """
    if identity == "hash-384":
        return "hashing"
    if identity in OLDER:
        return OLDER[identity]
    return next((name for prefix, name in IDENTITY_PREFIXES.items() if identity.startswith(prefix)), None)


def choose_embedder(wanted: Any, stored: str | None, choices: Choices) -> Embedder | None:
    """The embedder of an index: the one that is wanted, by name or as an object; None for text only.

    For `STORED` it is the embedder of the stored vectors or of the last run, else the default. It is None if
    that embedder has no name to load it by.
    """
    if wanted is None:
        return None
    if isinstance(wanted, str | os.PathLike):
        return load_embedder(wanted)
    if wanted is not STORED:
        return CheckedEmbedder(wanted)
    identity = stored or choices.embedder
    if not identity:
        return None if choices.text_only else load_embedder(DEFAULT)
    if identity.startswith(FOLDER_PREFIX):
        return _load_known_folder(identity)
    name = name_of(identity)
    return load_embedder(name) if name else None


def embedder_for(name: str | None, stored: str | None) -> Embedder | None:
    """The embedder of this name; without a name, that of the stored vectors, else the default."""
    return choose_embedder(STORED if name is None else name, stored, Choices())
