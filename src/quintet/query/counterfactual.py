"""Which single parameter, changed as little as possible, would bring a chunk into the results. Each change is
tried by a real search."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from quintet.errors import QuintetError
from quintet.model.documents import Json
from quintet.query.search import Response, Trace

MODES = ("hybrid", "lexical", "keyword", "semantic")
Ask = Callable[[Mapping[str, object]], Response]


def changes(
    trace: Trace, item_in: Callable[[Response], int | None], ask: Ask, floors: Mapping[str, float]
) -> list[dict[str, Json]]:
    """The smallest change of each parameter that brings the chunk in, the smallest of all first.

    `floors` holds the chunk's own scores by the parameter that cuts scores off.
    """
    results = []
    for name, steps in _steps(trace, floors):
        change = _smallest(trace, name, steps, item_in, ask)
        if change is not None:
            results.append(change)
    return sorted(results, key=lambda change: (change.pop("size"), str(change["parameter"])))


def _steps(trace: Trace, floors: Mapping[str, float]) -> Iterator[tuple[str, list[Any]]]:
    """For each parameter worth trying, other values of it, the nearest first."""
    current = trace.params
    limit = trace.contract.limit
    yield limit, _doubled(getattr(current, limit), 1_000)
    for name in ("semantic_k", "lexical_k", "candidate_k_keyword", "candidate_k_vector"):
        if hasattr(current, name):
            yield name, _doubled(getattr(current, name), 10_000)
    if hasattr(current, "hybrid_alpha"):
        alpha = 0.5 if current.hybrid_alpha is None else current.hybrid_alpha
        tenths = (tenth / 10 for tenth in range(11) if tenth / 10 != alpha)
        yield "hybrid_alpha", sorted(tenths, key=lambda value: abs(value - alpha))
    mode = trace.contract.mode
    if mode is not None:
        yield (
            mode,
            [name for name in ("hybrid", "lexical", "keyword", "semantic") if name != getattr(current, mode)],
        )
    for name, off in (("filters", {}), ("scope_filter", {}), ("freshness_floor", "StaleWithRisk")):
        if name in trace.given and trace.given[name] != off:
            yield name, [off]
    for name, own in floors.items():
        if trace.given.get(name) is not None:
            yield name, [own]


def _doubled(start: int, most: int) -> list[int]:
    values = []
    while start < most:
        start = min(most, 2 * start)
        values.append(start)
    return values


def _smallest(
    trace: Trace, name: str, steps: Sequence[Any], item_in: Callable[[Response], int | None], ask: Ask
) -> dict[str, Any] | None:
    before = getattr(trace.params, name)

    def place(value: object) -> int | None:
        return _place_with(ask, {**trace.given, name: value}, item_in)

    below = before
    for value in steps:
        at = place(value)
        if at is None:
            below = value
            continue
        if isinstance(value, int) and isinstance(before, int):
            value, at = _bisect(below, value, at, place)
        return _change(name, before, value, at)
    return None


def _bisect(below: int, value: int, at: int, place: Callable[[object], int | None]) -> tuple[int, int]:
    """The least whole number that works, between one that does not and one that does."""
    while value - below > 1:
        middle = (below + value) // 2
        middle_place = place(middle)
        if middle_place is None:
            below = middle
        else:
            value, at = middle, middle_place
    return value, at


def _change(name: str, before: Any, value: Any, at: int) -> dict[str, Any]:
    numbers = isinstance(value, (int, float)) and isinstance(before, (int, float))
    size = abs(value - before) / max(abs(before), 0.1) if numbers else 1.0
    shown = before if before is None or isinstance(before, (bool, int, float, str)) else None
    return {"parameter": name, "from": shown, "to": value, "rank": at, "size": size}


def _place_with(
    ask: Ask, params: Mapping[str, object], item_in: Callable[[Response], int | None]
) -> int | None:
    try:
        return item_in(ask(params))
    except QuintetError:  # a parameter may not go with the others
        return None
