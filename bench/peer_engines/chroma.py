"""Chroma: vectors in HNSW."""

from pathlib import Path
from typing import Any, ClassVar

import chromadb
from chromadb.config import Settings

from . import Given, Peer, Vectors

BATCH = 5_000
QUIET = Settings(anonymized_telemetry=False)


class Chroma(Peer):
    modes = ("dense",)
    note = "approximate: HNSW as it comes"
    hnsw: ClassVar[dict[str, Any]] = {"space": "ip"}

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        client = chromadb.PersistentClient(str(folder), QUIET)
        how: Any = {"hnsw": self.hnsw}
        _upsert(client.create_collection("passages", configuration=how, embedding_function=None), given)
        return {}

    def again(self, folder: Path, given: Given) -> bool:
        client = chromadb.PersistentClient(str(folder), QUIET)
        _upsert(client.get_collection("passages", embedding_function=None), given)
        return True

    def open(self, folder: Path, queries: Any) -> None:
        client = chromadb.PersistentClient(str(folder), QUIET)
        self._passages = client.get_collection("passages", embedding_function=None)

    def dense(self, text: str, vector: Vectors, k: int) -> list[int]:
        found = self._passages.query(query_embeddings=vector[None], n_results=k, include=[])
        return [int(id) for id in found["ids"][0]]


class ChromaTuned(Chroma):
    note = "approximate: HNSW, max_neighbors 32, ef_construction 256, ef_search 320"
    hnsw: ClassVar[dict[str, Any]] = {
        **Chroma.hnsw,
        "max_neighbors": 32,
        "ef_construction": 256,
        "ef_search": 320,
    }


def _upsert(collection: Any, given: Given) -> None:
    floats = given.floats
    for at in range(0, len(given.ids), BATCH):
        rows = slice(at, at + BATCH)
        ids = [str(id) for id in given.ids[rows]]
        collection.upsert(ids=ids, embeddings=floats[rows], documents=list(given.texts[rows]))
