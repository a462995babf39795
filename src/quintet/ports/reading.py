"""The reading side of the ports: what a search needs from a store and an embedder.

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
        """None if this text has no embedding."""
        ...


class TextIndex(Protocol):
    """Full text. `score` is -bm25, `raw` is bm25; equal scores are ordered by path, sequence, chunk id."""

    def tokens(self, text: str) -> list[str]:
        """The terms of `text`. If there are none, no chunk can match it."""
        ...

    def stems(self, words: Sequence[str]) -> list[str]:
        """The stem of each word, which is in lower case and holds nothing but letters and digits."""
        ...

    def respelt(self, terms: Sequence[str]) -> dict[str, str]:
        """For each term of one word that no chunk holds, not even by its stem: the nearest word that some
        chunk holds, if there is one."""
        ...

    def search(self, query: TextQuery, depth: int, within: Rows | None = None) -> list[Hit]: ...

    def scores(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, float]:
        """The scores that `search` would give these chunks. Chunks that do not match are left out."""
        ...

    def matched_fields(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, list[str]]: ...


@dataclass(frozen=True, slots=True)
class Approximation:
    """An HNSW graph beside the exact vectors. It covers `rows` of the `of` vectors; `ef` is that of searches
    that name none, and `recall` the share of the exact best 20 that it finds, by the `ef` of the search."""

    rows: Count
    of: Count
    ef: Count
    recall: Mapping[str, float]
    building: bool


class ChunkVectors(NamedTuple):
    """Vectors of chunks: a matrix, and the row of each chunk in it."""

    rows: Mapping[str, int]
    matrix: Int16


class VectorIndex(Protocol):
    """Search by integer dot product. `score` is the cosine; equal products are ordered by path, sequence, id.

    It is exact unless `ef` is given and an HNSW graph exists, which then proposes the candidates. An `ef` of
    0 is the graph's own.
    """

    @property
    def dimensions(self) -> int | None: ...

    @property
    def approximation(self) -> Approximation | None: ...

    def search(
        self, vector: Int16, depth: int, within: Rows | None = None, ef: int | None = None
    ) -> list[Hit]: ...

    def of(self, chunk_ids: Sequence[str]) -> ChunkVectors:
        """The vectors of these chunks; chunks without a vector are left out."""
        ...


@dataclass(frozen=True, slots=True)
class Node:
    """A symbol or a document of the code graph. `kind` is the kind of symbol, or `document` for prose;
    `parent` is the node that it is defined in."""

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
    """A node that is reached along `steps`, nearest first. Each step keeps the direction of its edge."""

    node: Node
    steps: tuple[Edge, ...]

    @property
    def distance(self) -> int:
        return len(self.steps)

    @property
    def confidence(self) -> Confidence:
        """A path is only as certain as its weakest edge."""
        return max((step.confidence for step in self.steps), key=CERTAIN_FIRST.index)


class CodeGraph(Protocol):
    """Symbols, documents and their relations. The order of indexing changes no list."""

    @property
    def available(self) -> bool: ...

    def expand(
        self, seeds: Sequence[str], expansion: Expansion, depth: int, within: Rows | None = None
    ) -> list[Hit]:
        """The neighbours of the seeds (nodes, best first), ordered by distance, best seed, path, line."""
        ...

    def named(self, name: str) -> list[Node]:
        """Every node with this unqualified name."""
        ...

    def names_like(self, text: str) -> list[str]:
        """Some names that contain `text` or begin similarly."""
        ...

    def at(self, root: str, path: str, first: int, last: int) -> Node | None:
        """The smallest symbol around these lines, or else the document."""
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
        """The nodes of these documents by PageRank, personalised on `towards`; and their number."""
        ...


@dataclass(frozen=True, slots=True)
class Counts:
    """`text_only` are chunks that get no vector, because a program wrote their file."""

    documents: int
    chunks: int
    embedded: int
    text_only: int = 0


class Catalog(Protocol):
    """What is in the index, and where it came from."""

    @property
    def identity(self) -> str:
        """Distinguishes this index from any other, whatever they contain."""
        ...

    @property
    def generation(self) -> int: ...

    @property
    def tag(self) -> str:
        """Random for each generation: a restored index may reach the same generation again."""
        ...

    @property
    def unfinished(self) -> bool:
        """Whether a run has text left to write, or was interrupted before it wrote all."""
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

    def defining(self, names: Sequence[str], limit: int, within: Rows | None) -> list[str]:
        """The chunks that define something of one of these names, at most `limit` for each."""
        ...

    def at_line(self, path: str, line: int, limit: int, within: Rows | None) -> list[str]:
        """The chunks with this line of files whose path ends in `path`."""
        ...

    def passages(self, chunk_ids: Iterable[str]) -> dict[str, Passage]: ...

    def passages_of(self, root: str, path: str) -> list[Passage]:
        """The passages of a document in order."""
        ...

    def sources(self, document_ids: Iterable[str]) -> dict[str, "Source"]:
        """The files of these documents. Documents without a file are left out."""
        ...

    def select(self, filter: Filter) -> Rows | None:
        """The chunks that match; None if the filter is empty, so that all do."""
        ...

    def passing(self, filter: Filter, chunk_ids: Sequence[str]) -> set[str]:
        """Those of these chunks that match."""
        ...


class StateTree(Protocol):
    """The Merkle tree over the documents of a snapshot."""

    @property
    def root(self) -> str:
        """A digest of documents, chunks and vectors. It does not depend on the order of indexing."""
        ...

    @property
    def sketch(self) -> bytes: ...

    @property
    def linker(self) -> str | None:
        """The version of the code that made the edges of the code graph; None while some are missing."""
        ...

    def names(self, document_ids: Iterable[str]) -> dict[str, str]:
        """`root/path` of these documents, also of removed ones."""
        ...

    def changed_since(self, generation: int) -> list[str]:
        """The ids of the documents that were written or removed after that generation."""
        ...

    def proof(self, document_id: str) -> tuple[str, list[dict[str, str]]] | None:
        """The record of a document and its siblings up to the root; None while the tree is out of date."""
        ...


class Snapshot(Protocol):
    """One consistent view of a store. Later writes are not visible in it."""

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
    """An indexed folder. `only` lists its files if not all of the folder is indexed."""

    name: str
    location: str
    only: tuple[str, ...] | None = None


RefusedFiles = Mapping[str, tuple[int, int]]  # by path: size and time of what could not be indexed


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was indexed, to detect changes."""

    size: int
    modified_ns: int
    content_hash: str
    indexed_ns: int
    shape: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The file of a document: its root, the folder of the root, its path there, and what was indexed."""

    root: str
    location: str
    path: str
    known: KnownFile


@dataclass(frozen=True, slots=True)
class Comparison:
    """Documents compared with their files. `changed` has the class of every document, by id, whose file
    differs or cannot be read; all others are Fresh. `missing_roots` are roots whose folder is gone."""

    changed: Mapping[str, Freshness]
    missing_roots: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()


class Disk(Protocol):
    """The files that documents were made from."""

    def compare(self, sources: Mapping[str, Source], *, ask_git: bool) -> Comparison:
        """Compare each file with what was indexed. With `ask_git`, uncommitted changes count as a risk."""
        ...
