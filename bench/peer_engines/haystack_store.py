"""Haystack's in-memory store with its two retrievers and its joiner by reciprocal ranks."""

from pathlib import Path
from typing import Any

from haystack import Document
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from . import DEPTH, Given, Peer, Vectors


class Haystack(Peer):
    modes = ("lexical", "dense", "hybrid")
    note = "exact; in memory, saved as one file"

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        store = InMemoryDocumentStore(embedding_similarity_function="dot_product")
        store.write_documents(_documents(given))
        store.save_to_disk(str(folder / "store.json"))
        return {}

    def again(self, folder: Path, given: Given) -> bool:
        store = InMemoryDocumentStore.load_from_disk(str(folder / "store.json"))
        store.write_documents(_documents(given), DuplicatePolicy.OVERWRITE)
        store.save_to_disk(str(folder / "store.json"))
        return True

    def open(self, folder: Path, queries: Any) -> None:
        store = InMemoryDocumentStore.load_from_disk(str(folder / "store.json"))
        self._words = InMemoryBM25Retriever(store)
        self._near = InMemoryEmbeddingRetriever(store)
        self._join = DocumentJoiner(join_mode="reciprocal_rank_fusion")

    def lexical(self, text: str, k: int) -> list[int]:
        return _ids(self._words.run(query=text, top_k=k))

    def dense(self, text: str, vector: Vectors, k: int) -> list[int]:
        return _ids(self._near.run(query_embedding=vector.tolist(), top_k=k))

    def hybrid(self, text: str, vector: Vectors, k: int) -> list[int]:
        found = [
            self._words.run(query=text, top_k=DEPTH)["documents"],
            self._near.run(query_embedding=vector.tolist(), top_k=DEPTH)["documents"],
        ]
        return _ids(self._join.run(documents=found, top_k=k))


def _documents(given: Given) -> list[Document]:
    rows = zip(given.ids, given.texts, given.floats.tolist(), strict=True)
    return [Document(id=str(number), content=text, embedding=vector) for number, text, vector in rows]


def _ids(answer: dict[str, Any]) -> list[int]:
    return [int(document.id) for document in answer["documents"]]
