"""Spec 002, MCB ADR-043: text, vectors and code graph by weighted RRF over code nodes, times freshness."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import TypedDict

from quintet.contracts.contract import Answer, Contract, Expansion, Plan, Reading, Syntax
from quintet.filters.fields import FILTER, SCOPE_FILTER
from quintet.model.documents import Passage
from quintet.model.filters import Filter
from quintet.model.parameters import (
    LIMIT,
    SYNTAX,
    NotAllowed,
    ValueCheck,
    is_number,
    number,
    one_of,
    parameter,
)
from quintet.model.results import Evidence, Freshness, Ranked
from quintet.model.schema import Count, Schema, named, object_schema
from quintet.model.vector import Int16, quantise
from quintet.ranking import Branch, Fetch, Profile, Rrf

WEIGHTS = {"lexical": 1.0, "semantic": 0.8, "graph": 0.6}  # ADR-043, section 3, step 4
FACTORS: tuple[tuple[Freshness, float], ...] = (
    ("Fresh", 1.0),
    ("Acceptable", 0.9),
    ("Stale", 0.7),
    ("StaleWithRisk", 0.5),
)
FIELDS = ("content", "heading_path", "title")
DISTANCES = {
    "callers": "depth",
    "dependencies": "depth",
    "related": "radius",
}  # the parameter of each strategy
MOST_SEEDS = 1_000
FARTHEST = 10  # hops; more would reach most of any repository


def _embedding(value: object) -> object:
    """A query vector in canonical form."""
    numbers = value if isinstance(value, (list, tuple)) else ()
    if not numbers or not all(is_number(value) for value in numbers):
        raise NotAllowed("a list of finite numbers, as long as the index's vectors")
    return quantise(list(numbers))


def _expansion(value: object) -> object:
    """`"none"`, or a strategy with its distance."""
    if value == "none":
        return None
    if isinstance(value, Mapping) and len(value) == 1:
        (strategy, options), *_ = value.items()
        if strategy in DISTANCES and isinstance(options, Mapping) and set(options) == {DISTANCES[strategy]}:
            distance = options[DISTANCES[strategy]]
            if isinstance(distance, int) and not isinstance(distance, bool) and 1 <= distance <= FARTHEST:
                return Expansion(strategy, distance)
    raise NotAllowed(
        '"none", {"callers": {"depth": N}}, {"dependencies": {"depth": N}} or {"related": {"radius": N}} '
        f"with N from 1 to {FARTHEST}"
    )


def _field_weights(value: object) -> object:
    allowed = f"an object that gives weights of 0 or more to some of {', '.join(FIELDS)}"
    if not isinstance(value, Mapping) or not set(value) <= set(FIELDS):
        raise NotAllowed(allowed)
    if not all(is_number(weight) and weight >= 0 for weight in value.values()):
        raise NotAllowed(allowed)
    return tuple((name, float(value[name])) for name in FIELDS if name in value)


def _seeds(value: object) -> object:
    if not isinstance(value, (list, tuple)) or len(value) > MOST_SEEDS:
        raise NotAllowed(f"a list of at most {MOST_SEEDS} ids of nodes")
    if not all(isinstance(node, str) for node in value):
        raise NotAllowed("a list of ids of nodes, as results show them")
    return tuple(value)


def _walk(strategy: str) -> Schema:
    unit = DISTANCES[strategy]
    distance = {unit: {"type": "integer", "minimum": 1, "maximum": FARTHEST, "description": "in edges"}}
    how_far = named(unit.title(), "How far to explore.", object_schema(distance, [unit]))
    words = f"Explore {strategy} of what was found."
    return named(f"Expand{strategy.title()}", words, object_schema({strategy: how_far}, [strategy]))


EMBEDDING = ValueCheck(_embedding, {"type": "array", "items": {"type": "number"}, "minItems": 1})
EXPANSION = ValueCheck(
    _expansion,
    named(
        "GraphExpansion",
        "How to explore the code graph: not at all, or in one way.",
        {"oneOf": [{"type": "string", "const": "none"}, *(_walk(strategy) for strategy in DISTANCES)]},
    ),
)
SEEDS = ValueCheck(_seeds, {"type": "array", "items": {"type": "string"}, "maxItems": MOST_SEEDS})
FIELD_WEIGHTS = ValueCheck(
    _field_weights,
    named(
        "FieldWeights",
        "Weights of text fields.",
        object_schema({name: {"type": "number", "minimum": 0} for name in FIELDS}),
    ),
)


@dataclass(frozen=True, slots=True)
class Params:
    k: int = parameter(20, LIMIT, "results to return")
    embedding: Int16 | None = parameter(None, EMBEDDING, "a query vector that the caller computed")
    graph_expansion: Expansion | None = parameter(None, EXPANSION, "how to explore the code graph")
    seeds: tuple[str, ...] | None = parameter(
        None, SEEDS, "ids of nodes that the graph is walked from as well"
    )
    scope_filter: Filter = parameter(
        Filter(), SCOPE_FILTER, "only results in this project, package, module or file"
    )
    freshness_floor: Freshness = parameter(
        "StaleWithRisk", one_of(*(name for name, _ in FACTORS)), "the stalest class to return"
    )
    min_score: float | None = parameter(None, number(-inf, inf), "lowest full-text score to accept")
    field_weights: tuple[tuple[str, float], ...] = parameter((), FIELD_WEIGHTS, "weight of each text field")
    filters: Filter = parameter(Filter(), FILTER, "filters that results must match")
    syntax: Syntax = parameter("plain", SYNTAX, "plain words, or the query language of FTS5")


def profile(params: Params) -> Profile:
    as_many = Fetch()
    return Profile(
        (
            Branch("lexical", as_many, WEIGHTS["lexical"]),
            Branch("semantic", as_many, WEIGHTS["semantic"]),
            Branch("graph", as_many, WEIGHTS["graph"]),
        ),
        Rrf(rrf_k=60.0, first_rank=0, share_of_maximum=True),  # ADR-043 counts ranks from 0
        ties=("path", "line", "node_id", "chunk_id"),
        unit="node",
        freshness=FACTORS,
        freshness_floor=params.freshness_floor,
    )


def plan(query: str, params: Params) -> Plan:
    return Plan(
        query,
        profile(params),
        params.k,
        params.syntax,
        reading=Reading(
            parts=True,
            field_weights=params.field_weights,
            min_score=params.min_score,
            exact_bm25=False,  # spec 002 names tantivy
        ),
        filter=Filter(params.scope_filter.conditions + params.filters.conditions),
        vector=params.embedding,
        expansion=params.graph_expansion,
        seeds=params.seeds or (),
        needs_freshness=True,
        needs_fields=True,
    )


class McbNode(TypedDict):
    """A definition, a section or a file."""

    id: str
    kind: str
    name: str
    path: str
    start_line: Count
    end_line: Count
    content: str


class Provenance(TypedDict):
    """Which signals found a result."""

    matched_bm25: bool
    matched_semantic: bool
    matched_graph_expansion: bool
    distance_in_graph: Count | None


class McbResult(TypedDict):
    """A result of contract mcb. A rank is a share of its list: 1.0 for the first, 0.0 if not found."""

    node: McbNode
    matched_fields: list[str]
    score: float
    bm25_rank: float
    semantic_rank: float
    graph_rank: float
    freshness: Freshness
    freshness_penalty: float
    provenance: Provenance


class McbBody(TypedDict):
    """The response to a search by contract mcb."""

    query: str
    k: Count
    results: list[McbResult]


def project(params: Params, plan: Plan, answer: Answer) -> McbBody:
    return {
        "query": plan.query,
        "k": params.k,
        "results": [_result(item, answer) for item in answer.ranked],
    }


def _result(item: Ranked, answer: Answer) -> McbResult:
    passage = answer.passages[item.best_chunk]
    chunk, document = passage.chunk, passage.document
    graph = item.evidence.get("graph")
    return {
        "node": {
            "id": item.item_id,
            "kind": chunk.kind,
            "name": chunk.name or _heading(passage) or document.title,
            "path": document.path,
            "start_line": chunk.first_line,
            "end_line": chunk.last_line,
            "content": chunk.content,
        },
        "matched_fields": list(answer.fields.get(item.best_chunk, ())),
        "score": item.score,
        "bm25_rank": _share(item.evidence.get("lexical")),
        "semantic_rank": _share(item.evidence.get("semantic")),
        "graph_rank": _share(graph),
        "freshness": answer.freshness.get(item.best_chunk, "Fresh"),
        "freshness_penalty": item.freshness_factor,
        "provenance": {
            "matched_bm25": "lexical" in item.evidence,
            "matched_semantic": "semantic" in item.evidence,
            "matched_graph_expansion": graph is not None,
            "distance_in_graph": graph.distance if graph else None,
        },
    }


def _heading(passage: Passage) -> str:
    """The headings of prose; in code the last of them, which is what the chunk is a part of."""
    heading = passage.chunk.heading_path
    return heading if passage.document.language is None else heading.rpartition(" > ")[2]


def _share(evidence: Evidence | None) -> float:
    """A rank as a share of its list: 1.0 for the first item, 0.0 for an item that is not in the list."""
    if evidence is None or evidence.rank is None:
        return 0.0
    return 1 - (evidence.rank - 1) / evidence.of


CONTRACT = Contract("mcb", Params, plan, project, McbBody, limit="k", mode=None)
