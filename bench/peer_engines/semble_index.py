"""semble, put together from its own parts: one chunk a passage, searched as documentation.

Its own model has to be fetched from a hub; here it is given the same vectors as everyone, by a stand-in that
looks them up. `dense` is its search with all weight on the vectors, which runs its BM25 all the same.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import semble.index.index as parts
from semble.index.sparse import enrich_for_bm25
from semble.tokens import tokenize
from semble.types import Chunk, ContentType
from vicinity.backends.basic import BasicArgs

from . import Given, Peer, Vectors, unit


class Semble(Peer):
    modes = ("dense", "hybrid")
    note = "exact; given our vectors, its own model was left out"

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        text = parts.BM25.empty()
        chunks = [
            Chunk(text, f"{number}.txt", 1, 1) for number, text in zip(given.ids, given.texts, strict=True)
        ]
        for chunk in chunks:
            text.add_document(chunk.file_path, tokenize(enrich_for_bm25(chunk)))
        text.set_doc_order([chunk.file_path for chunk in chunks])
        vectors = parts.SelectableBasicBackend(given.floats, BasicArgs())
        parts.SembleIndex(LookedUp({}), text, vectors, chunks, "looked-up", content=(ContentType.DOCS,)).save(
            folder
        )
        return {}

    def open(self, folder: Path, queries: dict[str, Any]) -> None:
        os.environ["SEMBLE_CACHE_LOCATION"] = str(folder / "statistics")
        parts.load_model = lambda path: (LookedUp(queries), path)
        self._index = parts.SembleIndex.load_from_disk(folder)

    def dense(self, text: str, vector: Vectors, k: int) -> list[int]:
        return _ids(self._index.search(text, k, alpha=1.0))

    def hybrid(self, text: str, vector: Vectors, k: int) -> list[int]:
        return _ids(self._index.search(text, k))


class LookedUp:
    def __init__(self, vectors: dict[str, Any]) -> None:
        self._vectors = vectors

    def encode(self, texts: list[str]) -> Vectors:
        return unit(np.array([self._vectors[text] for text in texts]))


def _ids(found: Any) -> list[int]:
    return [int(Path(hit.chunk.file_path).stem) for hit in found]
