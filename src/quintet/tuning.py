"""Tuning: the house ranking's numbers chosen for an index or a corpus, and kept if the gain is certain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quintet.contracts import HOUSE, contract_named, read
from quintet.contracts.parameters import LIMIT_MAX
from quintet.errors import Conflict, UsageError
from quintet.evaluate.collection import Judged, judged
from quintet.evaluate.metrics import Metric
from quintet.evaluate.tuning import LEAST_QUERIES, Choice, Numbers, Values, candidates, choice
from quintet.evaluation import Engine, Request, opened
from quintet.ingest.run import Progress
from quintet.model import Note
from quintet.tuned import AXES, Step, Tuned

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
        _check_enough(judged(request.folder, request.split))  # before a corpus is indexed
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
        defaults, current = _numbers(axes, {}), _numbers(axes, _table(engine, kept))
        points = candidates(axes, defaults, current)
        found = choice(points, _values(engine, topics, points, progress), current)
        reason = _reason_against(found, len(points), kept, dry_run)
        if kept is not None and reason is None:
            kept.add(_step(found, topics, engine.embedder.identity), steps)
        file = kept.file if kept and reason is None else None
        return Tuning(
            topics.name, len(topics.queries), len(points), found, file, reason, (*topics.notes, *_fixed(axes))
        )


def _check_enough(topics: Judged) -> None:
    if len(topics.queries) < LEAST_QUERIES:
        raise UsageError(
            f"{topics.name} has {len(topics.queries)} queries with something to find; tuning needs at least "
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


def _table(engine: Engine, kept: Tuned | None) -> Mapping[str, object]:
    return (kept.under(engine.settings) if kept else engine.settings).contracts.get(HOUSE, {})


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
    if not found.is_certain:
        what = "lies below zero" if found.gain.interval[1] < 0 else "includes zero"
        return f"the interval of the gain {what}: on other queries the new numbers may be no better"
    if kept is None:
        return "the corpus was indexed for this run only; name a place for it with --db"
    return "--dry-run was given" if dry_run else None


def _step(found: Choice, topics: Judged, embedder: str) -> Step:
    gain = found.gain
    return Step(found.after, topics.name, len(topics.queries), embedder, gain.difference, gain.interval)
