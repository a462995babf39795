"""Spec 004, CFS-012: canonical integer vectors and FTS5 by RRF, in the same order on every device."""

from dataclasses import dataclass
from math import inf
from typing import TypedDict

from quintet.contracts.contract import EF, Answer, Contract, Plan, Reading, Syntax
from quintet.filters.fields import FILTER
from quintet.model.filters import Filter
from quintet.model.parameters import LIMIT, LIMIT_MAX, SYNTAX, number, one_of, parameter, whole
from quintet.model.results import Ranked
from quintet.model.schema import Count
from quintet.ranking import Branch, Fetch, OrderKey, Profile, Rrf, WeightedSum

CANDIDATES = whole(1, 10 * LIMIT_MAX)

POST_DEPTH = 100  # section 8: candidates of a search that filters after ranking

TIES: tuple[OrderKey, ...] = ("path", "sequence", "chunk_id")  # section 6


@dataclass(frozen=True, slots=True)
class Params:
    top_k: int = parameter(10, LIMIT, "results to return")
    mode: str = parameter("hybrid", one_of("lexical", "semantic", "hybrid"), "which signals to use")
    semantic_k: int = parameter(20, CANDIDATES, "candidates of the semantic leg in hybrid mode")
    lexical_k: int = parameter(20, CANDIDATES, "candidates of the lexical leg in hybrid mode")
    rrf_k: float = parameter(60.0, number(0, inf), "constant of reciprocal rank fusion")
    min_similarity: float | None = parameter(None, number(-1, 1), "lowest cosine to accept")
    filters: Filter = parameter(Filter(), FILTER, "filters that results must match")
    filter_mode: str = parameter("pre", one_of("pre", "post"), "filter before retrieval or after ranking")
    vectors: str = parameter("exact", one_of(*EF), "compare every vector, or let HNSW propose candidates")
    syntax: Syntax = parameter("plain", SYNTAX, "plain words, or the query language of FTS5")


def profile(params: Params) -> Profile:
    least = POST_DEPTH if params.filter_mode == "post" else 0
    match params.mode:
        case "lexical":
            branch = Branch("lexical", Fetch(at_least=least), 1.0, "min_max")
            return Profile((branch,), WeightedSum(), TIES, lead=("lexical",))
        case "semantic":
            branch = Branch("semantic", Fetch(at_least=least), 1.0, "unit")
            return Profile((branch,), WeightedSum(), TIES, lead=("semantic",))
        case _:
            semantic = Branch("semantic", Fetch(times=0, at_least=max(params.semantic_k, least)))
            lexical = Branch("lexical", Fetch(times=0, at_least=max(params.lexical_k, least)))
            return Profile((semantic, lexical), Rrf(params.rrf_k), TIES)


def plan(query: str, params: Params) -> Plan:
    after = params.filter_mode == "post"
    return Plan(
        query,
        profile(params),
        params.top_k,
        params.syntax,
        reading=Reading(stop_words="lucene", phrases_required=True),
        filter=Filter() if after else params.filters,
        post_filter=params.filters if after else Filter(),
        post_depth=POST_DEPTH,
        min_similarity=params.min_similarity,
        ef=EF[params.vectors],
        needs_canonical=params.mode != "lexical",
    )


class CfsChunk(TypedDict):
    """The passage of a result."""

    id: str
    text: str
    sequence: Count
    document_id: str


class CfsDocument(TypedDict):
    """The document of a result."""

    id: str
    path: str
    mime_type: str
    modified_ms: int


class CfsResult(TypedDict):
    """A result of contract cfs."""

    chunk: CfsChunk
    document: CfsDocument
    score: float


class CfsBody(TypedDict):
    """The response to a search by contract cfs."""

    query: str
    mode: str
    results: list[CfsResult]


def project(params: Params, plan: Plan, answer: Answer) -> CfsBody:
    return {
        "query": plan.query,
        "mode": params.mode,
        "results": [_result(item, answer) for item in answer.ranked],
    }


def _result(item: Ranked, answer: Answer) -> CfsResult:
    chunk, document = answer.passages[item.best_chunk].chunk, answer.passages[item.best_chunk].document
    return {
        "chunk": {
            "id": chunk.id,
            "text": chunk.content,
            "sequence": chunk.sequence,
            "document_id": chunk.document_id,
        },
        "document": {
            "id": document.id,
            "path": document.path,
            "mime_type": document.mime_type,
            "modified_ms": document.modified_ms,
        },
        "score": item.score,
    }


CONTRACT = Contract("cfs", Params, plan, project, CfsBody, limit="top_k", mode="mode")
