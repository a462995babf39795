"""The few small protocols between the engine and what stores, embeds or relates.

Protocols are named by role, implementations by what they are. `quintet.testing` ships the suite that
each implementation must pass.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from quintet.contracts.contract import Expansion
from quintet.model import Chunk, Document, Facts, Filter, Hit, Passage, TextQuery
from quintet.symbols import Outline
from quintet.vector import Int16

Rows = npt.NDArray[np.int64]  # chunks by their row number in the catalog, ascending


class Embedder(Protocol):
    """Turns text into vectors. Arrays may be float or int16; `vector.quantise` makes them canonical."""

    @property
    def identity(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.generic]: ...

    def embed_query(self, text: str) -> npt.NDArray[np.generic] | None:
        """None says: no embedding can be had for this text."""
        ...


class TextIndex(Protocol):
    """Full text. `score` is -bm25, `raw` is bm25; equal scores go by path, sequence, chunk id."""

    def tokens(self, text: str) -> list[str]:
        """The terms the index would look for: empty means that nothing in `text` can be found."""
        ...

    def search(self, query: TextQuery, depth: int, within: Rows | None = None) -> list[Hit]: ...

    def matched_fields(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, list[str]]: ...


class VectorIndex(Protocol):
    """Exact search by integer dot product. `score` is the cosine; equal products go by path, sequence, id."""

    @property
    def dimensions(self) -> int | None: ...

    def search(self, vector: Int16, depth: int, within: Rows | None = None) -> list[Hit]: ...


class CodeGraph(Protocol):
    """Symbols and their relations."""

    @property
    def available(self) -> bool: ...

    def node_ids(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """The node each chunk belongs to; a chunk that no symbol covers is left out."""
        ...

    def expand(self, seeds: Sequence[str], expansion: Expansion, depth: int) -> list[Hit]:
        """Neighbours of the seeds (nodes, best first), by distance, best seed, path, line."""
        ...


@dataclass(frozen=True, slots=True)
class Counts:
    documents: int
    chunks: int
    embedded: int


@dataclass(frozen=True, slots=True)
class Choices:
    """What holds until another run says otherwise: text without vectors, and which files count."""

    text_only: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class Catalog(Protocol):
    """What is in the index, and where it came from."""

    @property
    def generation(self) -> int: ...

    @property
    def embedder(self) -> str | None: ...

    def counts(self) -> Counts: ...

    def ever_filled(self) -> bool: ...

    def facts(self, chunk_ids: Iterable[str]) -> dict[str, Facts]: ...

    def passages(self, chunk_ids: Iterable[str]) -> dict[str, Passage]: ...

    def select(self, filter: Filter) -> Rows | None:
        """The chunks that pass, or None where nothing is filtered."""
        ...


class Snapshot(Protocol):
    """One consistent view of the index: nothing a writer does while it is held can be seen through it."""

    @property
    def catalog(self) -> Catalog: ...

    @property
    def text(self) -> TextIndex: ...

    @property
    def vectors(self) -> VectorIndex: ...

    @property
    def graph(self) -> CodeGraph: ...


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that is indexed. `only` lists files when not all of the folder is wanted."""

    name: str
    location: str
    only: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What the catalog remembers of a file, to tell whether it changed."""

    size: int
    modified_ns: int
    content_hash: str
    indexed_ns: int
    shape: str = ""


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


class Writer(Protocol):
    """The one writer. Each `batch()` is a transaction: all of it becomes visible, or none."""

    def batch(self) -> AbstractContextManager[None]: ...

    def roots(self) -> list[Root]: ...

    def put_root(self, root: Root) -> None: ...

    def drop_root(self, name: str) -> int:
        """Remove a root with its documents; how many documents went."""
        ...

    def known(self, root: str) -> dict[str, KnownFile]: ...

    def put(self, entry: Entry) -> None: ...

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

    def put_vectors(self, hashes: Sequence[bytes], vectors: Int16, *, replacing: bool = False) -> None: ...

    def begin_replacement(self, identity: str) -> None:
        """Collect vectors of another embedder beside those in use."""
        ...

    def finish_replacement(self, identity: str, dimensions: int) -> None:
        """Put the collected vectors in the place of the old ones."""
        ...

    def drop_unused_vectors(self) -> None: ...
