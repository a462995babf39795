"""What is searched, and what its results are called in the judgements."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from quintet.errors import NotFound, UsageError
from quintet.evaluation.backends import Backends, OpenIndex
from quintet.evaluation.beir import JudgedQueries
from quintet.evaluation.corpus import Corpus
from quintet.evaluation.tuning.tuned_numbers import TunedStep
from quintet.model.documents import Passage
from quintet.ports.reading import Counts, Embedder
from quintet.ports.store_files import INDEX_FILES
from quintet.query.search import Response
from quintet.query.trials import Trials
from quintet.settings import Settings

NameResult = Callable[[str, Passage], str]
"""The name of a query's result in the judgements."""


def _always(query: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Searcher:
    """An index or a corpus.

    `by_document` says whether the results of a query count as documents, as they do in a collection, or as
    chunks. `tuned` gives the tuned numbers that the house contract uses.
    """

    search: Callable[[str, str, Mapping[str, object]], Response]
    tried: Callable[[str, Sequence[Mapping[str, object]]], Trials]
    name: NameResult
    counts: Counts
    settings: Settings
    embedder: Embedder | None
    tuned: Callable[[], TunedStep | None]
    by_document: Callable[[str], bool] = _always

    def chunks_per_result(self, query: str) -> int:
        """On average, rounded up."""
        average = math.ceil(self.counts.chunks / max(1, self.counts.documents))
        return max(1, average) if self.by_document(query) else 1


def path_of(query: str, passage: Passage) -> str:
    return passage.document.path


def _rooted_path_of(query: str, passage: Passage) -> str:
    return f"{passage.document.root}/{passage.document.path}"


def _chunk_of(query: str, passage: Passage) -> str:
    return passage.chunk.id


def corpus_searcher(
    corpus: Corpus,
    settings: Settings,
    name: NameResult = path_of,
    by_document: Callable[[str], bool] = _always,
) -> Searcher:
    return Searcher(
        corpus.search,
        corpus.tried,
        name,
        corpus.counts(),
        settings,
        corpus.embedder,
        corpus.tuned_step,
        by_document,
    )


def index_searcher(
    index: OpenIndex, queries: JudgedQueries, backends: Backends
) -> tuple[Searcher, JudgedQueries]:
    """An index of files, and the judgements with each item named like its results."""
    several_roots = len(index.roots()) > 1
    items = queries.items()
    chunks, documents = _judged_items(index, items, several_roots=several_roots)
    if chunks and documents:
        raise UsageError(
            f"{min(chunks)!r} is a chunk and {min(documents)!r} a document; "
            "judge chunks or documents, not both"
        )
    missing = [item for item in items if item not in chunks and item not in documents]
    queries = queries.note_missing(missing, "index")
    grades = {
        query: {documents.get(item, item): grade for item, grade in judged.items()}
        for query, judged in queries.grades.items()
    }
    counts, stored = _counts_and_embedder(index, backends)
    searcher = Searcher(
        lambda query, contract, params: index.search(query, contract, **params),
        index.tried,
        _chunk_of if chunks else _rooted_path_of if several_roots else path_of,
        counts,
        index.settings,
        index.embedder,
        lambda: index.tuned.step_for(stored),
    )
    return searcher, replace(queries, grades=grades)


def _counts_and_embedder(index: OpenIndex, backends: Backends) -> tuple[Counts, str | None]:
    store = backends.open_store(index.folder, INDEX_FILES, index.settings.text_index)
    try:
        with store.snapshot() as snapshot:
            return snapshot.catalog.counts(), snapshot.catalog.embedder
    finally:
        store.close()


def _judged_items(
    index: OpenIndex, items: Sequence[str], *, several_roots: bool
) -> tuple[set[str], dict[str, str]]:
    """Which items are chunks, and what results call those that are documents."""
    chunks, documents = set[str](), dict[str, str]()
    for item in items:
        try:
            passages = index.get(item)
        except NotFound:
            continue
        if passages and passages[0].chunk.id == item:
            chunks.add(item)
        elif passages:
            name = _rooted_path_of if several_roots else path_of
            documents[item] = name("", passages[0])
    return chunks, documents
