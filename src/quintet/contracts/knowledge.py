"""Spec 003, the retrieval contract: knowledge bases, three search methods, canonical relevance fields."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NotRequired, TypedDict, get_args

from quintet.contracts.bases import (
    DEFAULT_INDEX,
    INDEX,
    base_fields,
    in_base,
    only_folders,
    result_metadata,
    with_filters,
)
from quintet.contracts.contract import Answer, Contract, Plan, Syntax
from quintet.errors import UsageError
from quintet.filters.fields import BUILT_IN, exact_filters
from quintet.model.filters import Filter
from quintet.model.parameters import LIMIT, SYNTAX, number, one_of, parameter
from quintet.model.results import Note, Ranked
from quintet.model.schema import Count, Metadata
from quintet.ranking import Branch, Fetch, OrderKey, Profile, WeightedSum

DEFAULT_ALPHA = 0.5
# The spec stops at 50; but fewer than top_k could never fill a page.
OVER_FETCH = Fetch(3, at_least=10, at_most=50, covers_limit=True)

FILTERS = "fields that must all match exactly, or text of the filter language"

Method = Literal["semantic", "keyword", "hybrid"]
Preprocessing = Literal["none", "normalize"]


def _alpha() -> Any:
    check = number(0, 1)
    return parameter(None, check, "weight of the semantic branch", code="invalid_hybrid_alpha")


TIES: tuple[OrderKey, ...] = ("chunk_id",)


@dataclass(frozen=True, slots=True)
class Params:
    """The parameters for index `default`, whose filters include front matter; `for_base` has the properties
    of a base instead."""

    index: str = parameter(DEFAULT_INDEX, INDEX, "which knowledge base")
    top_k: int = parameter(5, LIMIT, "results to return", code="invalid_top_k")
    filters: Filter = parameter(Filter(), exact_filters(BUILT_IN, front_matter=True), FILTERS)
    search_method: Method = parameter(
        "semantic", one_of(*get_args(Method)), "which branches to use", code="invalid_search_method"
    )
    query_preprocessing: Preprocessing = parameter(
        "none",
        one_of(*get_args(Preprocessing)),
        "how the query is prepared",
        code="invalid_query_preprocessing",
    )
    hybrid_alpha: float | None = _alpha()
    syntax: Syntax = parameter("plain", SYNTAX, "plain words, or the query language of FTS5")


def normalise_query(query: str) -> str:
    """NFKC, lower case, everything but letters, marks and digits a space, spaces collapsed.

    >>> normalise_query("How does  RETRIEVAL work?")
    'how does retrieval work'
    """
    folded = unicodedata.normalize("NFKC", query).lower()
    kept = (char if unicodedata.category(char)[0] in "LMN" else " " for char in folded)
    return " ".join("".join(kept).split())


def alpha(params: Params) -> float:
    return DEFAULT_ALPHA if params.hybrid_alpha is None else params.hybrid_alpha


def profile(params: Params) -> Profile:
    match params.search_method:
        case "semantic":
            return Profile(
                (Branch("semantic", Fetch(), 1.0, "unit"),), WeightedSum(), TIES, lead=("semantic",)
            )
        case "keyword":
            return Profile((Branch("lexical", Fetch()),), WeightedSum(), TIES)
        case _:
            semantic = Branch("semantic", OVER_FETCH, alpha(params), "unit")
            keyword = Branch("lexical", OVER_FETCH, 1 - alpha(params), "min_max")
            return Profile((semantic, keyword), WeightedSum(), TIES)


def plan(query: str, params: Params) -> Plan:
    if params.index != DEFAULT_INDEX:
        raise only_folders(params.index)
    return _planned(query, params)


def _planned(query: str, params: Params) -> Plan:
    if params.query_preprocessing == "normalize":
        query = normalise_query(query)
        if not query:
            raise UsageError("the query has no letter or digit; give at least one word", code="bad_query")
    return Plan(
        query,
        profile(params),
        params.top_k,
        params.syntax,
        filter=params.filters,
        needs_embedding=params.search_method == "semantic",
        notes=_ignored(params),
    )


def _ignored(params: Params) -> tuple[Note, ...]:
    if params.search_method == "hybrid" or params.hybrid_alpha is None:
        return ()
    message = f"hybrid_alpha has no meaning in {params.search_method} search and was ignored"
    return ({"code": "alpha_ignored", "message": message},)


class RelevanceComponents(TypedDict):
    """The scores of both branches of a hybrid search, each from 0 to 1."""

    semantic_score: float
    keyword_score: float


class Scores(TypedDict):
    score: float
    score_kind: Literal["cosine", "bm25", "hybrid_score"]
    relevance_score: float
    relevance_kind: Literal["similarity", "keyword_score", "hybrid_score"]
    relevance_components: NotRequired[RelevanceComponents]


class KnowledgeResult(Scores):
    """A passage that contract knowledge returns."""

    id: str
    text: str
    metadata: Metadata


class HybridWeight(TypedDict, total=False):
    hybrid_alpha: float  # in hybrid search only


class CallFields(HybridWeight):
    index: str
    query: str
    top_k: Count
    search_method: Method
    query_preprocessing: Preprocessing
    result_count: Count


class RetrievalCall(CallFields):
    """One search of one index, with its results."""

    results: list[KnowledgeResult]


class KnowledgeBody(TypedDict):
    """The response to a search by contract knowledge."""

    retrieval_calls: list[RetrievalCall]


def project(params: Params, plan: Plan, answer: Answer) -> KnowledgeBody:
    results = [_result(params, item, answer) for item in answer.ranked]
    weight: HybridWeight = {"hybrid_alpha": alpha(params)} if params.search_method == "hybrid" else {}
    call: RetrievalCall = {
        "index": params.index,
        "query": plan.query,
        "top_k": params.top_k,
        "search_method": params.search_method,
        "query_preprocessing": params.query_preprocessing,
        **weight,
        "result_count": len(results),
        "results": results,
    }
    return {"retrieval_calls": [call]}


def _result(params: Params, item: Ranked, answer: Answer) -> KnowledgeResult:
    passage = answer.passages[item.best_chunk]
    return {
        "id": passage.chunk.id,
        "text": passage.chunk.content,
        "metadata": result_metadata(passage, of_base=params.index != DEFAULT_INDEX),
        **_scores(params.search_method, item),
    }


def _scores(method: Method, item: Ranked) -> Scores:
    lexical, semantic = item.evidence.get("lexical"), item.evidence.get("semantic")
    if method == "semantic" and semantic:
        return {
            "score": semantic.score,
            "score_kind": "cosine",
            "relevance_score": item.score,
            "relevance_kind": "similarity",
        }
    if method == "keyword" and lexical:
        return {
            "score": lexical.raw,
            "score_kind": "bm25",
            "relevance_score": item.score,
            "relevance_kind": "keyword_score",
        }
    return {
        "score": item.score,
        "score_kind": "hybrid_score",
        "relevance_score": item.score,
        "relevance_kind": "hybrid_score",
        "relevance_components": {
            "semantic_score": semantic.normalised if semantic else 0.0,
            "keyword_score": lexical.normalised if lexical else 0.0,
        },
    }


CONTRACT = Contract("knowledge", Params, plan, project, KnowledgeBody, limit="top_k", mode="search_method")


def for_base(properties: Mapping[str, str]) -> Contract:
    """The contract in one knowledge base, whose `properties` (type by name) are filters too."""
    fields = base_fields(properties)

    def plan_in_base(query: str, params: Params) -> Plan:
        planned = _planned(query, params)
        return replace(planned, filter=in_base(planned.filter, fields))

    own = with_filters(Params, exact_filters(fields), FILTERS)
    return replace(CONTRACT, parameters=own, plan=plan_in_base)
