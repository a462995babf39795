"""faiss and SQLite's FTS5, put together the obvious way."""

import sqlite3
import threading
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from . import DEPTH, Given, Peer, Vectors, fused, words

SEARCH = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY bm25(passages) LIMIT ?"


class FaissFts5(Peer):
    modes = ("lexical", "dense", "hybrid")
    note = "exact; fifty lines of one's own"

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        database = sqlite3.connect(folder / "text.db")
        with database:
            database.execute("CREATE VIRTUAL TABLE passages USING fts5(text)")
            rows = zip(given.ids, given.texts, strict=True)
            database.executemany("INSERT INTO passages(rowid, text) VALUES (?, ?)", rows)
        database.close()
        flat = faiss.IndexIDMap2(faiss.IndexFlatIP(given.vectors.shape[1]))
        flat.add_with_ids(given.floats, np.array(given.ids))
        faiss.write_index(flat, str(folder / "vectors.faiss"))
        return {}

    def open(self, folder: Path, queries: Any) -> None:
        self._file = folder / "text.db"
        self._threads = threading.local()
        self._flat = faiss.read_index(str(folder / "vectors.faiss"))

    def lexical(self, text: str, k: int) -> list[int]:
        if not hasattr(self._threads, "database"):
            self._threads.database = sqlite3.connect(self._file)
        query = " OR ".join(f'"{word}"' for word in words(text))
        return [row for (row,) in self._threads.database.execute(SEARCH, (query, k))]

    def dense(self, text: str, vector: Vectors, k: int) -> list[int]:
        found: list[int] = self._flat.search(vector[None], k)[1][0].tolist()
        return found

    def hybrid(self, text: str, vector: Vectors, k: int) -> list[int]:
        return fused([self.lexical(text, DEPTH), self.dense(text, vector, DEPTH)], k)
