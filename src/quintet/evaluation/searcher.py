"""What is searched, and what its results are called in the judgements."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from quintet.errors import NotFound, UsageError
from quintet.evaluation.backends import Backends, OpenIndex
from quintet.evaluation.beir import JudgedQueries
from quintet.evaluation.corpus import Corpus
from quintet.evaluation.counting import Counting
from quintet.evaluation.metrics import Grades
from quintet.evaluation.tuning.tuned_numbers import TunedStep
from quintet.model.documents import Passage
from quintet.ports.reading import Counts, Embedder
from quintet.ports.store_files import INDEX_FILES
from quintet.query.search import Response
from quintet.query.trials import Trials
from quintet.settings import Settings

NameResult = Callable[[str, Passage], str]
"""The name of a query's result in the judgements."""


@dataclass(frozen=True, slots=True)
class Searcher:
    """An index or a corpus.

    `name` gives what the judgements call a result, `file` its document. `by_document` says whether the
    results of a query count as documents, as they do in a collection, or as chunks. `tuned` gives the tuned
    numbers that the house contract uses.
    """

    search: Callable[[str, str, Mapping[str, object]], Response]
    tried: Callable[[str, Sequence[Mapping[str, object]]], Trials]
    name: NameResult
    file: NameResult
    counts: Counts
    settings: Settings
    embedder: Embedder | None
    tuned: Callable[[], TunedStep | None]
    by_document: Callable[[str], bool]
    counting: Counting

    def limit(self, query: str, depth: int) -> int:
        """How many chunks make `depth` results, if documents have an average number of chunks."""
        average = max(1, math.ceil(self.counts.chunks / max(1, self.counts.documents)))
        dropped = average if self.counting.drop_own else 0
        return depth * (average if self.by_document(query) else 1) + dropped

    def is_dropped(self, query: str, passage: Passage) -> bool:
        """Whether the query's id names the document or chunk of this passage, and that must not count."""
        return self.counting.drop_own and query in (self.file(query, passage), passage.chunk.id)


def path_of(query: str, passage: Passage) -> str:
    return passage.document.path


def _rooted_path_of(query: str, passage: Passage) -> str:
    return f"{passage.document.root}/{passage.document.path}"


def _chunk_of(query: str, passage: Passage) -> str:
    return passage.chunk.id


def corpus_searcher(
    corpus: Corpus,
    settings: Settings,
    counting: Counting,
    name: NameResult = path_of,
    whole_files: Callable[[str], bool] = lambda query: True,
) -> Searcher:
    """`whole_files` says whether the judgements of a query name documents."""
    return Searcher(
        corpus.search,
        corpus.tried,
        name,
        path_of,
        corpus.counts(),
        settings,
        corpus.embedder,
        corpus.tuned_step,
        lambda query: counting.unit != "chunk" and whole_files(query),
        counting,
    )


def index_searcher(
    index: OpenIndex, queries: JudgedQueries, backends: Backends, counting: Counting
) -> tuple[Searcher, JudgedQueries]:
    """An index of files, and the judgements with each item named like its results."""
    file = _rooted_path_of if len(index.roots()) > 1 else path_of
    items = queries.items()
    chunks, documents = _judged_items(index, items, file)
    if counting.unit == "file":
        chunks, documents = {}, {**chunks, **documents}
    if chunks and documents:
        raise UsageError(
            f"{min(chunks)!r} is a chunk and {min(documents)!r} a document; "
            "judge chunks or documents, not both, or rank by file"
        )
    missing = [item for item in items if item not in chunks and item not in documents]
    queries = queries.note_missing(missing, "index")
    grades = {query: _named(judged, documents) for query, judged in queries.grades.items()}
    counts, stored = _counts_and_embedder(index, backends)
    searcher = Searcher(
        lambda query, contract, params: index.search(query, contract, **params),
        index.tried,
        _chunk_of if chunks else file,
        file,
        counts,
        index.settings,
        index.embedder,
        lambda: index.tuned.step_for(stored),
        lambda query: counting.unit != "chunk" and not chunks,
        counting,
    )
    return searcher, replace(queries, grades=grades)


def _named(grades: Grades, documents: Mapping[str, str]) -> dict[str, int]:
    """The grades by the names of results. Of several items of one document the highest counts."""
    named: dict[str, int] = {}
    for item, grade in grades.items():
        name = documents.get(item, item)
        named[name] = max(grade, named.get(name, grade))
    return named


def _counts_and_embedder(index: OpenIndex, backends: Backends) -> tuple[Counts, str | None]:
    store = backends.open_store(index.folder, INDEX_FILES, index.settings.text_index)
    try:
        with store.snapshot() as snapshot:
            return snapshot.catalog.counts(), snapshot.catalog.embedder
    finally:
        store.close()


def _judged_items(
    index: OpenIndex, items: Sequence[str], file: NameResult
) -> tuple[dict[str, str], dict[str, str]]:
    """What results call the document of each item that is a chunk, and of each that is a document."""
    chunks, documents = dict[str, str](), dict[str, str]()
    for item in items:
        try:
            passages = index.get(item)
        except NotFound:
            continue
        if passages:
            is_chunk = passages[0].chunk.id == item
            (chunks if is_chunk else documents)[item] = file("", passages[0])
    return chunks, documents
