"""A corpus that rankings are measured on, in a store of its own (`corpus.db`) that no command takes for an
index: a record is a document there, its id is the path."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from quintet.contracts import contract_named
from quintet.embed import DEFAULT, load_embedder, name_of
from quintet.errors import Conflict
from quintet.evaluate.collection import Text
from quintet.ingest.corpus import sync_corpus
from quintet.ingest.run import Progress, Report, Run
from quintet.ingest.vectors import embed_pending
from quintet.memory.memory import NO_FILES
from quintet.ports import Counts, Embedder
from quintet.search.search import Response, search
from quintet.settings import Settings
from quintet.stores.sqlite.store import Files, SqliteStore

FILES = Files("corpus.db", "corpus.lock", "corpus")


@contextmanager
def opened(name: str, folder: Path | None, embedder: str | None, settings: Settings) -> Iterator["Corpus"]:
    """The corpus of that name in `folder`, where it is kept; without one it goes when it is closed."""
    named = None if embedder is None else load_embedder(embedder)  # a wrong name leaves no folder behind
    with TemporaryDirectory(prefix="quintet-eval-") as temporary:
        corpus = Corpus(name, folder or Path(temporary), settings)
        try:
            corpus.use(named if embedder is not None else corpus.usual_embedder())
            yield corpus
        finally:
            corpus.close()


class Corpus:
    """One collection of documents, with the vectors of one embedder."""

    def __init__(self, name: str, folder: Path, settings: Settings) -> None:
        self.settings = settings
        self.embedder: Remembering | None = None
        self._name = name
        self._store = SqliteStore(folder.absolute(), FILES)
        self._store.create()

    def usual_embedder(self) -> Embedder | None:
        """The one whose vectors are there, else the default."""
        stored = self._stored_embedder()
        return load_embedder((stored and name_of(stored)) or DEFAULT)

    def use(self, embedder: Embedder | None) -> None:
        """Search with this embedder; the store must be this corpus's, and its vectors of this embedder."""
        folder, stored = self._store.folder, self._stored_embedder()
        with self._store.snapshot() as snapshot:
            others = [root.name for root in snapshot.catalog.roots() if root.name != self._name]
        if others:
            raise Conflict(f"{folder} holds the corpus {others[0]!r}; give {self._name!r} another --db")
        if embedder is not None and stored not in (None, embedder.identity):
            raise Conflict(
                f"the vectors in {folder} are of {stored!r}, not {embedder.identity!r}; "
                "give each embedder a --db of its own"
            )
        self.embedder = None if embedder is None else Remembering(embedder)

    def _stored_embedder(self) -> str | None:
        with self._store.snapshot() as snapshot:
            return snapshot.catalog.embedder

    def fill(self, documents: Iterable[Text], progress: Progress) -> None:
        """Bring the store up to date with the corpus, and embed what has no vector."""
        with self._store.writer(self.settings.writer_timeout) as writer:
            run = Run(writer, self.settings, lambda: 0, progress, Report())
            sync_corpus(run, self._name, ((one.id, one.title, one.text) for one in documents))
            if self.embedder is not None:
                embed_pending(run, self.embedder, self._stored_embedder())
            writer.settle()

    def counts(self) -> Counts:
        with self._store.snapshot() as snapshot:
            return snapshot.catalog.counts()

    def search(self, query: str, contract: str, params: Mapping[str, object]) -> Response:
        with self._store.snapshot() as snapshot:
            named = contract_named(contract)
            return search(snapshot, self.embedder, named, query, params, self.settings, NO_FILES)

    def close(self) -> None:
        if self.embedder is not None:
            self.embedder.close()
        self._store.close()


class Remembering:
    """An embedder that embeds each query once, however many runs ask it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._queries: dict[str, Any] = {}
        self.identity = embedder.identity
        self.dimensions = embedder.dimensions
        self.canonical: bool = getattr(embedder, "canonical", False)

    def embed_documents(self, texts: Sequence[str]) -> Any:
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Any:
        if text not in self._queries:
            self._queries[text] = self._embedder.embed_query(text)
        return self._queries[text]

    def close(self) -> None:
        close = getattr(self._embedder, "close", None)
        if close is not None:
            close()
