"""Quintet through its public door: every passage a file, its vector given by an embedder that looks it up.

Timed are walking, reading, parsing, the text index, the vectors and the state root; not timed is the writing
of the files. The query cache is off, and a chunk may be as long as the longest passage.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import quintet

from . import Given, Peer, Vectors

Int16 = npt.NDArray[np.int16]
PER_FOLDER = 1_000
PER_FILE = 100
SETTINGS: dict[str, Any] = {"cache_entries": 0, "chunk_chars": 100_000}


class QuintetIndex(Peer):
    modes: tuple[str, ...] = ("lexical", "dense", "hybrid")
    note = "exact; reads files; at most 64 terms of a query count"
    contract = "quintet"
    asked: ClassVar[dict[str, object]] = {"inline_filters": "off"}

    def prepare(self, folder: Path, given: Given) -> None:
        self.write(folder / "files", given)
        as_it_is = dict(zip(given.texts, given.vectors, strict=True))
        self._embedder = LookedUp({**as_it_is, **{_key(text): vector for text, vector in as_it_is.items()}})

    def write(self, files: Path, given: Given) -> None:
        for number, text in zip(given.ids, given.texts, strict=True):
            place = files / f"{number // PER_FOLDER:04d}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{number:06d}.txt").write_text(text, "utf-8")

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        with quintet.open(folder / "index", self._embedder, **SETTINGS) as index:
            report = index.sync([folder / "files"])
            if report.problems:
                raise RuntimeError(f"{len(report.problems)} files left out: {report.problems[0]}")
            if report.embedded != len(given.ids):
                raise RuntimeError(f"{len(given.ids)} passages became {report.embedded} chunks")
        return {**report.stages, "whole run": report.seconds}

    def again(self, folder: Path, given: Given) -> bool:
        with quintet.open(folder / "index", LookedUp({"": given.vectors[0]}), **SETTINGS) as index:
            index.sync()
        return True

    def open(self, folder: Path, queries: dict[str, Int16]) -> None:
        vectors = {_key(text): vector for text, vector in queries.items()}
        self._index = quintet.open(folder / "index", LookedUp(vectors), **SETTINGS)

    def lexical(self, text: str, k: int) -> list[int]:
        return self._search(text, k, "lexical")

    def dense(self, text: str, vector: Vectors, k: int) -> list[int]:
        return self._search(text, k, "semantic")

    def hybrid(self, text: str, vector: Vectors, k: int) -> list[int]:
        return self._search(text, k, "hybrid")

    def _search(self, text: str, k: int, mode: str) -> list[int]:
        body: Any = self._index.search(text, self.contract, limit=k, mode=mode, **self.asked).body
        return [int(Path(result["path"]).stem) for result in body["results"]]

    def not_counted(self, folder: Path) -> int:
        return sum(file.stat().st_size for file in (folder / "files").rglob("*") if file.is_file())

    def close(self) -> None:
        self._index.close()


class QuintetRifflux(QuintetIndex):
    modes = ("dense", "hybrid")
    note = "exact; contract `rifflux`"
    contract = "rifflux"
    asked: ClassVar[dict[str, object]] = {}


class QuintetHnsw(QuintetIndex):
    modes = ("dense", "hybrid")
    note = "approximate: HNSW, m 16, ef 50"
    asked: ClassVar[dict[str, object]] = {**QuintetIndex.asked, "vectors": "hnsw"}

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        super().build(folder, given)
        with quintet.open(folder / "index", self._embedder, **SETTINGS) as index:
            index.build_hnsw()
        return {}


class QuintetPacked(QuintetIndex):
    """JSON lines: each record is a chunk, whatever it holds, so that there are as many as passages."""

    modes = ()

    def write(self, files: Path, given: Given) -> None:
        files.mkdir(parents=True)
        for at in range(0, len(given.ids), PER_FILE):
            lines = (json.dumps({"text": text}) for text in given.texts[at : at + PER_FILE])
            (files / f"{at // PER_FILE:04d}.jsonl").write_text("\n".join(lines), "utf-8")


class LookedUp:
    """An embedder that knows the vectors beforehand."""

    identity = "looked-up"

    def __init__(self, vectors: dict[str, Int16]) -> None:
        self._vectors = vectors
        self.dimensions = len(next(iter(vectors.values())))

    def embed_documents(self, texts: Sequence[str]) -> Int16:
        return np.array([self._vector(text) for text in texts], np.int16)

    def embed_query(self, text: str) -> Int16:
        return self._vector(text)

    def _vector(self, text: str) -> Int16:
        """The text as it was given, where it came through as such: to look it up should cost nothing."""
        found = self._vectors.get(text)
        return self._vectors[_key(text)] if found is None else found


def _key(text: str) -> str:
    return " ".join(text.split())
