"""A store that is filled with texts instead of files."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from quintet.model.documents import Chunk, Document, digest
from quintet.model.filters import Filter
from quintet.model.results import Hit
from quintet.model.text_query import TextQuery
from quintet.ports.reading import Root
from quintet.ports.writing import Entry
from quintet.storage.sqlite.store import SqliteStore

EVERYTHING = Filter()
Texts = Mapping[str, str | list[str]]  # the text of each path, or its chunks


class Shelf:
    """Puts texts into a store and asks its full text."""

    def __init__(self, folder: Path, text_index: str = "fts5") -> None:
        self.store = SqliteStore(folder, text_index=text_index)
        self.store.create()

    def put(self, texts: Texts, *, title: str = "", heading: str = "") -> None:
        with self.store.writer(0) as writer, writer.batch():
            writer.put_root(Root("docs", "/docs"))
            for path, text in texts.items():
                writer.put(_entry(path, [text] if isinstance(text, str) else text, title, heading))

    def remove(self, *paths: str) -> None:
        with self.store.writer(0) as writer, writer.batch():
            writer.remove("docs", paths)

    def hits(self, query: TextQuery, depth: int = 1_000, filter: Filter = EVERYTHING) -> list[Hit]:
        with self.store.snapshot() as snapshot:
            return snapshot.text.search(query, depth, snapshot.catalog.select(filter))

    def scores(self, query: TextQuery, depth: int = 1_000, filter: Filter = EVERYTHING) -> dict[str, float]:
        """bm25 by path (and by chunk, where a document has several), best first."""
        found = self.hits(query, depth, filter)
        with self.store.snapshot() as snapshot:
            facts = snapshot.catalog.facts([hit.chunk_id for hit in found])
        return {_name(facts[hit.chunk_id].path, facts[hit.chunk_id].sequence): hit.raw for hit in found}

    def find(self, *terms: str, **options: object) -> list[str]:
        return list(self.scores(TextQuery(terms, **options)))


def _name(path: str, sequence: int) -> str:
    return f"{path}#{sequence}" if sequence else path


def _entry(path: str, texts: list[str], title: str, heading: str) -> Entry:
    whole = sha256("".join(texts).encode()).hexdigest()
    document = Document("docs", path, title, "text/plain", None, len(texts), 0, whole)
    chunks = tuple(
        Chunk(digest(document.id, text, str(at)), document.id, at, text, heading, 1, 1)
        for at, text in enumerate(texts)
    )
    return Entry(document, chunks, 0)


@contextmanager
def opened(folder: Path, text_index: str = "fts5") -> Iterator[Shelf]:
    shelf = Shelf(folder, text_index)
    try:
        yield shelf
    finally:
        shelf.store.close()


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with opened(tmp_path / "index") as one:
        yield one


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Shelf]:
    with opened(tmp_path / "other") as one:
        yield one


MakeShelf = Callable[..., Shelf]


@pytest.fixture(scope="module")
def make_shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeShelf]:
    """Makes shelves with the text index of that name, each in a folder of its own unless one is given."""
    with ExitStack() as stack:

        def make(text_index: str = "fts5", folder: Path | None = None) -> Shelf:
            return stack.enter_context(opened(folder or tmp_path_factory.mktemp("shelf"), text_index))

        yield make
