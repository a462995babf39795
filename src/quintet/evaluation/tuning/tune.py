"""Tuning: choose the numbers of the house ranking for an index or a corpus, and keep them if they gain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quintet.contracts import HOUSE, contract_named, read
from quintet.errors import Conflict, UsageError
from quintet.evaluation.backends import Backends
from quintet.evaluation.beir import JudgedQueries, check_against_corpus, has_corpus, read_judged_queries
from quintet.evaluation.metrics import Metric
from quintet.evaluation.open_searcher import open_searcher
from quintet.evaluation.request import Request
from quintet.evaluation.searcher import Searcher
from quintet.evaluation.tuning.selection import (
    LEAST_QUERIES,
    CandidateValues,
    Choice,
    Numbers,
    candidates,
    choose,
)
from quintet.evaluation.tuning.tuned_numbers import AXES, TunedNumbers, TunedStep
from quintet.indexing.run import Progress
from quintet.model.parameters import LIMIT_MAX
from quintet.model.results import Note
from quintet.settings import Settings

METRIC = Metric.named("ndcg@10")
PAGE = 10  # results, the default of a search


@dataclass(frozen=True, slots=True)
class TuningResult:
    """`file` holds the new numbers; if it is None, `reason` says why they were not written."""

    dataset: str
    queries: int
    combinations: int
    choice: Choice
    file: Path | None
    reason: str | None
    notes: tuple[Note, ...]


def tune(request: Request, backends: Backends, progress: Progress, *, dry_run: bool = False) -> TuningResult:
    """Tune the index or corpus in `request.db`. A corpus without a folder is measured, but not kept."""
    if request.folder is not None:
        _check_enough(_queries_of(request.folder, request.split))  # before a corpus is indexed
    request = replace(request, contracts=(HOUSE,), modes=("hybrid",))
    with open_searcher(request, backends, progress) as (searcher, queries, _):
        _check_enough(queries)
        if searcher.embedder is None or not searcher.counts.embedded:
            raise Conflict(
                "these numbers weigh words against meaning, but this index has no vectors; "
                "run 'quintet index --reembed --embedder NAME' first"
            )
        tuned = TunedNumbers(request.db.absolute()) if request.db is not None else None
        steps = tuned.steps() if tuned else ()
        axes = _free_axes(searcher)
        settings, ignored = _settings_in_use(searcher, tuned)
        defaults, current = _numbers(axes, {}), _numbers(axes, settings.contracts.get(HOUSE, {}))
        points = candidates(axes, defaults, current)
        choice = choose(points, _values(searcher, queries, points, progress), current)
        reason = _reason_against(choice, len(points), tuned, dry_run)
        if tuned is not None and reason is None:
            tuned.add(_step(choice, queries, searcher.embedder.identity), steps)
        file = tuned.file if tuned and reason is None else None
        unknown = _confidence_unknown() if file and choice.after != defaults else ()
        notes = (*queries.notes, *ignored, *_fixed(axes), *unknown)
        return TuningResult(queries.name, len(queries.queries), len(points), choice, file, reason, notes)


def _queries_of(folder: Path, split: str) -> JudgedQueries:
    queries = read_judged_queries(folder, split)
    return check_against_corpus(queries, folder) if has_corpus(folder) else queries


def _check_enough(queries: JudgedQueries) -> None:
    count, missing = queries.answerable(), len(queries.missing)
    if count < LEAST_QUERIES:
        where = (
            f" there, because {missing} of {len(queries.items())} judged items are missing" if missing else ""
        )
        raise UsageError(
            f"{queries.name} has {count} queries with a relevant document{where}; tuning needs at least "
            f"{LEAST_QUERIES} to tell a gain from chance, so nothing was tried"
        )


def _free_axes(searcher: Searcher) -> Mapping[str, Sequence[float]]:
    """The numbers that quintet.toml does not set: what it sets would hide the tuned ones."""
    taken = searcher.settings.contracts.get(HOUSE, {})
    free = {name: axis for name, axis in AXES.items() if name not in taken}
    if not free:
        raise UsageError(
            f"[contracts.{HOUSE}] of quintet.toml sets {', '.join(AXES)}, which overrule tuned numbers; "
            "remove those that you want to tune"
        )
    return free


def _fixed(free: Mapping[str, object]) -> tuple[Note, ...]:
    fixed = [name for name in AXES if name not in free]
    message = f"not tuned, because quintet.toml sets it: {', '.join(fixed)}"
    return (Note(code="fixed_by_settings", message=message),) if fixed else ()


def _confidence_unknown() -> tuple[Note, ...]:
    message = "confidence was fitted with the default numbers; with tuned ones it is unknown, and null"
    return (Note(code="confidence_unknown", message=message),)


def _settings_in_use(searcher: Searcher, tuned: TunedNumbers | None) -> tuple[Settings, tuple[Note, ...]]:
    identity = searcher.embedder.identity if searcher.embedder else None
    return tuned.apply_to(searcher.settings, HOUSE, identity) if tuned else (searcher.settings, ())


def _numbers(axes: Mapping[str, object], table: Mapping[str, object]) -> dict[str, float]:
    params = read(HOUSE, contract_named(HOUSE).parameters, {}, table)
    return {name: getattr(params, name) for name in axes}


def _values(
    searcher: Searcher, queries: JudgedQueries, points: Sequence[Numbers], progress: Progress
) -> CandidateValues:
    values = {}
    for done, (query, text) in enumerate(queries.queries.items(), start=1):
        limit = min(searcher.limit(query, PAGE), LIMIT_MAX)
        trials = searcher.tried(text, [{**point, "mode": "hybrid", "limit": limit} for point in points])
        names = {chunk_id: searcher.name(query, passage) for chunk_id, passage in trials.passages.items()}
        metric: dict[tuple[str, ...], float] = {}  # most numbers give one of a few rankings
        for ranking in map(tuple, trials.rankings):
            if ranking not in metric:
                items = list(dict.fromkeys(names[chunk_id] for chunk_id in ranking))
                metric[ranking] = METRIC(items, queries.grades[query])
        values[query] = [metric[tuple(ranking)] for ranking in trials.rankings]
        progress("trying", done, len(queries.queries))
    return values


def _reason_against(choice: Choice, points: int, tuned: TunedNumbers | None, dry_run: bool) -> str | None:
    if choice.after == choice.before:
        return f"the numbers in use are the best of {points} combinations"
    if not choice.is_beyond_chance:
        what = "lies below zero" if choice.gain.interval[1] < 0 else "includes zero"
        return f"the interval of the gain {what}: on other queries the new numbers may be no better"
    if tuned is None:
        return "the corpus was indexed for this run only; name a folder for it with --db"
    return "--dry-run was given" if dry_run else None


def _step(choice: Choice, queries: JudgedQueries, embedder: str) -> TunedStep:
    gain = choice.gain
    return TunedStep(
        choice.after, queries.name, len(queries.queries), embedder, gain.difference, gain.interval
    )
