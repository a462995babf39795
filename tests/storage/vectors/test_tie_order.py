"""The order of ties follows the database: through edits, vectors that come later, forgetting, and files."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.storage.sqlite.store import SqliteStore
from quintet.storage.vectors import tie_order
from quintet.storage.vectors.tie_order import TieOrder, load_tie_order, read

if TYPE_CHECKING:
    from conftest import MakeShelf, Shelf

NOWHERE = Path("/nonexistent/order")
PATHS = ["a.txt", "b.txt", "b/c.txt", "é.txt", "z.txt"]
TEXTS = st.lists(st.sampled_from(["one", "two", "three", "four"]), min_size=1, max_size=3)
STEPS = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(PATHS), TEXTS),
    st.tuples(st.just("remove"), st.sampled_from(PATHS), st.just([])),
    st.tuples(st.just("embed"), st.just(""), st.just([])),
    st.tuples(st.just("forget"), st.sampled_from(PATHS), st.just([])),
    st.tuples(st.just("renumber"), st.just(""), st.just([])),
)


def _embed(shelf: "Shelf") -> None:
    with shelf.store.writer(0) as writer, writer.batch():
        writer.vectors.use_embedder("test", 4)
        pending = {key: text for _, key, text in writer.vectors.pending(0, 100)}
        if pending:
            vectors = np.array([[len(text), 1, 1, 1] for text in pending.values()], np.int16)
            writer.vectors.put(list(pending), vectors)


def _forget(shelf: "Shelf", path: str) -> None:
    with shelf.store.writer(0) as writer, writer.batch():
        writer.remove("docs", [path])
        writer.vectors.drop_unused()
        writer.forget_names()


def _renumber(shelf: "Shelf") -> None:
    with shelf.store.writer(0) as writer, writer.batch():
        writer.vectors.begin_replacement("test")
        pending = {key: text for _, key, text in writer.vectors.pending(0, 100, replacing=True)}
        if pending:
            vectors = np.array([[1, len(text), 1, 1] for text in pending.values()], np.int16)
            writer.vectors.put(list(pending), vectors, replacing=True)
        writer.vectors.finish_replacement("test", 4)


def _do(shelf: "Shelf", step: tuple[str, str, list[str]]) -> None:
    kind, path, texts = step
    if kind == "put":
        shelf.put({path: [f"{text} {at}" for at, text in enumerate(texts)]})
    elif kind == "remove":
        shelf.remove(path)
    elif kind == "forget":
        _forget(shelf, path)
    elif kind == "renumber":
        _renumber(shelf)
    else:
        _embed(shelf)


def _order(store: SqliteStore, earlier: TieOrder | None, file: Path = NOWHERE) -> TieOrder:
    with store.snapshot() as snapshot:
        return load_tie_order(snapshot.vectors._connection, earlier, file)


def _arrays(order: TieOrder) -> list[list[object]]:
    return [order.chunks.tolist(), order.places.tolist(), order.documents.tolist()]


@pytest.fixture
def embedded(shelf: "Shelf") -> "Shelf":
    shelf.put({path: [f"{path} first", f"{path} second"] for path in PATHS})
    _embed(shelf)
    return shelf


@given(steps=st.lists(STEPS, max_size=8), looks=st.lists(st.booleans(), min_size=8, max_size=8))
def test_an_order_brought_up_to_date_is_the_one_read_anew(
    steps: list[tuple[str, str, list[str]]], looks: list[bool], make_shelf: "MakeShelf"
) -> None:
    shelf = make_shelf()
    _do(shelf, ("put", "b.txt", ["one", "two"]))
    _embed(shelf)
    order = _order(shelf.store, None)
    for step, is_looked_at in zip(steps, looks, strict=False):
        _do(shelf, step)
        if is_looked_at:
            order = _order(shelf.store, order)
    assert _arrays(_order(shelf.store, order)) == _arrays(_order(shelf.store, None))


def test_one_edit_is_taken_over_without_reading_everything(
    embedded: "Shelf", monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _order(embedded.store, None)
    embedded.put({"b.txt": ["something new"]})
    _embed(embedded)
    right = _order(embedded.store, None)
    monkeypatch.setattr(tie_order, "FROM", "FROM nothing")
    assert _arrays(_order(embedded.store, before)) == _arrays(right)


def test_many_changes_are_read_anew(embedded: "Shelf", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tie_order, "MANY", 1)
    before = _order(embedded.store, None)
    embedded.put({"a.txt": ["x"], "z.txt": ["y"]})
    _embed(embedded)
    assert _arrays(_order(embedded.store, before)) == _arrays(_order(embedded.store, None))


def test_a_new_process_goes_on_from_the_file(
    embedded: "Shelf", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tie_order, "WORTH_A_FILE", 1)
    file = tmp_path / "order"
    _order(embedded.store, None, file)
    embedded.remove("a.txt")
    right = _order(embedded.store, None)
    monkeypatch.setattr(tie_order, "FROM", "FROM nothing")
    assert _arrays(_order(embedded.store, None, file)) == _arrays(right)


@pytest.mark.parametrize("damage", [b"", b"{}\n", b"[1]\n", b"\xff\n", None])
def test_a_damaged_file_counts_as_none(
    embedded: "Shelf", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | None
) -> None:
    monkeypatch.setattr(tie_order, "WORTH_A_FILE", 1)
    file = tmp_path / "order"
    right = _order(embedded.store, None, file)
    written = file.read_bytes()
    file.write_bytes(written[:-1] + bytes([written[-1] ^ 1]) if damage is None else damage)
    assert read(file) is None
    assert _arrays(_order(embedded.store, None, file)) == _arrays(right)
    assert file.read_bytes() == written


def test_a_file_of_another_state_is_not_gone_on_from(
    embedded: "Shelf", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tie_order, "WORTH_A_FILE", 1)
    file = tmp_path / "order"
    _order(embedded.store, None, file)
    with embedded.store.writer(0) as writer, writer.batch():  # as after a database was put back
        writer._connection.in_batch.execute("UPDATE lineage SET tag = 'another'")
    embedded.remove("z.txt")
    assert _arrays(_order(embedded.store, None, file)) == _arrays(_order(embedded.store, None))


def test_a_chunk_has_the_vector_of_its_text_or_none_yet(embedded: "Shelf") -> None:
    embedded.put({"b.txt": ["not embedded", "b.txt second"]})
    with embedded.store.snapshot() as snapshot:
        chunks = [one.chunk for path in PATHS for one in snapshot.catalog.passages_of("docs", path)]
        found = snapshot.vectors.of([*(one.id for one in chunks), "nowhere"])
    expected = {one.id: [len(one.content), 1, 1, 1] for one in chunks if one.content != "not embedded"}
    assert {chunk_id: found.matrix[row].tolist() for chunk_id, row in found.rows.items()} == expected
    assert len(found.matrix) == len(expected)


def test_before_anything_is_embedded_no_chunk_has_a_vector(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "one"})
    with shelf.store.writer(0) as writer, writer.batch():
        writer.vectors.use_embedder("test", 4)
    with shelf.store.snapshot() as snapshot:
        (one,) = snapshot.catalog.passages_of("docs", "a.txt")
        for found in (snapshot.vectors.of([one.chunk.id]), snapshot.vectors.of([])):
            assert not found.rows and not len(found.matrix)
