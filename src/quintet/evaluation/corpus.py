"""A corpus that rankings are measured on, in a store of its own (`corpus.db`) that no command takes for an
index: a record is a document there, its id is the path."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from quintet.contracts import HOUSE, contract_named
from quintet.embed import DEFAULT, load_embedder, name_of
from quintet.errors import Conflict
from quintet.evaluation.judgements import Text
from quintet.evaluation.questions import OwnQuestions
from quintet.evaluation.tuning.tuned import Step, Tuned
from quintet.index import Index
from quintet.indexing.disk import NO_FILES
from quintet.indexing.embedding import embed_pending, reembed
from quintet.indexing.records import sync_records
from quintet.indexing.run import IndexRun, Progress, Report
from quintet.ports.reading import Counts, Embedder
from quintet.ports.store_files import StoreFiles
from quintet.ports.writing import Entry, Writer
from quintet.query.search import Response, search
from quintet.query.trials import Trials, run_trials
from quintet.settings import Settings
from quintet.storage.sqlite.store import SqliteStore

FILES = StoreFiles("corpus.db", "corpus.lock", "corpus")


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
            if corpus.embedder is not None:
                corpus.embedder.close()
            corpus.close()


@contextmanager
def copied(
    index: Index, own: OwnQuestions, embedder: Embedder | None, progress: Progress
) -> Iterator["Corpus"]:
    """A copy of the index in a temporary folder, where the questions are cut out of what they ask for."""
    with TemporaryDirectory(prefix="quintet-eval-") as temporary:
        store = SqliteStore(index.folder)
        try:
            store.copy(Path(temporary), FILES)
        finally:
            store.close()
        corpus = Corpus(own.judged.name, Path(temporary), index.settings, index.tuned)
        try:
            corpus.embedder = None if embedder is None else Remembering(embedder)
            corpus.replace(own, progress)
            yield corpus
        finally:
            corpus.close()


class Corpus:
    """One collection of documents, with the vectors of one embedder."""

    def __init__(self, name: str, folder: Path, settings: Settings, tuned: Tuned | None = None) -> None:
        """`tuned` is what is used, if not that of the folder."""
        self.settings = settings
        self.embedder: Remembering | None = None
        self._name = name
        self._tuned = tuned or Tuned(folder.absolute())
        self._store = SqliteStore(folder.absolute(), FILES, settings.text_index)
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
            run = IndexRun(writer, self.settings, lambda: 0, progress, Report())
            sync_records(run, self._name, ((one.id, one.title, one.text) for one in documents))
            if self.embedder is not None:
                embed_pending(run, self.embedder, self._stored_embedder())
            writer.settle()

    def replace(self, own: OwnQuestions, progress: Progress) -> None:
        """Put these documents in the place of those of the same name, and embed what has no vector."""
        with self._store.snapshot() as snapshot:
            if snapshot.catalog.generation != own.generation:
                raise Conflict("the index changed while it was measured; run the evaluation again")
        with self._store.writer(self.settings.writer_timeout) as writer:
            run = IndexRun(writer, self.settings, lambda: 0, progress, Report())
            with writer.batch():
                writer.put(*_entries(own, writer))
            stored = self._stored_embedder()
            if self.embedder is not None and stored in (None, self.embedder.identity):
                embed_pending(run, self.embedder, stored)
            elif self.embedder is not None:
                reembed(run, self.embedder)

    def counts(self) -> Counts:
        with self._store.snapshot() as snapshot:
            return snapshot.catalog.counts()

    def tuned_step(self) -> Step | None:
        """The tuned numbers that searches by the house contract use."""
        return self._tuned.step_for(self._stored_embedder())

    def search(self, query: str, contract: str, params: Mapping[str, object]) -> Response:
        with self._store.snapshot() as snapshot:
            named = contract_named(contract)
            settings, notes = self._tuned.under(self.settings, contract, snapshot.catalog.embedder)
            found = search(snapshot, self.embedder, named, query, params, settings, NO_FILES)
            return replace(found, notes=[*found.notes, *notes])

    def tried(self, query: str, requests: Sequence[Mapping[str, object]], contract: str = HOUSE) -> Trials:
        with self._store.snapshot() as snapshot:
            settings, _ = self._tuned.under(self.settings, contract, snapshot.catalog.embedder)
            return run_trials(snapshot, self.embedder, contract_named(contract), query, requests, settings)

    def close(self) -> None:
        self._store.close()


def _entries(own: OwnQuestions, writer: Writer) -> Iterator[Entry]:
    """The documents with their questions cut out; all else about them stays as it was."""
    for root in dict.fromkeys(root for root, _ in own.documents):
        known = writer.known(root)
        outlines = {one.path: one.outline for one in writer.outlines(root)}
        for (its_root, path), passages in own.documents.items():
            if its_root == root:
                chunks = tuple(one.chunk for one in passages)
                file = known[path]
                yield Entry(passages[0].document, chunks, file.indexed_ns, file.shape, outlines.get(path))


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
