"""Evaluation: every query of a collection is asked, and what is found is kept for the report."""

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from quintet.contracts import HOUSE
from quintet.embed import STORED, load_embedder
from quintet.errors import NotFound, QuintetError, UsageError
from quintet.evaluation import corpus
from quintet.evaluation.calibration import Outcome
from quintet.evaluation.judgements import Judged, has_corpus, in_corpus, judged
from quintet.evaluation.judgements import documents as corpus_documents
from quintet.evaluation.questions import QUESTIONS, OwnQuestions, own_questions
from quintet.evaluation.runs import Asked, Found, Run, asked_for
from quintet.evaluation.trec import read_run
from quintet.evaluation.tuning.tuned import Step
from quintet.evaluation.unanswerable import asked_twice
from quintet.index import Index
from quintet.index import open as open_index
from quintet.indexing.run import Progress
from quintet.model.documents import Passage
from quintet.model.results import Note
from quintet.ports.reading import Counts, Embedder
from quintet.query.search import Response
from quintet.query.trials import Trials
from quintet.settings import Settings, load_settings

DEPTH = 100  # documents ranked for each query
SHOWN = 3  # results of a query whose evidence is kept for the report, beside the relevant ones


@dataclass(frozen=True, slots=True)
class Request:
    """What to evaluate. `db` is where a corpus is kept, or the index that the judgements are about.

    Without a folder the index is asked its own `questions`, at most so many. With `run_files` and no
    contract nothing is searched.
    """

    folder: Path | None
    split: str = "test"
    contracts: Sequence[str] = ()
    modes: Sequence[str] = ()
    grid: Mapping[str, Sequence[object]] | None = None
    embedder: str | None = None
    run_files: Sequence[Path] = ()
    db: Path | None = None
    depth: int = DEPTH
    one_run: bool = False  # True: it is an error to ask for several
    questions: int = QUESTIONS

    @property
    def searches(self) -> bool:
        return bool(self.contracts) or not self.run_files


def _always(query: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Engine:
    """What is asked, how a result of a query is named in the judgements, and how many chunks there are.

    `by_document` says of a query whether its results count as documents, as they do in a collection;
    `tuned`, which tuned numbers the house contract uses.
    """

    search: Callable[[str, str, Mapping[str, object]], Response]
    tried: Callable[[str, Sequence[Mapping[str, object]]], Trials]
    name: Callable[[str, Passage], str]
    counts: Counts
    settings: Settings
    embedder: Embedder | None
    tuned: Callable[[], Step | None]
    by_document: Callable[[str], bool] = _always

    def spread(self, query: str) -> int:
        """How many chunks a result has in the mean."""
        many = math.ceil(self.counts.chunks / max(1, self.counts.documents))
        return max(1, many) if self.by_document(query) else 1


def evaluate(
    request: Request, progress: Progress, clock: Callable[[], float] = time.perf_counter
) -> tuple[Judged, list[Run]]:
    """The judgements as results are named in them, and the runs: those searched, then those of files."""
    files = [_run_of(file) for file in request.run_files]
    if not request.searches:
        return _only_judged(request, progress), files
    with opened(request, progress) as (engine, topics, asked):
        return topics, [*_runs(engine, asked, topics, request.depth, progress, clock), *files]


def _only_judged(request: Request, progress: Progress) -> Judged:
    if request.folder is not None:
        return judged(request.folder, request.split)
    with _own_index(request) as (index, _):
        return own_questions(index, request.questions, progress=progress).judged


@contextmanager
def opened(request: Request, progress: Progress) -> Iterator[tuple[Engine, Judged, list[Asked]]]:
    """What is asked, the judgements as its results are named in them, and the runs that are wanted."""
    if request.folder is not None:
        topics = judged(request.folder, request.split)
        with _opened(request, request.folder, topics, progress) as found:
            yield found
        return
    with _own_index(request) as (index, embedder):
        asked = _asked(request, index.settings, text_only=embedder is None)
        own = own_questions(index, request.questions, progress=progress)
        with held_out(index, own, embedder, progress) as engine:
            yield engine, own.judged, asked


@contextmanager
def _own_index(request: Request) -> Iterator[tuple[Index, Embedder | None]]:
    """The index, and the embedder to measure it with, which need not be that of its vectors."""
    assert request.db is not None, "the questions are about an index"
    if request.embedder is None:
        with open_index(request.db, STORED, create=False) as index:
            yield index, index.embedder
        return
    embedder = load_embedder(request.embedder)
    try:
        with open_index(request.db, None, create=False) as index:
            yield index, embedder
    finally:
        getattr(embedder, "close", lambda: None)()


@contextmanager
def held_out(
    index: Index, own: OwnQuestions, embedder: Embedder | None, progress: Progress
) -> Iterator[Engine]:
    """What an index's own questions are asked of: a copy of the index that holds none of them.

    The queries are embedded beforehand, and files are not looked at: all that is indexed counts as fresh.
    """
    with corpus.copied(index, own, embedder, progress) as copy:
        _embed_queries(copy, own.judged)
        by_document = own.whole_files.__contains__
        yield Engine(
            copy.search,
            copy.tried,
            own.name,
            copy.counts(),
            index.settings,
            copy.embedder,
            copy.tuned_step,
            by_document,
        )


def _embed_queries(kept: corpus.Corpus, topics: Judged) -> None:
    """Beforehand: runs are timed without it."""
    if kept.embedder is not None:
        for text in topics.queries.values():
            kept.embedder.embed_query(text)


def _run_of(file: Path) -> Run:
    read = read_run(file)
    results = {query: [Found(item, 0.0) for item in items] for query, items in read.rankings.items()}
    return Run(Asked(read.tag), results)


@contextmanager
def _opened(
    request: Request, folder: Path, topics: Judged, progress: Progress
) -> Iterator[tuple[Engine, Judged, list[Asked]]]:
    """Runs are checked before anything is indexed."""
    if not has_corpus(folder):
        assert request.db is not None, "the judgements are about an index"
        wanted = STORED if request.embedder is None else request.embedder
        with open_index(request.db, wanted, create=False) as index:
            asked = _asked(request, index.settings, text_only=index.embedder is None)
            yield (*_folder_index(index, topics), asked)
        return
    settings = load_settings(request.db.absolute().parent if request.db else Path.cwd(), os.environ)
    with corpus.opened(topics.name, request.db, request.embedder, settings) as kept:
        asked = _asked(request, settings, text_only=kept.embedder is None)
        topics = in_corpus(topics, folder)
        kept.fill(corpus_documents(folder), progress)
        if any(one.needs_vectors for one in asked):
            _embed_queries(kept, topics)
        engine = Engine(
            kept.search, kept.tried, _path, kept.counts(), settings, kept.embedder, kept.tuned_step
        )
        yield engine, topics, asked


def _asked(request: Request, settings: Settings, *, text_only: bool) -> list[Asked]:
    contracts, grid = request.contracts or (HOUSE,), request.grid or {}
    asked = asked_for(contracts, request.modes, grid, settings.contracts, text_only=text_only)
    if request.one_run and len(asked) + len(request.run_files) > 1:
        raise UsageError(
            f"a run file holds one run, and this would make {len(asked) + len(request.run_files)}; "
            "name one contract, one mode and one value of each parameter"
        )
    return asked


def _runs(
    engine: Engine,
    asked: Sequence[Asked],
    topics: Judged,
    depth: int,
    progress: Progress,
    clock: Callable[[], float],
) -> Iterator[Run]:
    for one in asked:
        yield ask_all(engine, one, topics, depth, progress, clock)


def ask_all(
    engine: Engine, asked: Asked, topics: Judged, depth: int, progress: Progress, clock: Callable[[], float]
) -> Run:
    """Ask every query, for as many chunks as `depth` results have in the mean."""
    results, remarks, seconds, outcomes = {}, _Remarks(), 0.0, list[Outcome]()
    usual = engine.settings.contracts.get(asked.contract, {})
    for done, (query, text) in enumerate(topics.queries.items(), start=1):
        params = asked.given(depth * engine.spread(query), engine.settings.contracts)
        ask = partial(engine.search, text, asked.contract)
        start = clock()
        try:
            response = ask(params)
        except QuintetError as error:
            told = f"query {query!r} by {asked.name}: {error.message}"
            raise type(error)(told, code=error.code, details=error.details) from error
        seconds += clock() - start
        remarks.add([*response.notes, *_documents_only(engine, query, response)])
        results[query] = _best(engine, query, response, depth, topics.grades[query])
        relevant = partial(_is_relevant, engine, query, topics.grades[query])
        outcomes += asked_twice(ask, {**usual, **params}, response, relevant)
        progress(asked.name, done, len(topics.queries))
    notes = (*_tuned(engine, asked), *remarks.told(asked.name, len(topics.queries)))
    return Run(asked, results, seconds, notes, tuple(outcomes))


def _tuned(engine: Engine, asked: Asked) -> Iterator[Note]:
    """Which tuned numbers took part: neither the run nor the settings say anything else."""
    step = engine.tuned() if asked.contract == HOUSE else None
    if step is None:
        return
    said = {*asked.params, *engine.settings.contracts.get(HOUSE, {})}
    used = ", ".join(f"{name} {value:g}" for name, value in step.numbers.items() if name not in said)
    if used:
        message = f"{asked.name}: with numbers tuned by {step.queries} queries of {step.dataset}: {used}"
        yield Note(code="tuned", message=message)


def _is_relevant(engine: Engine, query: str, wanted: Mapping[str, int], passage: Passage) -> bool:
    return wanted.get(engine.name(query, passage), 0) > 0


def _documents_only(engine: Engine, query: str, response: Response) -> Iterator[Note]:
    """A ranking of documents shows one passage of each, which need not be the one that is meant."""
    grouped = response.trace is not None and response.trace.plan.profile.unit == "document"
    if grouped and not engine.by_document(query):
        message = "one passage of each document is shown, and only that one counts (see group_by of harness)"
        yield Note(code="documents_only", message=message)


def _best(
    engine: Engine, query: str, response: Response, depth: int, wanted: Mapping[str, int]
) -> list[Found]:
    """A document stands where its best chunk does."""
    best: dict[str, Found] = {}
    answer = response.answer
    if answer is None:
        return []
    for item in answer.ranked:
        name = engine.name(query, answer.passages[item.best_chunk])
        if name not in best:
            explained = len(best) < SHOWN or name in wanted
            best[name] = Found(name, item.score, dict(item.evidence) if explained else {})
        if len(best) == depth:
            break
    return list(best.values())


class _Remarks:
    """The notes of searches, each once with how many queries it was about."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, int]] = {}

    def add(self, notes: Sequence[Note]) -> None:
        for note in notes:
            if note["code"] == "low_confidence":  # the report has every confidence
                continue
            message, count = self._seen.get(note["code"], (note["message"], 0))
            self._seen[note["code"]] = message, count + 1

    def told(self, run: str, queries: int) -> tuple[Note, ...]:
        return tuple(
            Note(code=code, message=f"{run}, {count} of {queries} queries: {message}")
            for code, (message, count) in self._seen.items()
        )


def _folder_index(index: Index, topics: Judged) -> tuple[Engine, Judged]:
    """An index of files, and the judgements with each item called as in its results."""
    several = len(index.roots()) > 1
    targets = topics.items()
    chunks, documents = _targets(index, targets, several=several)
    if chunks and documents:
        raise UsageError(
            f"{min(chunks)!r} is a chunk and {min(documents)!r} a document; "
            "judge the one or the other, not both"
        )
    missing = [target for target in targets if target not in chunks and target not in documents]
    topics = topics.without(missing, "index")
    grades = {
        query: {documents.get(item, item): grade for item, grade in its.items()}
        for query, its in topics.grades.items()
    }
    status = index.status()
    engine = Engine(
        lambda query, contract, params: index.search(query, contract, **params),
        index.tried,
        _chunk if chunks else _place if several else _path,
        Counts(status.files, status.chunks, status.embedded),
        index.settings,
        index.embedder,
        lambda: index.tuned.step_for(status.embedder),
    )
    return engine, replace(topics, grades=grades)


def _targets(index: Index, targets: Sequence[str], *, several: bool) -> tuple[set[str], dict[str, str]]:
    """Which of them are chunks, and what results call those that are documents."""
    chunks, documents = set[str](), dict[str, str]()
    for target in targets:
        try:
            passages = index.get(target)
        except NotFound:
            continue
        if passages and passages[0].chunk.id == target:
            chunks.add(target)
        elif passages:
            document = passages[0].document
            documents[target] = f"{document.root}/{document.path}" if several else document.path
    return chunks, documents


def _path(query: str, passage: Passage) -> str:
    return passage.document.path


def _place(query: str, passage: Passage) -> str:
    return f"{passage.document.root}/{passage.document.path}"


def _chunk(query: str, passage: Passage) -> str:
    return passage.chunk.id
