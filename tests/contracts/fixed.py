"""An embedder with vectors by hand, and small libraries whose ranks are known beforehand."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

import quintet

Vector = Sequence[float]
MODIFIED_MS = 1_700_000_000_000


class FixedEmbedder:
    """Looks each text up. A text it does not know has the zero vector; a query may have none, or an error."""

    identity = "fixed"

    def __init__(self, vectors: Mapping[str, Vector | Exception | None], dimensions: int = 2) -> None:
        self.dimensions = dimensions
        self._vectors = vectors

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.generic]:
        return np.array([self._vectors.get(text) or self._zero() for text in texts], np.float64)

    def embed_query(self, text: str) -> npt.NDArray[np.generic] | None:
        found = self._vectors.get(text, self._zero())
        if isinstance(found, Exception):
            raise found
        return None if found is None else np.array(found, np.float64)

    def _zero(self) -> list[float]:
        return [0.0] * self.dimensions


def write(folder: Path, files: Mapping[str, str], modified_ms: Mapping[str, int] | None = None) -> Path:
    """Files with a fixed modification time, or the one given for them."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        when = (modified_ms or {}).get(name, MODIFIED_MS) * 1_000_000
        os.utime(file, ns=(when, when))
    return folder


def build(
    place: Path,
    files: Mapping[str, str],
    vectors: Mapping[str, Any] | None = None,
    modified_ms: Mapping[str, int] | None = None,
) -> quintet.Index:
    """An index in `place` over `files`; without `vectors` it has no embedder."""
    embedder = None if vectors is None else FixedEmbedder(vectors)
    index = quintet.open(place / "index", embedder=embedder)
    index.sync([write(place / "shelf", files, modified_ms)])
    return index


def fts5_scores(rows: Sequence[Sequence[str]], expression: str) -> dict[int, float]:
    """FTS5's `bm25()` by the number of the row, in a table that has these rows and columns and no other."""
    connection = apsw.Connection(":memory:")
    columns = [f"column_{number}" for number in range(len(rows[0]))]
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5 ({', '.join(columns)})")
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(columns))})", rows)
    matches = connection.execute("SELECT rowid - 1, bm25(t) FROM t WHERE t MATCH ?", (expression,))
    return dict(matches)


def ladder(count: int) -> dict[str, str]:
    """Files that all hold `word`, each one longer than the one before: the lexical rank is the number + 1."""
    return {f"f{number:03d}.txt": "word" + " pad" * number for number in range(count)}


def name_at(place: int) -> str:
    """The file of a ladder at that lexical rank."""
    return f"f{place - 1:03d}.txt"


def circle(order: Sequence[str]) -> dict[str, Vector]:
    """Vectors that rank these texts in this order for the query `word`."""
    spread = {text: (100.0, 1.0 + 3.0 * at) for at, text in enumerate(order)}
    return {**spread, "word": (1.0, 0.0)}


def same_place_in_both(count: int, place: int) -> tuple[dict[str, str], dict[str, Any]]:
    """A ladder whose semantic order is its lexical order backwards, but for one file at `place` in both."""
    files = ladder(count)
    order = list(reversed(files.values()))
    if "word" in order:  # the query itself is a text of the ladder: keep its vector for the query
        order.remove("word")
        files = {name: text if text != "word" else "word word" for name, text in files.items()}
        order.append("word word")
    chosen = files[name_at(place)]
    order.remove(chosen)
    order.insert(place - 1, chosen)
    return files, circle(order)


def results(response: quintet.Response) -> list[dict[str, Any]]:
    """The result items of any contract."""
    body: Any = response.body
    found: list[dict[str, Any]] = (
        body["retrieval_calls"][0]["results"] if "retrieval_calls" in body else body["results"]
    )
    return found


def path_of(item: Mapping[str, Any]) -> str:
    holders = (item, item.get("document", {}), item.get("node", {}))
    named = next((holder["path"] for holder in holders if "path" in holder), None)
    return str(named or item["metadata"]["source_path"])


def paths(response: quintet.Response) -> list[str]:
    return [path_of(item) for item in results(response)]


def codes(response: quintet.Response) -> list[str]:
    return [note["code"] for note in response.notes]
