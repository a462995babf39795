"""What evaluation needs from outside, given by the caller: an open index, stores and embedders."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from quintet.evaluation.tuning.tuned_numbers import TunedNumbers
from quintet.model.documents import Passage
from quintet.ports.reading import Embedder, Root
from quintet.ports.store import FolderStore
from quintet.ports.store_files import StoreFiles
from quintet.query.search import Response
from quintet.query.trials import Trials
from quintet.settings import Settings


class OpenIndex(Protocol):
    """The index that is measured; `quintet.Index` is one."""

    settings: Settings
    embedder: Embedder | None
    tuned: TunedNumbers

    @property
    def folder(self) -> Path: ...

    def search(self, query: str, contract: str = ..., **params: object) -> Response: ...

    def tried(self, query: str, requests: Sequence[Mapping[str, object]], contract: str = ...) -> Trials: ...

    def get(self, reference: str) -> list[Passage]: ...

    def roots(self) -> list[Root]: ...


@dataclass(frozen=True, slots=True)
class Backends:
    """How to open what is measured; `quintet.index.BACKENDS` are the ones in use.

    `open_index` takes a folder and, if wanted, an embedder. `open_store` takes a folder, the names of the
    files and the text index. `load_embedder` takes a name, or None for the embedder with the given identity
    (if there is none, the default).
    """

    open_index: Callable[..., AbstractContextManager[OpenIndex]]
    open_store: Callable[[Path, StoreFiles, str], FolderStore]
    load_embedder: Callable[[str | None, str | None], Embedder | None]
