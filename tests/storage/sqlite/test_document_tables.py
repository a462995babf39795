"""Documents in numbers: written many at once, replaced, removed, counted."""

from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from quintet.model.documents import Chunk, Document
from quintet.ports.reading import Counts, Root
from quintet.ports.writing import Entry
from quintet.storage.sqlite.checksums import seal
from quintet.storage.sqlite.writer import MANY

if TYPE_CHECKING:
    from conftest import MakeShelf, Shelf

TEXTS = {f"{number:04d}.txt": f"word{number} common" for number in range(MANY + 1)}


def entry(path: str, *texts: str) -> Entry:
    document = Document("docs", path, "", "text/plain", None, 1, 0, "".join(texts))
    chunks = [Chunk(f"{path}{at}", document.id, at, text, "", 1, 1) for at, text in enumerate(texts)]
    return Entry(document, tuple(chunks), 0)


def put(shelf: "Shelf", *entries: Entry) -> None:
    with shelf.store.writer(0) as writer:
        with writer.batch():
            writer.put_root(Root("docs", "/docs"))
            writer.put(*entries)
        writer.settle()


def counts(shelf: "Shelf") -> Counts:
    with shelf.store.snapshot() as snapshot:
        return snapshot.catalog.counts()


def root(shelf: "Shelf") -> str:
    with shelf.store.snapshot() as snapshot:
        return snapshot.tree.root


def test_many_at_once_are_what_they_are_one_by_one(shelf: "Shelf", other: "Shelf") -> None:
    entries = [entry("a.txt", "one", "two"), entry("b.txt", "getUserName"), entry("c.txt", "検索")]
    put(shelf, *entries)
    for one in entries:
        put(other, one)
    assert root(shelf) == root(other)
    assert shelf.find("two") == other.find("two") == ["a.txt#1"]
    assert shelf.find("user", parts=True) == other.find("user", parts=True) == ["b.txt"]


def test_of_two_with_one_path_the_last_counts(shelf: "Shelf") -> None:
    put(shelf, entry("a.txt", "first"), entry("b.txt", "other"), entry("a.txt", "second"))
    assert counts(shelf) == Counts(2, 2, 0)
    assert shelf.find("first") == []
    assert shelf.find("second") == ["a.txt"]


def test_old_and_new_documents_go_in_together(shelf: "Shelf") -> None:
    put(shelf, entry("a.txt", "first", "of two"), entry("b.txt", "stays"))
    put(shelf, entry("c.txt", "new"), entry("a.txt", "changed"))
    assert counts(shelf) == Counts(3, 3, 0)
    assert [shelf.find(word) for word in ("first", "two", "stays", "changed", "new")] == [
        [],
        [],
        ["b.txt"],
        ["a.txt"],
        ["c.txt"],
    ]


def test_a_removal_of_what_is_not_there_takes_nothing_else_along(shelf: "Shelf") -> None:
    put(shelf, entry("a.txt", "here"))
    before = root(shelf)
    shelf.remove("b.txt")
    assert root(shelf) == before
    shelf.remove("b.txt", "a.txt")
    assert counts(shelf) == Counts(0, 0, 0)
    assert shelf.find("here") == []


@pytest.mark.parametrize("stored", ["", "x", "1", "1 2 3 4 five", "-1 0 0 0 0", "{} 1 1", "{} 1 1 0"])
def test_counts_that_no_run_has_left_are_counted(
    make_shelf: "MakeShelf", tmp_path: Path, stored: str
) -> None:
    put(make_shelf(folder=tmp_path), *(entry(path, text) for path, text in TEXTS.items()))
    connection = apsw.Connection(str(tmp_path / "index.db"))
    generation = connection.execute("SELECT value FROM meta WHERE key = 'generation'").get
    left = connection.execute("SELECT value FROM meta WHERE key = 'counts'").get
    assert left == f"{generation} {len(TEXTS)} {len(TEXTS)} 0 0"
    connection.execute("UPDATE meta SET value = ? WHERE key = 'counts'", (stored.format(generation),))
    seal(connection)
    connection.close()
    assert counts(make_shelf(folder=tmp_path)) == Counts(len(TEXTS), len(TEXTS), 0)


def test_after_another_change_the_counts_of_a_run_no_longer_hold(
    make_shelf: "MakeShelf", tmp_path: Path
) -> None:
    put(make_shelf(folder=tmp_path), *(entry(path, text) for path, text in TEXTS.items()))
    put(make_shelf(folder=tmp_path), entry("one more.txt", "text"))
    assert counts(make_shelf(folder=tmp_path)).documents == len(TEXTS) + 1
