"""Embedders by name. Nothing here is imported before it is needed."""

from quintet.embed.checked import CheckedEmbedder
from quintet.errors import UsageError
from quintet.ports.reading import Embedder

LOCAL = ("granite", "minilm")
NAMES = (*LOCAL, "remote", "hashing", "none")
DEFAULT = "granite"
BEGINNINGS = {"granite-30m-english:": "granite", "all-minilm-l6-v2:": "minilm", "remote:": "remote"}


def load_embedder(name: str) -> Embedder | None:
    """The embedder of that name; None for `none`, which means text only. No weights are read yet."""
    if name == "none":
        return None
    return CheckedEmbedder(_found(name))


def _found(name: str) -> Embedder:
    if name in LOCAL:
        from quintet.embed.models import local_embedder

        return local_embedder(name)
    if name == "remote":
        from quintet.embed.remote import RemoteEmbedder

        return RemoteEmbedder.from_environment()
    if name == "hashing":
        from quintet.embed.hashing import HashingEmbedder

        return HashingEmbedder()
    raise UsageError(f"there is no embedder {name!r}; there are: {', '.join(NAMES)}")


def name_of(identity: str) -> str | None:
    """The name that loads the embedder an index was built with, if one does.

    >>> name_of("remote:text-embedding-3-small:1536")
    'remote'
    """
    if identity == "hash-384":
        return "hashing"
    return next((name for start, name in BEGINNINGS.items() if identity.startswith(start)), None)


__all__ = ["DEFAULT", "NAMES", "CheckedEmbedder", "load_embedder", "name_of"]
