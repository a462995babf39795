"""The few small protocols between the engine and what stores, embeds or relates.

Protocols are named by role, implementations by what they are. `quintet.testing` ships the suite that
each implementation must pass.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from quintet.contracts.contract import Expansion
from quintet.model.documents import Passage
from quintet.model.filters import Filter
from quintet.model.results import Facts, Freshness, Hit, Note
from quintet.model.schema import Count
from quintet.model.symbols import Confidence, Edge
from quintet.model.text_query import TextQuery
from quintet.model.vector import Int16
from quintet.ports.documents import Memos, StoredDocuments
from quintet.ports.writing import Choices

Rows = npt.NDArray[np.int64]  # chunks by their row number in the catalog, ascending
CERTAIN_FIRST: tuple[Confidence, ...] = ("exact", "likely", "possible")


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

    def scores(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, float]:
        """What `search` would score these chunks at; those that do not match are left out."""
        ...

    def matched_fields(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, list[str]]: ...


@dataclass(frozen=True, slots=True)
class Approximation:
    """An HNSW graph beside the exact vectors: how many of the vectors it covers, and the share of the exact
    best 20 that it finds, by the `ef` a search uses."""

    rows: Count
    of: Count
    recall: Mapping[str, float]
    building: bool


class ChunkVectors(NamedTuple):
    """The vectors of some chunks: a matrix, and the row of each chunk in it."""

    rows: Mapping[str, int]
    matrix: Int16


class VectorIndex(Protocol):
    """Search by integer dot product. `score` is the cosine; equal products go by path, sequence, id.

    Exact unless `ef` is given, which lets an HNSW graph propose the candidates where there is one.
    """

    @property
    def dimensions(self) -> int | None: ...

    @property
    def approximation(self) -> Approximation | None: ...

    def search(
        self, vector: Int16, depth: int, within: Rows | None = None, ef: int | None = None
    ) -> list[Hit]: ...

    def of(self, chunk_ids: Sequence[str]) -> ChunkVectors:
        """The vectors of these chunks; those without one are left out."""
        ...


@dataclass(frozen=True, slots=True)
class Node:
    """A symbol or a document of the code graph. `kind` is the symbol's, or `document` for prose; `parent` is
    the node that it is defined in."""

    id: str
    parent: str | None
    kind: str
    name: str
    qualified_name: str
    signature: str
    docstring: str
    root: str
    path: str
    first_line: int
    last_line: int
    visibility: str
    is_test: bool


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node reached from another along `steps`, nearest first, each as it is directed in the source."""

    node: Node
    steps: tuple[Edge, ...]

    @property
    def distance(self) -> int:
        return len(self.steps)

    @property
    def confidence(self) -> Confidence:
        """That of the weakest step."""
        return max((step.confidence for step in self.steps), key=CERTAIN_FIRST.index)


class CodeGraph(Protocol):
    """Symbols, documents and their relations. Every list is in one order, whatever the order of indexing."""

    @property
    def available(self) -> bool: ...

    def expand(
        self, seeds: Sequence[str], expansion: Expansion, depth: int, within: Rows | None = None
    ) -> list[Hit]:
        """Neighbours of the seeds (nodes, best first), by distance, best seed, path, line."""
        ...

    def named(self, name: str) -> list[Node]:
        """Every node that has this name, unqualified."""
        ...

    def names_like(self, text: str) -> list[str]:
        """Some names that hold `text` or begin like it."""
        ...

    def at(self, root: str, path: str, first: int, last: int) -> Node | None:
        """The smallest symbol around these lines, else the document."""
        ...

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]: ...

    def documented(self) -> list[Node]:
        """Every node that has a docstring."""
        ...

    def walk(self, start: str, expansion: Expansion, limit: int) -> list[Neighbour]:
        """Breadth first from one node."""
        ...

    def important(
        self, towards: Mapping[str, float], limit: int, documents: Collection[str] | None = None
    ) -> tuple[list[tuple[Node, float]], int]:
        """The nodes of these documents by PageRank, personalised on `towards`; and how many there are."""
        ...


@dataclass(frozen=True, slots=True)
class Counts:
    documents: int
    chunks: int
    embedded: int


class Catalog(Protocol):
    """What is in the index, and where it came from."""

    @property
    def identity(self) -> str:
        """Tells this index from any other, whatever both hold."""
        ...

    @property
    def generation(self) -> int: ...

    @property
    def tag(self) -> str:
        """Drawn for this generation: an index that was put back may count the same numbers again."""
        ...

    @property
    def unfinished(self) -> bool:
        """Is a run under way that has not written all text yet, or was it cut short?"""
        ...

    @property
    def embedder(self) -> str | None:
        """The identity of the embedder that made the vectors."""
        ...

    @property
    def choices(self) -> Choices: ...

    def counts(self) -> Counts: ...

    def ever_filled(self) -> bool: ...

    def roots(self) -> "list[Root]": ...

    def known(self, root: str) -> "Mapping[str, KnownFile]":
        """The files of a root by path, as they were indexed."""
        ...

    def refused(self) -> "Mapping[str, RefusedFiles]":
        """The files that could not be indexed, by root."""
        ...

    def documents_below(self, path: str, root: str | None) -> list[tuple[str, str]]:
        """Root and path of the document at `path`, or of all documents below that folder."""
        ...

    def facts(self, chunk_ids: Iterable[str]) -> dict[str, Facts]: ...

    def passages(self, chunk_ids: Iterable[str]) -> dict[str, Passage]: ...

    def passages_of(self, root: str, path: str) -> list[Passage]:
        """The passages of a document in order."""
        ...

    def sources(self, document_ids: Iterable[str]) -> dict[str, "Source"]:
        """The files these documents were made from; one without a file is left out."""
        ...

    def select(self, filter: Filter) -> Rows | None:
        """The chunks that pass, or None where nothing is filtered."""
        ...

    def passing(self, filter: Filter, chunk_ids: Sequence[str]) -> set[str]:
        """Which of these chunks pass."""
        ...


class StateTree(Protocol):
    """The Merkle tree over the documents of a snapshot."""

    @property
    def root(self) -> str:
        """One number over documents, chunks and vectors that does not depend on how they got here."""
        ...

    @property
    def sketch(self) -> bytes: ...

    @property
    def linker(self) -> str | None:
        """Which version made the edges of the code graph; None while some are still to be made."""
        ...

    def names(self, document_ids: Iterable[str]) -> dict[str, str]:
        """`root/path` of each document that is or once was here."""
        ...

    def changed_since(self, generation: int) -> list[str]:
        """Ids of the documents written or removed after that generation."""
        ...

    def proof(self, document_id: str) -> tuple[str, list[dict[str, str]]] | None:
        """A document's record and its siblings up to the root; None while the tree is out of date."""
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

    @property
    def tree(self) -> StateTree: ...

    @property
    def memos(self) -> Memos: ...

    @property
    def documents(self) -> StoredDocuments: ...


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that is indexed. `only` lists files when not all of the folder is wanted."""

    name: str
    location: str
    only: tuple[str, ...] | None = None


RefusedFiles = Mapping[str, tuple[int, int]]  # by path: size and time of what could not be indexed


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What the catalog remembers of a file, to tell whether it changed."""

    size: int
    modified_ns: int
    content_hash: str
    indexed_ns: int
    shape: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The file a document was made from: its root, the root's folder, its path there, what was read."""

    root: str
    location: str
    path: str
    known: KnownFile


@dataclass(frozen=True, slots=True)
class Comparison:
    """Documents against their files as they are now. `changed` goes by document id and holds every one whose
    file differs or cannot be read; all others are Fresh. `missing_roots` names roots without a folder."""

    changed: Mapping[str, Freshness]
    missing_roots: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()


class Disk(Protocol):
    """The files that documents were made from."""

    def compare(self, sources: Mapping[str, Source], *, ask_git: bool) -> Comparison:
        """Look at each file. With `ask_git`, uncommitted changes count as a risk."""
        ...
