"""The adapters in use, for work that is not done through an open index: evaluation and embedding models."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from quintet.embed import DEFAULT, STORED, choose_embedder
from quintet.evaluation.backends import Backends
from quintet.index import open as open_index
from quintet.ports.reading import Embedder
from quintet.ports.writing import Choices
from quintet.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from quintet.embed.pull import ModelInfo

DEFAULT_EMBEDDER = DEFAULT


def _load_embedder(name: str | None, stored: str | None) -> Embedder | None:
    return choose_embedder(STORED if name is None else name, stored, Choices())


BACKENDS = Backends(open_index, SqliteStore, _load_embedder)


def embedding_models() -> "list[ModelInfo]":
    from quintet.embed.pull import available  # reads no weights, but takes a while to import

    return available()


def fetch_model(name: str, tell: Callable[[str], None]) -> None:
    """Fetch the weights of a model, unless they are there."""
    from quintet.embed.pull import pull

    pull(name, tell)
