"""The parts of a contract: checked parameters, a plan for the engine, a projection of the answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from quintet.contracts.intent import QueryIntent
from quintet.contracts.stop_words import StopWords
from quintet.model.documents import Passage
from quintet.model.filters import Filter
from quintet.model.results import Freshness, Note, Ranked
from quintet.model.vector import Int16
from quintet.ranking import Profile

Syntax = Literal["plain", "fts5"]
Strategy = Literal["callers", "dependencies", "related"]
# How vectors are searched. Spec 004 gives HNSW an ef of 50, and 20 where speed counts more; 0 is as much as
# the graph needs to find nearly all of the best.
EF: Mapping[str, int | None] = {"exact": None, "hnsw": 0, "standard": 50, "approximate": 20}


@dataclass(frozen=True, slots=True)
class Reading:
    """How query text becomes lexical terms."""

    stop_words: StopWords = "none"  # the list of words to leave out, if others are left
    repeats: bool = False  # a word that the query repeats counts more
    respelt: bool = False  # a word that no chunk holds is looked up by its nearest neighbour
    phrases_required: bool = False
    parts: bool = False  # also the parts of compound names
    stems: bool = False  # match words by their stems
    even: bool = False  # scores as in an index of 8,000 chunks, whatever its size
    field_weights: tuple[tuple[str, float], ...] = ()
    content_only: bool = False  # headings and titles neither match nor count
    min_score: float | None = None
    exact_bm25: bool = True  # the scores of FTS5; False leaves scoring to the text index


@dataclass(frozen=True, slots=True)
class Expansion:
    """Which neighbours of the best nodes join the ranking, and how far away they may be. `possible` also
    follows edges that are only guesses."""

    strategy: Strategy
    distance: int
    possible: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What the engine has to do. The names of a specification end here."""

    query: str
    profile: Profile
    limit: int
    syntax: Syntax = "plain"
    reading: Reading = Reading()
    filter: Filter = Filter()
    post_filter: Filter = Filter()  # applied to the best `post_depth` results, after ranking
    post_depth: int = 0
    intent: QueryIntent | None = None  # what facts about code are compared with; None leaves them out
    vector: Int16 | None = None
    expansion: Expansion | None = None
    seeds: tuple[str, ...] = ()  # nodes that the expansion starts from, before the best of the other legs
    min_similarity: float | None = None
    ef: int | None = None  # of HNSW, which then proposes candidates, 0: its own; None: compare every vector
    needs_embedding: bool = False  # without an embedding, an error instead of an empty leg
    needs_canonical: bool = False
    needs_freshness: bool = False
    needs_fields: bool = False  # the text fields that each result matched in
    notes: tuple[Note, ...] = ()

    @property
    def zero_vector_counts(self) -> bool:
        """Whether a query vector of norm 0 matches everything with score 0.0: only if meaning alone ranks."""
        return [branch.signal for branch in self.profile.branches] == ["semantic"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The engine's results, for the projection. The keys of the mappings are chunk ids."""

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
    `mode` are the specification's names for two parameters that every interface offers. `remarks` makes notes
    about an answer.
    """

    name: str
    parameters: type[Any]
    plan: Callable[[str, Any], Plan]
    project: Callable[[Any, Plan, Answer], Mapping[str, Any]]
    body: Any
    limit: str
    mode: str | None
    remarks: Callable[[Any, Plan, Answer], tuple[Note, ...]] | None = None
