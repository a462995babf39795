"""qdrant-edge: the server's engine inside the process; its own BM25 as sparse vectors, its own fusion."""

from pathlib import Path
from typing import Any, ClassVar

import qdrant_edge as edge

from . import DEPTH, RRF_K, Given, Peer, Vectors

BATCH = 1_000


class EdgeExact(Peer):
    modes = ("lexical", "dense", "hybrid")
    note = "exact: every vector is compared"
    settings: ClassVar[dict[str, Any]] = {"optimizers": edge.EdgeOptimizersConfig(indexing_threshold=10**9)}
    params = edge.SearchParams(exact=True)

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        dense = edge.EdgeVectorParams(size=given.vectors.shape[1], distance=edge.Distance.Dot)
        sparse = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)
        config = edge.EdgeConfig({"dense": dense}, {"text": sparse}, **self.settings)
        shard = edge.EdgeShard.create(str(folder), config)
        self._upsert(shard, given)
        shard.close()
        return {}

    def _upsert(self, shard: Any, given: Given) -> None:
        bm25, floats = edge.Bm25(), given.floats
        for at in range(0, len(given.ids), BATCH):
            rows = range(at, min(at + BATCH, len(given.ids)))
            points = [
                edge.Point(
                    given.ids[row],
                    {"dense": floats[row].tolist(), "text": bm25.embed_document(given.texts[row])},
                    {"text": given.texts[row]},
                )
                for row in rows
            ]
            shard.update(edge.UpdateOperation.upsert_points(points))
        shard.optimize()
        shard.flush()

    def again(self, folder: Path, given: Given) -> bool:
        shard = edge.EdgeShard.load(str(folder))
        self._upsert(shard, given)
        shard.close()
        return True

    def open(self, folder: Path, queries: Any) -> None:
        self._shard = edge.EdgeShard.load(str(folder))
        self._bm25 = edge.Bm25()

    def lexical(self, text: str, k: int) -> list[int]:
        return self._ids(edge.QueryRequest(k, query=self._words(text)))

    def dense(self, text: str, vector: Vectors, k: int) -> list[int]:
        return self._ids(edge.QueryRequest(k, query=_near(vector), params=self.params))

    def hybrid(self, text: str, vector: Vectors, k: int) -> list[int]:
        legs = [
            edge.Prefetch(DEPTH, query=self._words(text)),
            edge.Prefetch(DEPTH, query=_near(vector), params=self.params),
        ]
        return self._ids(edge.QueryRequest(k, query=edge.Fusion.Rrf(k=RRF_K), prefetches=legs))

    def _words(self, text: str) -> Any:
        return edge.Query.Nearest(self._bm25.embed_query(text), using="text")

    def _ids(self, request: Any) -> list[int]:
        return [int(point.id) for point in self._shard.query(request)]

    def close(self) -> None:
        self._shard.close()


class EdgeHnsw(EdgeExact):
    note = "approximate: HNSW as it comes"
    settings: ClassVar[dict[str, Any]] = {}
    params = edge.SearchParams()


class EdgeTuned(EdgeExact):
    note = "approximate: HNSW, m 32, ef_construct 256, hnsw_ef 320, over int8, twice as many rescored"
    settings: ClassVar[dict[str, Any]] = {
        "hnsw_config": edge.HnswIndexConfig(m=32, ef_construct=256, full_scan_threshold=10_000),
        "quantization_config": edge.ScalarQuantizationConfig(edge.ScalarType.Int8, 0.99, always_ram=True),
    }
    params = edge.SearchParams(
        hnsw_ef=320, quantization=edge.QuantizationSearchParams(rescore=True, oversampling=2.0)
    )


def _near(vector: Vectors) -> Any:
    return edge.Query.Nearest(vector.tolist(), using="dense")
