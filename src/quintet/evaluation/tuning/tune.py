"""Tuning: the house ranking's numbers chosen for an index or a corpus, and kept if they gain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quintet.contracts import HOUSE, contract_named, read
from quintet.errors import Conflict, UsageError
from quintet.evaluation.evaluate import Engine, Request, opened
from quintet.evaluation.judgements import Judged, has_corpus, in_corpus, judged
from quintet.evaluation.metrics import Metric
from quintet.evaluation.tuning.selection import LEAST_QUERIES, Choice, Numbers, Values, candidates, choice
from quintet.evaluation.tuning.tuned import AXES, Step, Tuned
from quintet.indexing.run import Progress
from quintet.model.parameters import LIMIT_MAX
from quintet.model.results import Note
from quintet.settings import Settings

METRIC = Metric.named("ndcg@10")
PAGE = 10  # results, as many as a search shows by itself


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was found out. `file` is where the numbers were written; without one, `reason` says why not."""

    dataset: str
    queries: int
    combinations: int
    choice: Choice
    file: Path | None
    reason: str | None
    notes: tuple[Note, ...]


def tune(request: Request, progress: Progress, *, dry_run: bool = False) -> Tuning:
    """Tune what `request.db` holds: an index, or a corpus, which is kept only where that is named."""
    if request.folder is not None:
        _check_enough(_there(request.folder, request.split))  # before a corpus is indexed
    with opened(replace(request, contracts=(HOUSE,), modes=("hybrid",)), progress) as (engine, topics, _):
        _check_enough(topics)
        if engine.embedder is None or not engine.counts.embedded:
            raise Conflict(
                "these numbers weigh words against meaning, and nothing is embedded here; "
                "run 'quintet index --reembed NAME' first"
            )
        kept = Tuned(request.db.absolute()) if request.db is not None else None
        steps = kept.steps() if kept else ()
        axes = _free(engine)
        settings, ignored = _in_use(engine, kept)
        defaults, current = _numbers(axes, {}), _numbers(axes, settings.contracts.get(HOUSE, {}))
        points = candidates(axes, defaults, current)
        found = choice(points, _values(engine, topics, points, progress), current)
        reason = _reason_against(found, len(points), kept, dry_run)
        if kept is not None and reason is None:
            kept.add(_step(found, topics, engine.embedder.identity), steps)
        file = kept.file if kept and reason is None else None
        unknown = _confidence_unknown() if file and found.after != defaults else ()
        notes = (*topics.notes, *ignored, *_fixed(axes), *unknown)
        return Tuning(topics.name, len(topics.queries), len(points), found, file, reason, notes)


def _there(folder: Path, split: str) -> Judged:
    topics = judged(folder, split)
    return in_corpus(topics, folder) if has_corpus(folder) else topics


def _check_enough(topics: Judged) -> None:
    count, missing = topics.answerable(), len(topics.missing)
    if count < LEAST_QUERIES:
        where = f" there, as {missing} of {len(topics.items())} judged items are missing" if missing else ""
        raise UsageError(
            f"{topics.name} has {count} queries with something to find{where}; tuning needs at least "
            f"{LEAST_QUERIES} to tell a gain from chance, so nothing was tried"
        )


def _free(engine: Engine) -> Mapping[str, Sequence[float]]:
    """The numbers that quintet.toml leaves open: it would hide what is tuned."""
    taken = engine.settings.contracts.get(HOUSE, {})
    free = {name: axis for name, axis in AXES.items() if name not in taken}
    if not free:
        raise UsageError(
            f"[contracts.{HOUSE}] of quintet.toml sets {', '.join(AXES)}, and comes before what is tuned; "
            "remove those that are to be tuned"
        )
    return free


def _fixed(free: Mapping[str, object]) -> tuple[Note, ...]:
    fixed = [name for name in AXES if name not in free]
    message = f"not tuned, because quintet.toml sets it: {', '.join(fixed)}"
    return (Note(code="fixed_by_settings", message=message),) if fixed else ()


def _confidence_unknown() -> tuple[Note, ...]:
    message = "confidence was fitted with the default numbers; with tuned ones it is not known, and null"
    return (Note(code="confidence_unknown", message=message),)


def _in_use(engine: Engine, kept: Tuned | None) -> tuple[Settings, tuple[Note, ...]]:
    identity = engine.embedder.identity if engine.embedder else None
    return kept.under(engine.settings, HOUSE, identity) if kept else (engine.settings, ())


def _numbers(axes: Mapping[str, object], table: Mapping[str, object]) -> dict[str, float]:
    params = read(HOUSE, contract_named(HOUSE).parameters, {}, table)
    return {name: getattr(params, name) for name in axes}


def _values(engine: Engine, topics: Judged, points: Sequence[Numbers], progress: Progress) -> Values:
    values = {}
    for done, (query, text) in enumerate(topics.queries.items(), start=1):
        limit = min(PAGE * engine.spread(query), LIMIT_MAX)
        found = engine.tried(text, [{**point, "mode": "hybrid", "limit": limit} for point in points])
        names = {chunk_id: engine.name(query, passage) for chunk_id, passage in found.passages.items()}
        worth: dict[tuple[str, ...], float] = {}  # most numbers give one of a few rankings
        for ranking in map(tuple, found.rankings):
            if ranking not in worth:
                items = list(dict.fromkeys(names[chunk_id] for chunk_id in ranking))
                worth[ranking] = METRIC(items, topics.grades[query])
        values[query] = [worth[tuple(ranking)] for ranking in found.rankings]
        progress("trying", done, len(topics.queries))
    return values


def _reason_against(found: Choice, points: int, kept: Tuned | None, dry_run: bool) -> str | None:
    if found.after == found.before:
        return f"the numbers in use are the best of {points} combinations"
    if not found.is_beyond_chance:
        what = "lies below zero" if found.gain.interval[1] < 0 else "includes zero"
        return f"the interval of the gain {what}: on other queries the new numbers may be no better"
    if kept is None:
        return "the corpus was indexed for this run only; name a place for it with --db"
    return "--dry-run was given" if dry_run else None


def _step(found: Choice, topics: Judged, embedder: str) -> Step:
    gain = found.gain
    return Step(found.after, topics.name, len(topics.queries), embedder, gain.difference, gain.interval)
