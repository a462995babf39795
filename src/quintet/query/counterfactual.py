"""Which single parameter, changed as little as possible, would bring a chunk into the results. Each change is
tried by a real search."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from quintet.errors import QuintetError
from quintet.model.schema import Position
from quintet.query.search import Response, Trace

MODES = ("hybrid", "lexical", "keyword", "semantic")
EVIDENCE = (
    "path_weight",
    "definition_weight",
    "literal_weight",
    "role_weight",
    "agreement_weight",
    "neighbour_weight",
)
Ask = Callable[[Mapping[str, object]], Response]
ParameterChange = TypedDict("ParameterChange", {"parameter": str, "from": Any, "to": Any, "rank": Position})
ParameterChange.__doc__ = "A parameter, its value in the search, and the value that would bring the chunk in."


def changes(
    trace: Trace, item_in: Callable[[Response], int | None], ask: Ask, floors: Mapping[str, float]
) -> list[ParameterChange]:
    """The smallest change of each parameter that brings the chunk in, the smallest of all first.

    `floors` holds the chunk's own scores by the parameter that cuts scores off.
    """
    working: list[tuple[float, ParameterChange]] = []
    for name, steps in _steps(trace, floors):
        change = _smallest(trace, name, steps, item_in, ask)
        if change is not None:
            working.append((_size(change["from"], change["to"]), change))
    return [change for _, change in sorted(working, key=lambda item: (item[0], item[1]["parameter"]))]


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
    yield from _weights(current)
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


def _weights(current: Any) -> Iterator[tuple[str, list[float]]]:
    """Each weight of the house ranking left out, and doubled."""
    for name in EVIDENCE:
        if hasattr(current, name):
            yield name, [0.0, 2 * getattr(current, name)]
    if hasattr(current, "repeat_factor"):
        yield "repeat_factor", [1.0]


def _doubled(start: int, most: int) -> list[int]:
    values = []
    while start < most:
        start = min(most, 2 * start)
        values.append(start)
    return values


def _smallest(
    trace: Trace, name: str, steps: Sequence[Any], item_in: Callable[[Response], int | None], ask: Ask
) -> ParameterChange | None:
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


def _change(name: str, before: Any, value: Any, at: int) -> ParameterChange:
    shown = before if before is None or isinstance(before, (bool, int, float, str)) else None
    return {"parameter": name, "from": shown, "to": value, "rank": at}


def _size(before: object, value: object) -> float:
    """How far a parameter moves, as a share of its value; 1.0 where it is no number."""
    if isinstance(value, (int, float)) and isinstance(before, (int, float)):
        return abs(value - before) / max(abs(before), 0.1)
    return 1.0


def _place_with(
    ask: Ask, params: Mapping[str, object], item_in: Callable[[Response], int | None]
) -> int | None:
    try:
        return item_in(ask(params))
    except QuintetError:  # a parameter may not go with the others
        return None
