"""qdrant-client's local mode, made for tests and small sets; sparse vectors by qdrant-edge's BM25."""

import warnings
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient, models
from qdrant_edge import Bm25

from . import DEPTH, RRF_K, Given, Peer, Vectors

BATCH = 1_000
NAME = "passages"
warnings.filterwarnings("ignore", message="Local mode is not recommended")


class QdrantLocal(Peer):
    modes = ("lexical", "dense", "hybrid")
    note = "exact; meant for at most 20,000 points"

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        client = QdrantClient(path=str(folder))
        width = given.vectors.shape[1]
        client.create_collection(
            NAME,
            {"dense": models.VectorParams(size=width, distance=models.Distance.DOT)},
            sparse_vectors_config={"text": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
        _upsert(client, given)
        client.close()
        return {}

    def again(self, folder: Path, given: Given) -> bool:
        client = QdrantClient(path=str(folder))
        _upsert(client, given)
        client.close()
        return True

    def open(self, folder: Path, queries: Any) -> None:
        self._client = QdrantClient(path=str(folder), force_disable_check_same_thread=True)
        self._bm25 = Bm25()

    def lexical(self, text: str, k: int) -> list[int]:
        return self._ids(k, query=_sparse(self._bm25.embed_query(text)), using="text")

    def dense(self, text: str, vector: Vectors, k: int) -> list[int]:
        return self._ids(k, query=vector, using="dense")

    def hybrid(self, text: str, vector: Vectors, k: int) -> list[int]:
        legs = [
            models.Prefetch(query=_sparse(self._bm25.embed_query(text)), using="text", limit=DEPTH),
            models.Prefetch(query=vector.tolist(), using="dense", limit=DEPTH),
        ]
        return self._ids(k, query=models.RrfQuery(rrf=models.Rrf(k=RRF_K)), prefetch=legs)

    def _ids(self, k: int, **asked: Any) -> list[int]:
        found = self._client.query_points(NAME, limit=k, with_payload=False, **asked)
        return [int(point.id) for point in found.points]

    def close(self) -> None:
        self._client.close()


def _upsert(client: QdrantClient, given: Given) -> None:
    bm25, floats = Bm25(), given.floats
    for at in range(0, len(given.ids), BATCH):
        points = [
            models.PointStruct(
                id=given.ids[row],
                vector={
                    "dense": floats[row].tolist(),
                    "text": _sparse(bm25.embed_document(given.texts[row])),
                },
                payload={"text": given.texts[row]},
            )
            for row in range(at, min(at + BATCH, len(given.ids)))
        ]
        client.upsert(NAME, points)


def _sparse(vector: Any) -> models.SparseVector:
    return models.SparseVector(indices=vector.indices, values=vector.values)
