"""The write side of a store: what a run hands over, and the one writer that takes it."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from quintet.model.documents import Chunk, Document
from quintet.model.symbols import Edge, FileOutline, Outline

if TYPE_CHECKING:  # a process that examines files starts in half the time without them, and without numpy
    from quintet.model.vector import Int16
    from quintet.ports.reading import KnownFile, RefusedFiles, Root


@dataclass(frozen=True, slots=True)
class Choices:
    """What holds until another run says otherwise: text without vectors or the identity of the embedder
    that is to make them, and which files count."""

    text_only: bool = False
    embedder: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A document with its chunks, ready to be written. `indexed_ns` is when its file was read, `shape`
    names the way it was parsed and cut: under another way the same file gives other chunks. `outline` is
    what the code graph is made of, where the document has any."""

    document: Document
    chunks: tuple[Chunk, ...]
    indexed_ns: int
    shape: str = ""
    outline: Outline | None = None


@dataclass(frozen=True, slots=True)
class Unlinked:
    """A document that changed since edges were made of its outline `before`; None if it is new. `lost`
    says that symbols of it went, and with them the edges that other documents had to them."""

    document_id: str
    path: str
    before: Outline | None
    lost: bool


class Writer(Protocol):
    """The one writer. Each `batch()` is a transaction: all of it becomes visible, or none."""

    def batch(self) -> AbstractContextManager[None]: ...

    def roots(self) -> "list[Root]": ...

    def put_root(self, root: "Root") -> None: ...

    def drop_root(self, name: str) -> int:
        """Remove a root with its documents; how many documents went."""
        ...

    def known(self, root: str) -> "dict[str, KnownFile]": ...

    def refused(self) -> "Mapping[str, RefusedFiles]": ...

    def put_refused(self, files: "Mapping[str, RefusedFiles]") -> None:
        """What could not be indexed, by root, in the place of what was."""
        ...

    def put(self, *entries: Entry) -> None:
        """Write documents, each in the place of what it was. Many at once cost less than one by one."""
        ...

    def touch(self, root: str, path: str, size: int, modified_ns: int, indexed_ns: int) -> None: ...

    def remove(self, root: str, paths: Sequence[str]) -> None: ...

    def remember(self, choices: Choices) -> None: ...

    def use_embedder(self, identity: str, dimensions: int) -> None:
        """Remember which embedder the vectors are of."""
        ...

    def count_pending(self, *, replacing: bool = False) -> int:
        """How many chunks have no vector; with `replacing`, no vector of the embedder to come."""
        ...

    def pending(self, after: int, limit: int, *, replacing: bool = False) -> list[tuple[int, bytes, str]]:
        """The next such chunks behind row `after`: row, the hash their text goes by, text."""
        ...

    def put_vectors(self, hashes: Sequence[bytes], vectors: "Int16", *, replacing: bool = False) -> None: ...

    def begin_replacement(self, identity: str) -> None:
        """Collect vectors of another embedder beside those in use."""
        ...

    def finish_replacement(self, identity: str, dimensions: int) -> None:
        """Put the collected vectors in the place of the old ones."""
        ...

    def drop_unused_vectors(self) -> None: ...

    def forget_names(self) -> None: ...

    def tell_unfinished(self, unfinished: bool) -> None:
        """Whether there is text that a run has yet to write. Not inside a batch."""
        ...

    def text_is_coming(self) -> None:
        """Much of it: what is made of text may be begun while it is written."""
        ...

    def text_is_written(self) -> None:
        """No more text in this run: what is made of it may be made beside what follows."""
        ...

    def settle(self) -> None:
        """Bring the state root up to date with what was written. Not inside a batch."""
        ...

    def unlinked(self, root: str) -> list[Unlinked]:
        """The documents of a root that came, changed or went since its edges were made."""
        ...

    def outlines(self, root: str) -> list[FileOutline]:
        """Every document of a root as the code graph sees it, by path."""
        ...

    def link(self, root: str, edges: Mapping[str, Sequence[Edge]]) -> None:
        """Replace the edges that go out of these documents; nothing of the root is unlinked any more."""
        ...

    def linker(self) -> str | None:
        """Which way of making edges made all that are there."""
        ...

    def use_linker(self, linker: str) -> None: ...

    def clear(self) -> int:
        """Empty the index: documents, text, vectors and graph; how many documents went."""
        ...
