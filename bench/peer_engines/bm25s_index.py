"""bm25s as its guide shows it: English stop words, no stemmer, scores worked out while indexing."""

from pathlib import Path
from typing import Any

import bm25s
import numpy as np

from . import Given, Peer


class Bm25s(Peer):
    modes = ("lexical",)
    note = "ids only, the text is not kept"

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        index = bm25s.BM25()
        index.index(
            bm25s.tokenize(list(given.texts), stopwords="en", show_progress=False), show_progress=False
        )
        index.save(str(folder))
        np.save(folder / "ids.npy", np.array(given.ids))
        return {}

    def open(self, folder: Path, queries: Any) -> None:
        self._index = bm25s.BM25.load(str(folder), mmap=True)
        self._ids = np.load(folder / "ids.npy")

    def lexical(self, text: str, k: int) -> list[int]:
        tokens = bm25s.tokenize(text, stopwords="en", return_ids=False, show_progress=False)
        if not tokens[0]:
            return []
        found, scores = self._index.retrieve(tokens, k=k, show_progress=False)
        kept: list[int] = self._ids[found[0][scores[0] > 0]].tolist()
        return kept
