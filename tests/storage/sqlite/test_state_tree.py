"""The Merkle tree in the store: mended or grown anew, interrupted or not, it is the tree of the documents."""

import random
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.model import merkle, set_difference
from quintet.model.vector import quantise
from quintet.storage.sqlite import state_tree
from storage.conftest import Shelf, opened

PATHS = [f"{number}.md" for number in range(60)]


def _settle(shelf: Shelf) -> str:
    """Settle, and check the tables against a tree that is computed from the documents alone."""
    with shelf.store.writer(0) as writer:
        writer.settle()
    with shelf.store._database.reading() as connection:
        leaves = dict(connection.execute("SELECT id, hash FROM leaves"))
        nodes = dict(connection.execute("SELECT prefix, hash FROM nodes"))
        assert nodes == merkle.tree(leaves)
        assert merkle.root_of(leaves, nodes) == state_tree.computed_root(connection)
        assert state_tree.stored_sketch(connection) == set_difference.toggle(
            set_difference.empty(), leaves.items()
        )
        return state_tree.SqliteStateTree(connection).root


@given(
    st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(["", "a", "b"])), max_size=40), st.booleans()
)
def test_whatever_happens_the_tree_is_that_of_the_documents(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]], filled: bool
) -> None:
    with opened(tmp_path_factory.mktemp("tree") / "index") as shelf:
        if filled:  # enough that one change is mended, not grown anew
            shelf.put(dict.fromkeys(PATHS, "before"))
            _settle(shelf)
        for at, (path, text) in enumerate(steps):
            shelf.put({path: text}) if text else shelf.remove(path)
            if at % 3 == 0:
                _settle(shelf)
        _settle(shelf)


def test_the_order_of_writing_does_not_show(shelf: Shelf, other: Shelf) -> None:
    texts = {path: f"text of {path}" for path in PATHS}
    shelf.put(texts)
    shuffled = list(texts.items())
    random.Random(5).shuffle(shuffled)
    for path, text in shuffled:
        other.put({path: text})
        _settle(other)
    assert _settle(shelf) == _settle(other)


def test_a_changed_document_and_only_its_leaf_changes(shelf: Shelf) -> None:
    shelf.put(dict.fromkeys(PATHS, "text"))
    before_root = _settle(shelf)
    with shelf.store._database.reading() as connection:
        before = dict(connection.execute("SELECT id, hash FROM leaves"))
    shelf.put({"7.md": "texx"})
    assert _settle(shelf) != before_root
    with shelf.store._database.reading() as connection:
        after = dict(connection.execute("SELECT id, hash FROM leaves"))
    assert len([document for document in before if before[document] != after[document]]) == 1
    shelf.put({"7.md": "text"})
    assert _settle(shelf) == before_root


def test_until_it_is_settled_the_state_root_is_computed(shelf: Shelf) -> None:
    shelf.put({"a.md": "one"})
    with shelf.store.snapshot() as snapshot:
        unsettled = snapshot.tree.root
    assert _settle(shelf) == unsettled


def test_vectors_and_their_embedder_are_part_of_the_state(shelf: Shelf) -> None:
    shelf.put({"a.md": "one", "b.md": "two"})
    states = {_settle(shelf)}
    with shelf.store.writer(0) as writer:
        hashes = [key for _, key, _ in writer.vectors.pending(0, 10)]
        with writer.batch():
            writer.vectors.use_embedder("first", 3)
    states.add(_settle(shelf))
    with shelf.store.writer(0) as writer, writer.batch():
        writer.vectors.put(hashes, quantise(np.eye(2, 3)))
    states.add(_settle(shelf))
    with shelf.store.writer(0) as writer, writer.batch():
        writer.vectors.begin_replacement("first again")
        writer.vectors.put(hashes, quantise(np.eye(2, 3)[::-1]), replacing=True)
        writer.vectors.finish_replacement("first", 3)
    states.add(_settle(shelf))
    assert len(states) == 4


def test_settling_is_nothing_that_a_search_would_see(shelf: Shelf) -> None:
    shelf.put({"a.md": "one"})
    with shelf.store.snapshot() as snapshot:
        before = snapshot.catalog.generation
    _settle(shelf)
    with shelf.store.snapshot() as snapshot:
        assert snapshot.catalog.generation == before


@pytest.mark.parametrize("count", [0, 1, 2, 17, 60])
def test_every_document_has_siblings_that_lead_to_the_root(shelf: Shelf, count: int) -> None:
    shelf.put({path: f"text of {path}" for path in PATHS[:count]})
    _settle(shelf)
    with shelf.store._database.reading() as connection:
        root = state_tree.computed_root(connection)
        for (document_id,) in connection.execute("SELECT id FROM documents").fetchall():
            line = state_tree.line_of(connection, str(document_id))
            siblings = state_tree.siblings_of(connection, str(document_id))
            assert line is not None
            assert merkle.climb(line, str(document_id), siblings) == root
            assert merkle.climb(line.replace("text of", "t3xt of") + " ", str(document_id), siblings) != root


def test_an_older_database_is_taken_into_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The migration marks every document; what it marks counts at once."""
    from quintet.storage.sqlite import migrations

    whole = migrations.MIGRATIONS
    monkeypatch.setattr(migrations, "MIGRATIONS", whole[:1])
    with opened(tmp_path / "index") as shelf, shelf.store._database.writing() as connection:
        connection.execute("INSERT INTO roots (name, location) VALUES ('docs', '/docs')")
        connection.execute(
            "INSERT INTO documents (id, root, path, title, mime_type, size, modified_ns, indexed_ns, "
            "content_hash, shape, metadata) VALUES ('00', 1, 'a.md', '', 'text/plain', 0, 0, 0, '', '', '{}')"
        )
    monkeypatch.setattr(migrations, "MIGRATIONS", whole)
    with opened(tmp_path / "index") as shelf:
        with shelf.store.snapshot() as snapshot:
            before = snapshot.tree.root
        assert _settle(shelf) == before


def _examined(shelf: Shelf) -> tuple[bool, str]:
    (check,) = [check for check in shelf.store.examine() if check.name == "tree"]
    return check.ok, check.message


def test_the_doctor_compares_the_stored_root_with_the_documents(shelf: Shelf) -> None:
    shelf.put({path: f"text of {path}" for path in PATHS})
    assert _examined(shelf) == (True, f"the next run updates it for {len(PATHS)} changed documents")
    _settle(shelf)
    assert _examined(shelf) == (True, f"the state root matches the {len(PATHS)} documents")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE nodes SET hash = zeroblob(32) WHERE prefix = ''",
        "DELETE FROM nodes",
        "UPDATE meta SET value = replace(value, '1', '2') WHERE key = 'sketch'",
        "UPDATE documents SET title = 'other' WHERE row = 1; DELETE FROM unsettled",
    ],
)
def test_the_doctor_finds_a_tree_that_is_not_that_of_the_documents(shelf: Shelf, damage: str) -> None:
    shelf.put({path: f"text of {path}" for path in PATHS})
    _settle(shelf)
    with shelf.store._database.reading() as reading:
        file = reading.db_filename("main")
    connection = apsw.Connection(file)
    connection.execute(damage)
    connection.close()
    ok, message = _examined(shelf)
    assert not ok
    assert message.endswith("; move the index away and run 'quintet index'")
