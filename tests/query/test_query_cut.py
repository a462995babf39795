"""A very long query: what is compared by meaning is bounded, and a note says so."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import quintet
from quintet.embed.hashing import HashingEmbedder
from quintet.query.legs import EMBEDDED_CHARS


class Listening(HashingEmbedder):
    """Remembers the queries it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[str] = []

    def embed_query(self, text: str) -> npt.NDArray[np.generic] | None:
        self.queries.append(text)
        return super().embed_query(text)


@pytest.mark.parametrize("contract", ["quintet", "rifflux"])
def test_only_the_beginning_of_a_long_query_is_embedded_and_a_note_says_so(
    tmp_path: Path, contract: str
) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nwords about tides\n", "utf-8")
    embedder = Listening()
    with quintet.open(tmp_path / "index", embedder) as index:
        index.sync([tmp_path / "note.md"])
        for query, cut in (("tides " * 4_100, True), ("t" * EMBEDDED_CHARS, False)):
            embedder.queries.clear()
            notes = {note["code"]: note["message"] for note in index.search(query, contract).notes}
            assert embedder.queries == [query[:EMBEDDED_CHARS]]
            assert ("query_cut" in notes) is cut
            if cut:
                said = "of 24600 characters the first 2000 were compared by meaning"
                assert notes["query_cut"] == said
