"""What a signal answers and what ranking returns: hit (a signal's answer) > evidence > ranked (final).

A search makes these by the hundred, so they are named tuples: a frozen dataclass takes four times as long.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypedDict

Signal = Literal["lexical", "semantic", "graph"]
Freshness = Literal["Fresh", "Acceptable", "Stale", "StaleWithRisk"]
Status = Literal["ok", "empty_index", "never_indexed", "degraded"]


class Note(TypedDict):
    """Something the caller should know beside the answer: what was degraded, clamped or cut."""

    code: str
    message: str


def steady(score: float) -> float:
    """Twelve significant digits: what decides an order. BM25's logarithm comes from the system's library, and
    its last bit may differ between systems.

    >>> steady(-7.123456789012345)
    -7.12345678901
    """
    return float(f"{score:.12g}")


class Hit(NamedTuple):
    """One match from a signal. Lists are best first; `score` is higher-is-better whatever the backend
    does; `raw` keeps the backend's own number for contracts that must show it. One that is not `listed` was
    scored because another signal brought it; it stands behind the list."""

    chunk_id: str
    score: float
    raw: float
    distance: int | None = None
    listed: bool = True


class Facts(NamedTuple):
    """The little a ranking may know about a chunk besides its scores. One catalog query fetches them."""

    document_id: str
    path: str
    sequence: int
    line: int
    modified_ms: int
    node_id: str
    freshness: Freshness = "Fresh"


class Evidence(NamedTuple):
    """What one signal said about one item, and what that was worth. `rank` counts from 1, of `of`; None says
    that the item was not in the signal's own list, but scored because another signal brought it."""

    rank: int | None
    of: int
    score: float
    raw: float
    normalised: float
    weight: float
    contribution: float
    distance: int | None = None


class Ranked(NamedTuple):
    """An item of the final list with everything needed to explain its place."""

    item_id: str
    score: float
    best_chunk: str
    evidence: Mapping[Signal, Evidence]
    freshness_factor: float = 1.0
