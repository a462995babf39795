"""Chroma: vectors in HNSW as it comes."""

from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from . import Given, Peer, Vectors

BATCH = 5_000
QUIET = Settings(anonymized_telemetry=False)


class Chroma(Peer):
    modes = ("dense",)
    note = "approximate: HNSW as it comes"

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        client = chromadb.PersistentClient(str(folder), QUIET)
        space: Any = {"hnsw": {"space": "ip"}}
        _upsert(client.create_collection("passages", configuration=space, embedding_function=None), given)
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
        return [int(one) for one in found["ids"][0]]


def _upsert(collection: Any, given: Given) -> None:
    floats = given.floats
    for at in range(0, len(given.ids), BATCH):
        rows = slice(at, at + BATCH)
        ids = [str(one) for one in given.ids[rows]]
        collection.upsert(ids=ids, embeddings=floats[rows], documents=list(given.texts[rows]))
