"""Documents and memories of a snapshot by id and in order, for the features that keep them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from quintet.model.documents import Document
from quintet.model.filters import Filter
from quintet.model.memories import Memo


class Memos(Protocol):
    """The memories of a snapshot."""

    def get(self, ids: Iterable[str]) -> dict[str, Memo]:
        """The memories that have one of these ids."""
        ...

    def all(self, filter: Filter) -> Iterator[Memo]:
        """Oldest first, then by id."""
        ...

    def before(self, filter: Filter, created_ms: int, id: str, count: int) -> list[Memo]:
        """The last `count` before that moment, oldest first."""
        ...

    def after(self, filter: Filter, created_ms: int, id: str, count: int) -> list[Memo]:
        """The first `count` after that moment, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document, when it was written and in which shape, and how many chunks it has."""

    document: Document
    indexed_ns: int
    shape: str
    chunks: int


class StoredDocuments(Protocol):
    """The documents of a snapshot, one by one or page by page."""

    def get(self, document_ids: Iterable[str]) -> dict[str, StoredDocument]:
        """The documents that have one of these ids."""
        ...

    def page(self, after: str, limit: int) -> list[StoredDocument]:
        """The next documents of a knowledge base after that `document_id`, in the order of these ids."""
        ...

    def counts(self) -> dict[str, int]:
        """How many documents each root has."""
        ...
