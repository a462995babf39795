"""Spec 000 in Python: its search service over an index."""

from typing import Any

from quintet.index import Index
from quintet.model.documents import Json


class Rifflux:
    """Spec 000's search service (section 4.1) over an index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def search(self, query: str, *, top_k: int = 10, mode: str = "hybrid") -> list[dict[str, Json]]:
        body: Any = self._index.search(query, contract="rifflux", top_k=top_k, mode=mode).body
        results: list[dict[str, Json]] = body["results"]
        return results


def rifflux(index: Index) -> Rifflux:
    return Rifflux(index)
