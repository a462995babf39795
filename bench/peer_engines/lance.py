"""LanceDB: its own full text, its own vectors, its own reranker by reciprocal ranks."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("LANCEDB_LOG", "error")  # every query warns of columns that will once be left out

import lancedb
import pyarrow
from lancedb.rerankers import RRFReranker

from . import RRF_K, Given, Peer, Vectors, words


class LanceFlat(Peer):
    modes = ("lexical", "dense", "hybrid")
    note = "exact: no vector index"

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        table = lancedb.connect(folder).create_table("passages", _rows(given))
        table.create_fts_index("text")
        self.index_vectors(table)
        return {}

    def index_vectors(self, table: Any) -> None:
        pass

    def again(self, folder: Path, given: Given) -> bool:
        table = lancedb.connect(folder).open_table("passages")
        merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(_rows(given))
        table.optimize()
        return True

    def open(self, folder: Path, queries: Any) -> None:
        self._table = lancedb.connect(folder).open_table("passages")
        self._reranker = RRFReranker(K=RRF_K)

    def lexical(self, text: str, k: int) -> list[int]:
        return _ids(self._table.search(_plain(text), query_type="fts").select(["id"]), k)

    def dense(self, text: str, vector: Vectors, k: int) -> list[int]:
        return _ids(self.near(self._table.search(vector).metric("dot")).select(["id"]), k)

    def hybrid(self, text: str, vector: Vectors, k: int) -> list[int]:
        both = self._table.search(query_type="hybrid").vector(vector).text(_plain(text))
        return _ids(self.near(both.metric("dot")).rerank(self._reranker).select(["id"]), k)

    def near(self, search: Any) -> Any:
        return search


class LanceIvfPq(LanceFlat):
    note = "approximate: IVF_PQ, 20 probes, refined tenfold"

    def index_vectors(self, table: Any) -> None:
        table.create_index(metric="dot", index_type="IVF_PQ")

    def near(self, search: Any) -> Any:
        return search.nprobes(20).refine_factor(10)


class LanceTuned(LanceFlat):
    note = "approximate: one HNSW, m 32, scalar quantised, ef 250, refined twofold"

    def index_vectors(self, table: Any) -> None:
        table.create_index(metric="dot", index_type="IVF_HNSW_SQ", num_partitions=1, m=32)

    def near(self, search: Any) -> Any:
        return search.nprobes(1).ef(250).refine_factor(2)


def _rows(given: Given) -> Any:
    width = given.vectors.shape[1]
    vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(given.floats.ravel()), width)
    return pyarrow.table({"id": given.ids, "text": given.texts, "vector": vectors})


def _ids(search: Any, k: int) -> list[int]:
    found: Sequence[int] = search.limit(k).to_arrow()["id"].to_pylist()
    return list(found)


def _plain(text: str) -> str:
    return " ".join(words(text))
