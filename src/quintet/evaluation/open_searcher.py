"""Open what a request is about: a corpus, an index, or a copy of an index without its questions."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quintet.contracts import HOUSE
from quintet.errors import UsageError
from quintet.evaluation.backends import Backends, OpenIndex
from quintet.evaluation.beir import (
    JudgedQueries,
    check_against_corpus,
    corpus_documents,
    has_corpus,
    read_judged_queries,
)
from quintet.evaluation.corpus import Corpus, copy_without_questions, open_corpus
from quintet.evaluation.counting import Counting
from quintet.evaluation.questions.generate import GeneratedQuestions, generate_questions
from quintet.evaluation.rankings import RankingSpec, ranking_specs
from quintet.evaluation.request import Request
from quintet.evaluation.searcher import Searcher, corpus_searcher, index_searcher
from quintet.indexing.run import Progress
from quintet.ports.reading import Embedder
from quintet.settings import Settings, load_settings

Opened = tuple[Searcher, JudgedQueries, list[RankingSpec]]


@contextmanager
def open_searcher(request: Request, backends: Backends, progress: Progress) -> Iterator[Opened]:
    """The searcher, the queries with judgements that name its results, and the rankings to measure.

    Rankings are checked before anything is indexed.
    """
    if request.folder is None:
        with open_own_index(request, backends) as (index, embedder):
            specs = _specs(request, index.settings, text_only=embedder is None)
            questions = own_questions(request, index, backends, progress)
            with held_out(index, questions, embedder, backends, progress, request.counting) as searcher:
                yield searcher, questions.judged, specs
        return
    queries = read_judged_queries(request.folder, request.split)
    if has_corpus(request.folder):
        with _open_collection(request, request.folder, queries, backends, progress) as opened:
            yield opened
        return
    assert request.db is not None, "the judgements are about an index"
    named = () if request.embedder is None else (request.embedder,)
    with backends.open_index(request.db, *named, create=False) as index:
        specs = _specs(request, index.settings, text_only=index.embedder is None)
        yield (*index_searcher(index, queries, backends, request.counting), specs)


@contextmanager
def _open_collection(
    request: Request, folder: Path, queries: JudgedQueries, backends: Backends, progress: Progress
) -> Iterator[Opened]:
    settings = load_settings(request.db.absolute().parent if request.db else Path.cwd(), os.environ)
    with open_corpus(queries.name, request.db, request.embedder, settings, backends) as corpus:
        specs = _specs(request, settings, text_only=corpus.embedder is None)
        queries = check_against_corpus(queries, folder)
        corpus.fill(corpus_documents(folder), progress)
        if any(spec.needs_vectors for spec in specs):
            _embed_queries(corpus, queries)
        yield corpus_searcher(corpus, settings, request.counting), queries, specs


@contextmanager
def open_own_index(request: Request, backends: Backends) -> Iterator[tuple[OpenIndex, Embedder | None]]:
    """The index, and the embedder to measure it with, which need not be that of its vectors."""
    assert request.db is not None, "the questions are about an index"
    if request.embedder is None:
        with backends.open_index(request.db, create=False) as index:
            yield index, index.embedder
        return
    embedder = backends.load_embedder(request.embedder, None)
    try:
        with backends.open_index(request.db, None, create=False) as index:
            yield index, embedder
    finally:
        getattr(embedder, "close", lambda: None)()


def own_questions(
    request: Request, index: OpenIndex, backends: Backends, progress: Progress
) -> GeneratedQuestions:
    by_file = request.counting.unit == "file"
    return generate_questions(index, backends, request.questions, progress=progress, by_file=by_file)


@contextmanager
def held_out(
    index: OpenIndex,
    questions: GeneratedQuestions,
    embedder: Embedder | None,
    backends: Backends,
    progress: Progress,
    counting: Counting,
) -> Iterator[Searcher]:
    """A searcher for generated questions: a copy of the index that holds none of them.

    Queries are embedded beforehand. Files on disk are not compared, so everything indexed counts as fresh.
    """
    with copy_without_questions(index, questions, embedder, backends, progress) as copy:
        _embed_queries(copy, questions.judged)
        whole_files = questions.whole_files.__contains__
        yield corpus_searcher(copy, index.settings, counting, questions.name, whole_files)


def _embed_queries(corpus: Corpus, queries: JudgedQueries) -> None:
    """Beforehand, so that the time of a run does not include it."""
    if corpus.embedder is not None:
        for text in queries.queries.values():
            corpus.embedder.embed_query(text)


def _specs(request: Request, settings: Settings, *, text_only: bool) -> list[RankingSpec]:
    contracts, grid = request.contracts or (HOUSE,), request.grid or {}
    specs = ranking_specs(contracts, request.modes, grid, settings.contracts, text_only=text_only)
    count = len(specs) + len(request.run_files)
    if request.one_run and count > 1:
        raise UsageError(
            f"a run file holds one run, and this would make {count}; "
            "name one contract, one mode and one value of each parameter"
        )
    return specs
