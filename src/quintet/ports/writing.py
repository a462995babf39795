"""The write side of a store: the documents that a run hands over, and the writer that takes them."""

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
    """What a run chose for all later ones: text only or an embedder (its identity), and which files count."""

    text_only: bool = False
    embedder: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A document with its chunks, ready to be written.

    `indexed_ns` is when its file was read. `shape` names the way it was parsed and cut: another way makes
    other chunks of the same file. `outline` is what the code graph is made of, where the document has one.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    indexed_ns: int
    shape: str = ""
    outline: Outline | None = None


@dataclass(frozen=True, slots=True)
class Unlinked:
    """A document that changed since its edges were made from the outline `before`; None for a new document.
    `lost` means that some of its symbols are gone, and with them the edges from other documents."""

    document_id: str
    path: str
    before: Outline | None
    lost: bool


class VectorWriter(Protocol):
    """Writes vectors. A vector belongs to the hash of a text, so equal texts share one.

    With `replacing`, a method is about the vectors of the next embedder, which are collected beside those in
    use until `finish_replacement`.
    """

    def use_embedder(self, identity: str, dimensions: int) -> None:
        """Record which embedder makes the vectors."""
        ...

    def count_pending(self, *, replacing: bool = False) -> int:
        """How many chunks have no vector."""
        ...

    def pending(self, after: int, limit: int, *, replacing: bool = False) -> list[tuple[int, bytes, str]]:
        """The next chunks without a vector after row `after`: row, hash of the text, text."""
        ...

    def put(self, hashes: Sequence[bytes], vectors: "Int16", *, replacing: bool = False) -> None: ...

    def begin_replacement(self, identity: str) -> None:
        """Begin to collect vectors of another embedder, or continue if the same one began before."""
        ...

    def finish_replacement(self, identity: str, dimensions: int) -> None:
        """Replace the vectors in use by those collected."""
        ...

    def drop_unused(self) -> None:
        """Delete the vectors that no chunk needs."""
        ...


class GraphWriter(Protocol):
    """Writes the edges of the code graph. Its symbols are written with their documents."""

    def unlinked(self, root: str) -> list[Unlinked]:
        """The documents of a root that were added, changed or removed since its edges were made."""
        ...

    def outlines(self, root: str) -> list[FileOutline]:
        """The outlines of all documents of a root, by path."""
        ...

    def link(self, root: str, edges: Mapping[str, Sequence[Edge]]) -> None:
        """Replace the edges that leave these documents. No document of the root is unlinked afterwards."""
        ...

    def linker(self) -> str | None:
        """The version of the code that made all edges."""
        ...

    def use_linker(self, linker: str) -> None: ...


class Writer(Protocol):
    """The one writer. Each `batch()` is a transaction: all of it becomes visible, or nothing."""

    @property
    def vectors(self) -> VectorWriter: ...

    @property
    def graph(self) -> GraphWriter: ...

    def batch(self) -> AbstractContextManager[None]: ...

    def roots(self) -> "list[Root]": ...

    def put_root(self, root: "Root") -> None: ...

    def drop_root(self, name: str) -> int:
        """Remove a root with its documents; returns how many documents it had."""
        ...

    def known(self, root: str) -> "dict[str, KnownFile]":
        """The files of a root by path, as they were indexed."""
        ...

    def refused(self) -> "Mapping[str, RefusedFiles]":
        """The files that could not be indexed, by root."""
        ...

    def put_refused(self, files: "Mapping[str, RefusedFiles]") -> None:
        """Replace the list of files that could not be indexed."""
        ...

    def put(self, *entries: Entry) -> None:
        """Write documents; each replaces its older version. Many at once cost less than one by one."""
        ...

    def touch(self, root: str, path: str, size: int, modified_ns: int, indexed_ns: int) -> None:
        """Record that a file was looked at again and holds the same content."""
        ...

    def remove(self, root: str, paths: Sequence[str]) -> None: ...

    def put_choices(self, choices: Choices) -> None: ...

    def forget_names(self) -> None:
        """Delete the names of documents that are no longer here."""
        ...

    def mark_unfinished(self, unfinished: bool) -> None:
        """Record whether a run has text left to write. Not inside a batch."""
        ...

    def expect_text(self) -> None:
        """Announce much text: the writer may derive data from it while it is written."""
        ...

    def finish_text(self) -> None:
        """Announce that this run writes no more text: data may be derived from it in the background."""
        ...

    def settle(self) -> None:
        """Bring the state root up to date with what was written. Not inside a batch."""
        ...

    def clear(self) -> int:
        """Remove all documents, text, vectors and the graph; returns how many documents there were."""
        ...
