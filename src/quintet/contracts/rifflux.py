"""Spec 000, Rifflux: FTS5 and cosine, fused by RRF over chunks, with a score breakdown per mode."""

from dataclasses import dataclass
from math import inf
from typing import Any, Protocol, TypedDict

from quintet.contracts.contract import Answer, Contract, Plan, Syntax
from quintet.filters.fields import FILTER
from quintet.model.filters import Filter
from quintet.model.parameters import LIMIT, SYNTAX, number, one_of, parameter
from quintet.model.results import Ranked
from quintet.model.schema import Count
from quintet.ranking import Branch, Fetch, OrderKey, Profile, Rrf, WeightedSum

RRF_K = 60.0  # Cormack et al. 2009; RRF-002
TWICE = Fetch(times=2)  # REQ-006

TIES: tuple[OrderKey, ...] = ("lexical_rank", "path", "sequence", "chunk_id")


@dataclass(frozen=True, slots=True)
class Params:
    top_k: int = parameter(10, LIMIT, "results to return")
    mode: str = parameter("hybrid", one_of("lexical", "semantic", "hybrid"), "which signals to use")
    rrf_k: float = parameter(RRF_K, number(0, inf), "constant of reciprocal rank fusion")
    filters: Filter = parameter(Filter(), FILTER, "filters that results must match")
    syntax: Syntax = parameter("plain", SYNTAX, "plain words, or the query language of FTS5")


def profile(params: Params) -> Profile:
    lexical, semantic = Branch("lexical", TWICE), Branch("semantic", TWICE)
    match params.mode:
        case "lexical":
            return Profile((lexical,), WeightedSum(), TIES)
        case "semantic":
            return Profile((semantic,), WeightedSum(), TIES)
        case _:
            return Profile((lexical, semantic), Rrf(params.rrf_k), TIES)


def plan(query: str, params: Params) -> Plan:
    return Plan(query, profile(params), params.top_k, params.syntax, filter=params.filters)


class LexicalBreakdown(TypedDict):
    """The score in mode lexical."""

    bm25: float


class SemanticBreakdown(TypedDict):
    """The score in mode semantic."""

    cosine: float


class HybridBreakdown(TypedDict):
    """The score in mode hybrid: reciprocal rank fusion of both ranks."""

    rrf: float
    lexical_rank: Count | None
    semantic_rank: Count | None


Breakdown = LexicalBreakdown | SemanticBreakdown | HybridBreakdown


class RiffluxResult(TypedDict):
    """A result of contract rifflux."""

    chunk_id: str
    path: str
    heading_path: str
    chunk_index: Count
    content: str
    score_breakdown: Breakdown


class RiffluxBody(TypedDict):
    """The response to a search by contract rifflux."""

    query: str
    mode: str
    count: Count
    embedding_model: str
    results: list[RiffluxResult]


def project(params: Params, plan: Plan, answer: Answer) -> RiffluxBody:
    results = [_result(params.mode, item, answer) for item in answer.ranked]
    return {
        "query": plan.query,
        "mode": params.mode,
        "count": len(results),
        "embedding_model": answer.embedding_model,
        "results": results,
    }


def _result(mode: str, item: Ranked, answer: Answer) -> RiffluxResult:
    passage = answer.passages[item.best_chunk]
    return {
        "chunk_id": passage.chunk.id,
        "path": passage.document.path,
        "heading_path": passage.chunk.heading_path,
        "chunk_index": passage.chunk.sequence,
        "content": passage.chunk.content,
        "score_breakdown": _breakdown(mode, item),
    }


def _breakdown(mode: str, item: Ranked) -> Breakdown:
    lexical, semantic = item.evidence.get("lexical"), item.evidence.get("semantic")
    if mode == "lexical" and lexical:
        return {"bm25": lexical.raw}
    if mode == "semantic" and semantic:
        return {"cosine": semantic.score}
    return {
        "rrf": item.score,
        "lexical_rank": lexical.rank if lexical else None,
        "semantic_rank": semantic.rank if semantic else None,
    }


CONTRACT = Contract("rifflux", Params, plan, project, RiffluxBody, limit="top_k", mode="mode")


class HasBody(Protocol):
    @property
    def body(self) -> Any: ...


class SearchesByContract(Protocol):
    """An open index, for instance."""

    def search(self, query: str, contract: str, **params: object) -> HasBody: ...


class RiffluxService:
    """The search service of spec 000, section 4.1, over an index."""

    def __init__(self, index: SearchesByContract) -> None:
        self._index = index

    def search(self, query: str, *, top_k: int = 10, mode: str = "hybrid") -> list[dict[str, Any]]:
        results = self._index.search(query, CONTRACT.name, top_k=top_k, mode=mode).body["results"]
        return list(results)


def rifflux(index: SearchesByContract) -> RiffluxService:
    return RiffluxService(index)
