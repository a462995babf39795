"""Quintet and what people would use instead, one small file each, behind one tiny protocol.

An engine is a class without arguments. `modes` says which of `lexical`, `dense` and `hybrid` it has. Ids are
the numbers of the passages; vectors are float32 of length one, save for Quintet, which takes the int16 ones
they were made of. `DEPTH` is how many results each leg brings to a fusion, where the engine lets one say so.
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

ENGINES = {
    "quintet": "quintet_index:QuintetIndex",
    "faiss flat + FTS5": "faiss_fts5:FaissFts5",
    "LanceDB flat": "lance:LanceFlat",
    "LanceDB IVF_PQ": "lance:LanceIvfPq",
    "qdrant-edge exact": "qdrant_edge_shard:EdgeExact",
    "qdrant-edge HNSW": "qdrant_edge_shard:EdgeHnsw",
    "qdrant-client local": "qdrant_client_local:QdrantLocal",
    "Haystack in memory": "haystack_store:Haystack",
    "semble": "semble_index:Semble",
    "Chroma": "chroma:Chroma",
    "tantivy": "tantivy_index:Tantivy",
    "bm25s": "bm25s_index:Bm25s",
}
PACKAGES = {
    "quintet": "quintet",
    "faiss flat + FTS5": "faiss-cpu",
    "LanceDB flat": "lancedb",
    "LanceDB IVF_PQ": "lancedb",
    "qdrant-edge exact": "qdrant-edge-py",
    "qdrant-edge HNSW": "qdrant-edge-py",
    "qdrant-client local": "qdrant-client",
    "Haystack in memory": "haystack-ai",
    "semble": "semble",
    "Chroma": "chromadb",
    "tantivy": "tantivy",
    "bm25s": "bm25s",
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
    module, _, kind = ENGINES[name].partition(":")
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
