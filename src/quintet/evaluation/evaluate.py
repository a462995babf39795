"""Search for every query of a collection with every ranking, and keep the results for the report."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from quintet.contracts import HOUSE
from quintet.errors import QuintetError
from quintet.evaluation.backends import Backends
from quintet.evaluation.beir import JudgedQueries, read_judged_queries
from quintet.evaluation.calibration import CalibrationPoint
from quintet.evaluation.confidence_points import calibration_points
from quintet.evaluation.counting import Counting
from quintet.evaluation.open_searcher import open_own_index, open_searcher, own_questions
from quintet.evaluation.rankings import RankingSpec, RunResult, SearchRun
from quintet.evaluation.request import Request
from quintet.evaluation.searcher import Searcher
from quintet.evaluation.trec import read_run
from quintet.indexing.run import Progress
from quintet.model.documents import Passage
from quintet.model.results import Note
from quintet.query.search import Response

EXPLAINED = 3  # results of a query whose evidence is kept for the report, besides the relevant ones


def evaluate(
    request: Request,
    backends: Backends,
    progress: Progress,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[JudgedQueries, list[SearchRun]]:
    """The queries with judgements, and the runs: those that were searched, then those of files."""
    files = [_run_from_file(file, request.counting) for file in request.run_files]
    if not request.searches:
        return _queries_alone(request, backends, progress), files
    with open_searcher(request, backends, progress) as (searcher, queries, specs):
        runs = [run_queries(searcher, spec, queries, request.depth, progress, clock) for spec in specs]
        return queries, [*runs, *files]


def _queries_alone(request: Request, backends: Backends, progress: Progress) -> JudgedQueries:
    if request.folder is not None:
        return read_judged_queries(request.folder, request.split)
    with open_own_index(request, backends) as (index, _):
        return own_questions(request, index, backends, progress).judged


def _run_from_file(file: Path, counting: Counting) -> SearchRun:
    """The run of any tool. Its items are taken as they are, whatever the unit."""
    run = read_run(file)
    results = {
        query: [RunResult(item, 0.0) for item in items if not (counting.drop_own and item == query)]
        for query, items in run.rankings.items()
    }
    return SearchRun(RankingSpec(run.tag), results)


def run_queries(
    searcher: Searcher,
    spec: RankingSpec,
    queries: JudgedQueries,
    depth: int,
    progress: Progress,
    clock: Callable[[], float],
) -> SearchRun:
    """Search for every query, deep enough for `depth` results of an average number of chunks."""
    results, notes, seconds, points = {}, _NoteCounts(), 0.0, list[CalibrationPoint]()
    defaults = searcher.settings.contracts.get(spec.contract, {})
    for done, (query, text) in enumerate(queries.queries.items(), start=1):
        params = spec.parameters(searcher.limit(query, depth), searcher.settings.contracts)
        search = partial(searcher.search, text, spec.contract)
        start = clock()
        try:
            response = search(params)
        except QuintetError as error:
            message = f"query {query!r} by {spec.name}: {error.message}"
            raise type(error)(message, code=error.code, details=error.details) from error
        seconds += clock() - start
        notes.add([*response.notes, *_documents_only(searcher, query, response)])
        results[query] = _best_results(searcher, query, response, depth, queries.grades[query])
        if not searcher.counting.drop_own:  # confidence is about the first result, which may be dropped
            is_relevant = partial(_is_relevant, searcher, query, queries.grades[query])
            points += calibration_points(search, {**defaults, **params}, response, is_relevant)
        progress(spec.name, done, len(queries.queries))
    all_notes = (*_tuned_note(searcher, spec), *notes.notes(spec.name, len(queries.queries)))
    return SearchRun(spec, results, seconds, all_notes, tuple(points))


def _tuned_note(searcher: Searcher, spec: RankingSpec) -> Iterator[Note]:
    """The tuned numbers that took part, unless the run or the settings overrule them."""
    step = searcher.tuned() if spec.contract == HOUSE else None
    if step is None:
        return
    overruled = {*spec.params, *searcher.settings.contracts.get(HOUSE, {})}
    used = ", ".join(f"{name} {value:g}" for name, value in step.numbers.items() if name not in overruled)
    if used:
        message = f"{spec.name}: with numbers tuned by {step.queries} queries of {step.dataset}: {used}"
        yield Note(code="tuned", message=message)


def _is_relevant(searcher: Searcher, query: str, grades: Mapping[str, int], passage: Passage) -> bool:
    return grades.get(searcher.name(query, passage), 0) > 0


def _documents_only(searcher: Searcher, query: str, response: Response) -> Iterator[Note]:
    """A ranking of documents shows one passage of each, which may not be the one that was judged."""
    grouped = response.trace is not None and response.trace.plan.profile.unit == "document"
    if grouped and not searcher.by_document(query):
        message = "one passage of each document is shown, and only that one counts (see group_by of harness)"
        yield Note(code="documents_only", message=message)


def _best_results(
    searcher: Searcher, query: str, response: Response, depth: int, grades: Mapping[str, int]
) -> list[RunResult]:
    """The results that take a place, each at the rank of its best chunk."""
    best: dict[str, RunResult] = {}
    answer = response.answer
    if answer is None:
        return []
    for item in answer.ranked:
        passage = answer.passages[item.best_chunk]
        if searcher.is_dropped(query, passage):
            continue
        name = searcher.name(query, passage)
        if name in best and searcher.counting.unit == "chunk":
            name = passage.chunk.id  # takes a place, and has no grade
        if name not in best:
            explained = len(best) < EXPLAINED or name in grades
            best[name] = RunResult(name, item.score, dict(item.evidence) if explained else {})
        if len(best) == depth:
            break
    return list(best.values())


class _NoteCounts:
    """The notes of searches, each once with the number of its queries."""

    def __init__(self) -> None:
        self._messages: dict[str, tuple[str, int]] = {}

    def add(self, notes: Sequence[Note]) -> None:
        for note in notes:
            if note["code"] == "low_confidence":  # the report has every confidence
                continue
            message, count = self._messages.get(note["code"], (note["message"], 0))
            self._messages[note["code"]] = message, count + 1

    def notes(self, run: str, queries: int) -> tuple[Note, ...]:
        return tuple(
            Note(code=code, message=f"{run}, {count} of {queries} queries: {message}")
            for code, (message, count) in self._messages.items()
        )
