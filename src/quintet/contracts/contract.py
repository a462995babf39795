"""What a contract is made of: checked parameters, a plan for the engine, a projection of the answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from quintet.model.documents import Passage
from quintet.model.filters import Filter
from quintet.model.results import Freshness, Note, Ranked
from quintet.model.vector import Int16
from quintet.ranking import Profile

Syntax = Literal["plain", "fts5"]
Strategy = Literal["callers", "dependencies", "related"]
# How vectors are searched: spec 004 gives HNSW an ef of 50, and 20 where speed counts more.
EF: Mapping[str, int | None] = {"exact": None, "hnsw": 50, "approximate": 20}


@dataclass(frozen=True, slots=True)
class Reading:
    """How query text becomes lexical terms."""

    stop_words: bool = True  # kept as terms; False drops them where anything else is left
    phrases_required: bool = False
    parts: bool = False
    stems: bool = False  # words whatever their endings
    even: bool = False  # scores as they would be in an index of 8,000 chunks, whatever its size
    field_weights: tuple[tuple[str, float], ...] = ()
    min_score: float | None = None
    exact_bm25: bool = True  # scores are FTS5's own; False leaves them to the text index in use


@dataclass(frozen=True, slots=True)
class Expansion:
    """Which neighbours of the best nodes join the ranking, and how far away they may be. With `possible`
    also along edges that are no more than a guess."""

    strategy: Strategy
    distance: int
    possible: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What the engine is asked to do. No contract's own spelling goes past this point."""

    query: str
    profile: Profile
    limit: int
    syntax: Syntax = "plain"
    reading: Reading = Reading()
    filter: Filter = Filter()
    post_filter: Filter = Filter()  # applied to the best `post_depth` results, after ranking
    post_depth: int = 0
    vector: Int16 | None = None
    expansion: Expansion | None = None
    min_similarity: float | None = None
    ef: int | None = None  # candidates by HNSW with this `ef`; None: every vector is compared
    zero_vector_counts: bool = False  # True: a query vector of zero norm finds everything at 0.0
    needs_embedding: bool = False  # True: an error instead of an empty leg
    needs_canonical: bool = False
    needs_freshness: bool = False
    needs_fields: bool = False  # True: which text fields each result matched in
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What the engine found, for the projection. Mappings go by chunk id."""

    ranked: Sequence[Ranked]
    passages: Mapping[str, Passage]
    fields: Mapping[str, Sequence[str]]
    freshness: Mapping[str, Freshness]
    embedding_model: str
    best: Sequence[Ranked] = ()  # the first ten, whatever the limit


@dataclass(frozen=True, slots=True)
class Contract:
    """One published specification: `parameters` is a dataclass of `parameter` fields.

    `project` makes a `body`, a TypedDict that every interface derives its published schema from. `limit` and
    `mode` say how the specification spells the two things every interface offers. `remarks` are the notes
    that an answer itself gives rise to.
    """

    name: str
    parameters: type[Any]
    plan: Callable[[str, Any], Plan]
    project: Callable[[Any, Plan, Answer], Mapping[str, Any]]
    body: Any
    limit: str
    mode: str | None
    remarks: Callable[[Any, Plan, Answer], tuple[Note, ...]] | None = None
