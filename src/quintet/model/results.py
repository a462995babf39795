"""The stages of a result: a hit of a signal, the evidence about an item, the ranked item.

A search makes these by the hundred, so they are named tuples: a frozen dataclass takes four times as long.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypedDict

# What finds chunks; what facts about a chunk say; what other chunks say.
Signal = Literal[
    "lexical",
    "semantic",
    "graph",
    "path",
    "definition",
    "literal",
    "role",
    "agreement",
    "neighbours",
    "diversity",
]
Freshness = Literal["Fresh", "Acceptable", "Stale", "StaleWithRisk"]
Status = Literal["ok", "empty_index", "never_indexed", "degraded"]


class Note(TypedDict):
    """Something the caller should know about an answer: what was degraded, clamped or cut."""

    code: str
    message: str


class AnswerStatus(TypedDict):
    """How the answer came about. Both fields stand beside those of every contract."""

    status: Status
    notes: list[Note]


class Hit(NamedTuple):
    """One match from a signal. Lists are best first. `score` is higher-is-better; `raw` is the backend's own
    number, for contracts that show it. A hit that is not `listed` was found by another signal and only scored
    by this one; such hits follow the list."""

    chunk_id: str
    score: float
    raw: float
    distance: int | None = None
    listed: bool = True


class Facts(NamedTuple):
    """What ranking knows about a chunk besides its scores. One catalog query fetches all facts. `name` and
    `kind` are those of what the chunk defines; further parts of a definition have no name."""

    document_id: str
    path: str
    sequence: int
    line: int
    modified_ms: int
    node_id: str
    freshness: Freshness = "Fresh"
    name: str = ""
    kind: str = "text"
    heading_path: str = ""
    is_code: bool = False


class Evidence(NamedTuple):
    """What one signal says about one item, and how much that adds to its score. `rank` counts from 1 in a
    list of `of` hits; None means that another signal found the item and this one only scored it."""

    rank: int | None
    of: int
    score: float
    raw: float
    normalised: float
    weight: float
    contribution: float
    distance: int | None = None


class Ranked(NamedTuple):
    """An item of the final list, with the evidence for its place."""

    item_id: str
    score: float
    best_chunk: str
    evidence: Mapping[Signal, Evidence]
    freshness_factor: float = 1.0
