"""Rows by id: remembered where a leg has seen them, else looked up."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from quintet.model.text_query import TextQuery
from quintet.storage.sqlite import catalog
from quintet.storage.sqlite.catalog import ChunkIds

if TYPE_CHECKING:
    from conftest import Shelf


class Asked:
    """A connection that counts what it is asked."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.count = 0

    def execute(self, *statement: Any) -> Any:
        self.count += 1
        return self.connection.execute(*statement)


@pytest.fixture
def filled(shelf: "Shelf") -> "Shelf":
    shelf.put({"a.txt": ["one", "two"], "b.txt": "three"})
    return shelf


def test_what_was_found_by_row_is_known_by_id(filled: "Shelf") -> None:
    with filled.store._database.reading() as connection:
        asked: Any = Asked(connection)
        ids = ChunkIds(asked)
        found = ids.at(np.array([3, 1]))
        assert found == dict(connection.execute("SELECT row, id FROM chunks WHERE row IN (1, 3)"))
        assert ids.rows([found[3], found[1]]) == {found[3]: 3, found[1]: 1}
        assert asked.count == 1


def test_what_nobody_has_seen_is_looked_up_and_what_is_not_here_left_out(filled: "Shelf") -> None:
    with filled.store._database.reading() as connection:
        stored = dict(connection.execute("SELECT id, row FROM chunks"))
        ids = ChunkIds(connection)
        ids.at(np.array([2]))
        assert ids.rows([*stored, "nowhere"]) == stored
        assert ids.rows([]) == {}


def test_only_so_many_are_remembered(filled: "Shelf", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "CACHED_IDS", 2)
    with filled.store._database.reading() as connection:
        asked: Any = Asked(connection)
        ids = ChunkIds(asked)
        first = ids.at(np.array([1, 2]))
        ids.at(np.array([3]))
        assert ids.rows(list(first.values())) == {first[1]: 1, first[2]: 2}
        assert asked.count == 3


def test_chunks_that_the_text_found_have_their_vectors_without_another_look(filled: "Shelf") -> None:
    with filled.store.snapshot() as snapshot:
        found = [hit.chunk_id for hit in snapshot.text.search(TextQuery(("one", "three")), 10)]
        ids = snapshot.vectors._ids
        assert len(found) == 2
        assert set(found) == ids._rows.keys()
