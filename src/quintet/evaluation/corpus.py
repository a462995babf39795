"""A corpus to search, in its own store (`corpus.db`), which no command mistakes for an index.

A record is a document in it; its id is the path.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from quintet.collection import Collection
from quintet.contracts import HOUSE, contract_named
from quintet.errors import Conflict
from quintet.evaluation.backends import Backends, OpenIndex
from quintet.evaluation.beir import CorpusDocument
from quintet.evaluation.questions.generate import GeneratedQuestions
from quintet.evaluation.tuning.tuned_numbers import TunedNumbers, TunedStep
from quintet.indexing.records import sync_records
from quintet.indexing.run import Progress
from quintet.ports.reading import Counts, Embedder
from quintet.ports.store import FolderStore
from quintet.ports.store_files import INDEX_FILES, StoreFiles
from quintet.ports.writing import Entry, Writer
from quintet.query.search import Response
from quintet.query.trials import Trials
from quintet.settings import Settings

FILES = StoreFiles("corpus.db", "corpus.lock", "corpus")


@contextmanager
def open_corpus(
    name: str, folder: Path | None, embedder: str | None, settings: Settings, backends: Backends
) -> Iterator["Corpus"]:
    """The corpus in `folder`, which keeps it; without a folder it is deleted when it is closed."""
    named = None
    if embedder is not None:  # a wrong name leaves no folder behind
        named = backends.load_embedder(embedder, None)
    with TemporaryDirectory(prefix="quintet-eval-") as temporary:
        place = (folder or Path(temporary)).absolute()
        corpus = Corpus(name, backends.open_store(place, FILES, settings.text_index), settings)
        try:
            stored = corpus.stored_embedder()
            corpus.use(named if embedder is not None else backends.load_embedder(None, stored))
            yield corpus
        finally:
            if corpus.embedder is not None:
                corpus.embedder.close()
            corpus.close()


@contextmanager
def copy_without_questions(
    index: OpenIndex,
    questions: GeneratedQuestions,
    embedder: Embedder | None,
    backends: Backends,
    progress: Progress,
) -> Iterator["Corpus"]:
    """A copy of the index in a temporary folder, with the text of the questions removed."""
    with TemporaryDirectory(prefix="quintet-eval-") as temporary:
        place = Path(temporary).absolute()
        original = backends.open_store(index.folder, INDEX_FILES, index.settings.text_index)
        try:
            original.copy(place, FILES)
        finally:
            original.close()
        store = backends.open_store(place, FILES, index.settings.text_index)
        corpus = Corpus(questions.judged.name, store, index.settings, index.tuned)
        try:
            corpus.embedder = None if embedder is None else CachingEmbedder(embedder)
            corpus.remove_questions(questions, progress)
            yield corpus
        finally:
            corpus.close()


class Corpus:
    """One collection of documents, with the vectors of one embedder."""

    def __init__(
        self, name: str, store: FolderStore, settings: Settings, tuned: TunedNumbers | None = None
    ) -> None:
        """`tuned` are the numbers to use; by default those in the folder of the store."""
        store.create()
        self.embedder: CachingEmbedder | None = None
        self._name = name
        self._tuned = tuned or TunedNumbers(store.folder)
        self._collection = Collection(
            store, lambda: self.embedder, settings, clock_ns=lambda: 0, tuning=self._tuned
        )
        self.snapshot = self._collection.snapshot
        self.stored_embedder = self._collection.stored_embedder
        self.close = self._collection.close

    def use(self, embedder: Embedder | None) -> None:
        """Search with this embedder. Fails if the store holds another corpus, or vectors of another one."""
        folder, stored = self._collection.folder, self.stored_embedder()
        with self.snapshot() as snapshot:
            others = [root.name for root in snapshot.catalog.roots() if root.name != self._name]
        if others:
            raise Conflict(f"{folder} holds the corpus {others[0]!r}; give {self._name!r} another --db")
        if embedder is not None and stored not in (None, embedder.identity):
            raise Conflict(
                f"the vectors in {folder} are of {stored!r}, not {embedder.identity!r}; "
                "use a separate --db for each embedder"
            )
        self.embedder = None if embedder is None else CachingEmbedder(embedder)

    def fill(self, documents: Iterable[CorpusDocument], progress: Progress) -> None:
        """Bring the store up to date with the corpus, and make missing vectors."""
        with self._collection.run(progress) as run:
            sync_records(run, self._name, documents)
            self._collection.embed(run)
            run.writer.settle()

    def remove_questions(self, questions: GeneratedQuestions, progress: Progress) -> None:
        """Replace the documents from which questions were made, and make missing vectors."""
        with self.snapshot() as snapshot:
            if snapshot.catalog.generation != questions.generation:
                raise Conflict("the index changed while it was measured; run the evaluation again")
        with self._collection.run(progress) as run:
            with run.writer.batch():
                run.writer.put(*_entries(questions, run.writer))
            self._collection.embed(run)

    def counts(self) -> Counts:
        return self._collection.counts()

    def tuned_step(self) -> TunedStep | None:
        """The tuned numbers that searches by the house contract use."""
        return self._tuned.step_for(self.stored_embedder())

    def search(self, query: str, contract: str, params: Mapping[str, object]) -> Response:
        return self._collection.search(query, contract_named(contract), params)

    def tried(self, query: str, requests: Sequence[Mapping[str, object]], contract: str = HOUSE) -> Trials:
        return self._collection.trials(query, requests, contract_named(contract))


def _entries(questions: GeneratedQuestions, writer: Writer) -> Iterator[Entry]:
    """The documents without their questions; everything else about them stays as it was."""
    for root in dict.fromkeys(root for root, _ in questions.documents):
        known = writer.known(root)
        outlines = {document.path: document.outline for document in writer.graph.outlines(root)}
        for (document_root, path), passages in questions.documents.items():
            if document_root == root:
                chunks = tuple(passage.chunk for passage in passages)
                file = known[path]
                yield Entry(passages[0].document, chunks, file.indexed_ns, file.shape, outlines.get(path))


class CachingEmbedder:
    """An embedder that embeds each query once, however many runs search for it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._queries: dict[str, Any] = {}
        self.identity = embedder.identity
        self.dimensions = embedder.dimensions
        self.canonical: bool = getattr(embedder, "canonical", False)
        self.embed_batches = getattr(embedder, "embed_batches", partial(map, embedder.embed_documents))

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
