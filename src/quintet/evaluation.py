"""Evaluation: every query of a collection is asked, and what is found is kept for the report."""

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from quintet import corpus
from quintet.contracts import HOUSE
from quintet.errors import NotFound, QuintetError, UsageError
from quintet.evaluate.collection import Judged, has_corpus, judged
from quintet.evaluate.collection import documents as corpus_documents
from quintet.evaluate.runs import Asked, Found, Run, asked_for
from quintet.evaluate.trec import read_run
from quintet.index import Index
from quintet.index import open as open_index
from quintet.ingest.run import Progress
from quintet.model import Note, Ranked
from quintet.ports import Counts
from quintet.search.search import Response
from quintet.settings import Settings, load_settings
from quintet.upkeep import STORED

DEPTH = 100  # documents ranked for each query
SHOWN = 3  # results of a query whose evidence is kept for the report, beside the relevant ones


@dataclass(frozen=True, slots=True)
class Request:
    """What to evaluate. `db` is where a corpus is kept, or the index that the judgements are about.

    With `run_files` and no contract nothing is searched.
    """

    folder: Path
    split: str = "test"
    contracts: Sequence[str] = ()
    modes: Sequence[str] = ()
    grid: Mapping[str, Sequence[object]] | None = None
    embedder: str | None = None
    run_files: Sequence[Path] = ()
    db: Path | None = None
    depth: int = DEPTH
    one_run: bool = False  # True: it is an error to ask for several

    @property
    def searches(self) -> bool:
        return bool(self.contracts) or not self.run_files


@dataclass(frozen=True, slots=True)
class _Engine:
    """What is asked, how its results are named in the judgements, and how many chunks it has."""

    search: Callable[[str, str, Mapping[str, object]], Response]
    name: Callable[[Response, Ranked], str]
    counts: Counts
    settings: Settings


def evaluate(
    request: Request, progress: Progress, clock: Callable[[], float] = time.perf_counter
) -> tuple[Judged, list[Run]]:
    """The judgements as results are named in them, and the runs: those searched, then those of files."""
    topics = judged(request.folder, request.split)
    files = [_run_of(file) for file in request.run_files]
    if not request.searches:
        return topics, files
    with _opened(request, topics, progress) as (engine, named, asked):
        return named, [*(_run(engine, one, named, request.depth, progress, clock) for one in asked), *files]


def _run_of(file: Path) -> Run:
    read = read_run(file)
    results = {query: [Found(item, 0.0) for item in items] for query, items in read.rankings.items()}
    return Run(Asked(read.tag), results)


@contextmanager
def _opened(
    request: Request, topics: Judged, progress: Progress
) -> Iterator[tuple[_Engine, Judged, list[Asked]]]:
    """Runs are checked before anything is indexed."""
    if not has_corpus(request.folder):
        assert request.db is not None, "the judgements are about an index"
        wanted = STORED if request.embedder is None else request.embedder
        with open_index(request.db, wanted, create=False) as index:
            asked = _asked(request, index.settings, text_only=index.embedder is None)
            yield (*_folder_index(index, topics), asked)
        return
    settings = load_settings(request.db.absolute().parent if request.db else Path.cwd(), os.environ)
    with corpus.opened(topics.name, request.db, request.embedder, settings) as kept:
        asked = _asked(request, settings, text_only=kept.embedder is None)
        kept.fill(corpus_documents(request.folder), progress)
        if kept.embedder is not None and any(one.needs_vectors for one in asked):
            for text in topics.queries.values():  # beforehand: runs are timed without it
                kept.embedder.embed_query(text)
        yield _Engine(kept.search, _path, kept.counts(), settings), topics, asked


def _asked(request: Request, settings: Settings, *, text_only: bool) -> list[Asked]:
    contracts, grid = request.contracts or (HOUSE,), request.grid or {}
    asked = asked_for(contracts, request.modes, grid, settings.contracts, text_only=text_only)
    if request.one_run and len(asked) + len(request.run_files) > 1:
        raise UsageError(
            f"a run file holds one run, and this would make {len(asked) + len(request.run_files)}; "
            "name one contract, one mode and one value of each parameter"
        )
    return asked


def _run(
    engine: _Engine, asked: Asked, topics: Judged, depth: int, progress: Progress, clock: Callable[[], float]
) -> Run:
    """Ask every query, for as many chunks as `depth` documents have in the mean."""
    spread = max(1, math.ceil(engine.counts.chunks / max(1, engine.counts.documents)))
    params = asked.given(depth * spread, engine.settings.contracts)
    results, remarks, seconds = {}, _Remarks(), 0.0
    for done, (query, text) in enumerate(topics.queries.items(), start=1):
        start = clock()
        try:
            response = engine.search(text, asked.contract, params)
        except QuintetError as error:
            told = f"query {query!r} by {asked.name}: {error.message}"
            raise type(error)(told, code=error.code, details=error.details) from error
        seconds += clock() - start
        remarks.add(response.notes)
        results[query] = _best(engine, response, depth, topics.grades[query])
        progress(asked.name, done, len(topics.queries))
    return Run(asked, results, seconds, remarks.told(asked.name, len(topics.queries)))


def _best(engine: _Engine, response: Response, depth: int, wanted: Mapping[str, int]) -> list[Found]:
    """A document stands where its best chunk does."""
    best: dict[str, Found] = {}
    for item in response.answer.ranked if response.answer else ():
        name = engine.name(response, item)
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
            message, count = self._seen.get(note["code"], (note["message"], 0))
            self._seen[note["code"]] = message, count + 1

    def told(self, run: str, queries: int) -> tuple[Note, ...]:
        return tuple(
            Note(code=code, message=f"{run}, {count} of {queries} queries: {message}")
            for code, (message, count) in self._seen.items()
        )


def _folder_index(index: Index, topics: Judged) -> tuple[_Engine, Judged]:
    """An index of files, and the judgements with each item called as in its results."""
    several = len(index.roots()) > 1
    targets = sorted({item for its in topics.grades.values() for item in its})
    chunks, documents = _targets(index, targets, several=several)
    if chunks and documents:
        raise UsageError(
            f"{min(chunks)!r} is a chunk and {min(documents)!r} a document; "
            "judge the one or the other, not both"
        )
    missing = [target for target in targets if target not in chunks and target not in documents]
    message = f"{len(missing)} of {len(targets)} judged items are not in the index, such as {missing[:1]}"
    notes = (Note(code="not_in_index", message=message),) if missing else ()
    grades = {
        query: {documents.get(item, item): grade for item, grade in its.items()}
        for query, its in topics.grades.items()
    }
    status = index.status()
    engine = _Engine(
        lambda query, contract, params: index.search(query, contract, **params),
        _chunk if chunks else _place if several else _path,
        Counts(status.files, status.chunks, status.embedded),
        index.settings,
    )
    return engine, replace(topics, grades=grades, notes=(*topics.notes, *notes))


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


def _path(response: Response, item: Ranked) -> str:
    assert response.answer is not None
    return response.answer.passages[item.best_chunk].document.path


def _place(response: Response, item: Ranked) -> str:
    assert response.answer is not None
    document = response.answer.passages[item.best_chunk].document
    return f"{document.root}/{document.path}"


def _chunk(response: Response, item: Ranked) -> str:
    return item.best_chunk
