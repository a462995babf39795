"""Embedders by name. Nothing here is imported before it is needed."""

from quintet.embed.checked import CheckedEmbedder
from quintet.errors import UsageError
from quintet.ports import Embedder

NAMES = ("hashing", "none")
DEFAULT = "none"


def load_embedder(name: str) -> Embedder | None:
    """The embedder of that name; None for `none`, which means text only."""
    if name == "none":
        return None
    if name == "hashing":
        from quintet.embed.hashing import HashingEmbedder

        return CheckedEmbedder(HashingEmbedder())
    raise UsageError(f"there is no embedder {name!r}; there are: {', '.join(NAMES)}")


def name_of(identity: str) -> str | None:
    """The name that loads the embedder an index was built with, if one does."""
    return {"hash-384": "hashing"}.get(identity)


__all__ = ["DEFAULT", "NAMES", "CheckedEmbedder", "load_embedder", "name_of"]
