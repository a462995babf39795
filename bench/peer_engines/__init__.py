"""Quintet and what people would use instead, one small file each, behind one tiny protocol.

An engine is a class without arguments. `modes` says which of `lexical`, `dense` and `hybrid` it has; one
without any is only timed while it indexes. Ids are the numbers of the passages; vectors are float32 of
length one, save for Quintet, which takes the int16 ones they were made of. `DEPTH` is how many results each
leg brings to a fusion, where the engine lets one say so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
DEPTH = 50
RRF_K = 60
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Known:
    """Module and class of an engine, the package it needs, and whose index it asks, if not its own."""

    where: str
    package: str
    index_of: str | None = None


ENGINES = {
    "quintet": Known("quintet_index:QuintetIndex", "quintet"),
    "quintet, rifflux": Known("quintet_index:QuintetRifflux", "quintet", "quintet"),
    "quintet HNSW": Known("quintet_index:QuintetHnsw", "usearch"),
    "quintet, 100 passages a file": Known("quintet_index:QuintetPacked", "quintet"),
    "faiss flat + FTS5": Known("faiss_fts5:FaissFts5", "faiss-cpu"),
    "LanceDB flat": Known("lance:LanceFlat", "lancedb"),
    "LanceDB IVF_PQ": Known("lance:LanceIvfPq", "lancedb"),
    "LanceDB, tuned": Known("lance:LanceTuned", "lancedb"),
    "qdrant-edge exact": Known("qdrant_edge_shard:EdgeExact", "qdrant-edge-py"),
    "qdrant-edge HNSW": Known("qdrant_edge_shard:EdgeHnsw", "qdrant-edge-py"),
    "qdrant-edge HNSW, tuned": Known("qdrant_edge_shard:EdgeTuned", "qdrant-edge-py"),
    "qdrant-client local": Known("qdrant_client_local:QdrantLocal", "qdrant-client"),
    "Haystack in memory": Known("haystack_store:Haystack", "haystack-ai"),
    "semble": Known("semble_index:Semble", "semble"),
    "Chroma": Known("chroma:Chroma", "chromadb"),
    "Chroma, tuned": Known("chroma:ChromaTuned", "chromadb"),
    "tantivy": Known("tantivy_index:Tantivy", "tantivy"),
    "bm25s": Known("bm25s_index:Bm25s", "bm25s"),
}


@dataclass(frozen=True, slots=True)
class Given:
    """What is indexed: the passages, in the order in which they are put in."""

    ids: Sequence[int]
    texts: Sequence[str]
    vectors: npt.NDArray[np.int16]

    @property
    def floats(self) -> Vectors:
        return unit(self.vectors)

    def in_order(self, order: Sequence[int]) -> "Given":
        return Given([self.ids[at] for at in order], [self.texts[at] for at in order], self.vectors[order])


class Engine(Protocol):
    modes: tuple[str, ...]
    note: str

    def prepare(self, folder: Path, given: Given) -> None:
        """What comes before the clock starts: files on disk, where the engine reads files."""

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        """Index everything, on disk; the seconds of its phases, where it tells them."""

    def again(self, folder: Path, given: Given) -> bool:
        """Give the same passages again, unchanged. False: there is no such way, only to build anew."""

    def open(self, folder: Path, queries: dict[str, npt.NDArray[np.int16]]) -> None:
        """Open what was built. `queries` are the vectors of texts, for engines that embed for themselves."""

    def lexical(self, text: str, k: int) -> list[int]: ...

    def dense(self, text: str, vector: Vectors, k: int) -> list[int]: ...

    def hybrid(self, text: str, vector: Vectors, k: int) -> list[int]: ...

    def not_counted(self, folder: Path) -> int:
        """Bytes below `folder` that were there before the engine came."""

    def close(self) -> None: ...


class Peer:
    """What most engines have in common: nothing to prepare, nothing to close, no way to say it all again."""

    note = ""

    def prepare(self, folder: Path, given: Given) -> None:
        pass

    def again(self, folder: Path, given: Given) -> bool:
        return False

    def not_counted(self, folder: Path) -> int:
        return 0

    def close(self) -> None:
        pass


def load(name: str) -> Any:
    module, _, kind = ENGINES[name].where.partition(":")
    return getattr(import_module(f"{__name__}.{module}"), kind)()


def unit(vectors: npt.NDArray[np.int16]) -> Vectors:
    return vectors.astype(np.float32) / np.float32(32767)


def words(text: str) -> list[str]:
    return WORD.findall(text)


def fused(legs: Sequence[Sequence[int]], k: int) -> list[int]:
    """Reciprocal rank fusion, written the obvious way."""
    scores: dict[int, float] = {}
    for leg in legs:
        for rank, found in enumerate(leg, start=1):
            scores[found] = scores.get(found, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda found: -scores[found])[:k]
