"""Spec 003, the retrieval contract: knowledge bases, three search methods, canonical relevance fields."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass, replace
from typing import Any, Literal, NotRequired, TypedDict, get_args

from quintet.contracts.contract import Answer, Contract, Plan, Syntax
from quintet.errors import NotFound, UsageError
from quintet.filters.fields import BOOLEAN, BUILT_IN, INTEGER, NUMBER, TEXT, filters
from quintet.model.documents import Document, Json, Passage
from quintet.model.filters import Condition, Expression, Filter
from quintet.model.parameters import LIMIT, SYNTAX, number, one_of, parameter, text
from quintet.model.results import Note, Ranked
from quintet.model.schema import Count, Metadata
from quintet.ranking import Branch, Fetch, OrderKey, Profile, WeightedSum

DEFAULT_INDEX = "default"  # every document of the indexed folders
INDEX_PREFIX = "kb_"  # the index of a knowledge base is this and its slug
BASE = "_knowledge_base"  # the metadata that holds the built-in fields of a document in a base; never shown
# The built-in fields in that metadata; the others belong to the chunk or have a column.
KEPT = frozenset(BUILT_IN) - {"chunk_index", "title", "page_number"}
PROPERTY_KINDS: Mapping[str, str] = {"text": TEXT, "number": NUMBER, "int": INTEGER, "boolean": BOOLEAN}
DEFAULT_ALPHA = 0.5
# The spec stops at 50; but fewer than top_k could never fill a page.
OVER_FETCH = Fetch(3, at_least=10, at_most=50, covers_limit=True)

Method = Literal["semantic", "keyword", "hybrid"]
Preprocessing = Literal["none", "normalize"]


def _alpha() -> Any:
    check = number(0, 1)
    return parameter(None, check, "weight of the semantic branch", code="invalid_hybrid_alpha")


TIES: tuple[OrderKey, ...] = ("chunk_id",)


@dataclass(frozen=True, slots=True)
class Params:
    """The parameters for index `default`; `for_base` adds the properties of a base to the filters."""

    index: str = parameter(DEFAULT_INDEX, text("the name of a knowledge base"), "which knowledge base")
    top_k: int = parameter(5, LIMIT, "results to return", code="invalid_top_k")
    filters: Filter = parameter(Filter(), filters(BUILT_IN), "fields that must all match exactly")
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
        raise NotFound(
            f"index is {params.index!r}; only the index 'default', which covers the indexed folders, has "
            "receipts and explanations",
            code="unknown_index",
        )
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
        "metadata": _metadata(passage, of_base=params.index != DEFAULT_INDEX),
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


def _metadata(passage: Passage, *, of_base: bool) -> dict[str, Json]:
    """The author's metadata, then the built-in fields, which take precedence."""
    chunk, document = passage.chunk, passage.document
    known = kept(document) if of_base else _of_folder(document)
    built_in: dict[str, Json] = {**known, "chunk_index": chunk.sequence, "title": document.title}
    if chunk.page is not None:
        built_in["page_number"] = chunk.page
    return {**authored(document), **{name: built_in[name] for name in BUILT_IN if name in built_in}}


def authored(document: Document) -> dict[str, Json]:
    """The author's metadata: without the built-in and the internal fields."""
    hidden = {*BUILT_IN, BASE}
    return {name: value for name, value in document.metadata.items() if name not in hidden}


def kept(document: Document) -> Mapping[str, Json]:
    """The built-in fields in the metadata of a document in a knowledge base."""
    fields = document.metadata.get(BASE)
    return fields if isinstance(fields, dict) else {}


def _of_folder(document: Document) -> dict[str, Json]:
    return {
        "knowledge_base_id": DEFAULT_INDEX,
        "document_id": document.id,
        "source_type": "file",
        "source_name": document.root,
        "uri": document.path,
        "source_id": document.root,
        "source_path": document.path,
        "managed_by_source": True,
    }


CONTRACT = Contract("knowledge", Params, plan, project, KnowledgeBody, limit="top_k", mode="search_method")


def for_base(properties: Mapping[str, str]) -> Contract:
    """The contract in one knowledge base, whose `properties` (type by name) are filters too."""
    schema = {name: PROPERTY_KINDS[kind] for name, kind in properties.items()}
    declared = parameter(Filter(), filters({**BUILT_IN, **schema}), "fields that must all match exactly")
    own = make_dataclass("Params", [("filters", Filter, declared)], bases=(Params,), frozen=True, slots=True)
    return replace(CONTRACT, parameters=own, plan=_plan_in_base)


def _plan_in_base(query: str, params: Params) -> Plan:
    planned = _planned(query, params)
    return replace(planned, filter=Filter(tuple(map(_in_base, params.filters.conditions))))


def _in_base(condition: Expression) -> Expression:
    """The condition with the field's name in the store: of the document, the chunk or the properties."""
    assert isinstance(condition, Condition), "spec 003 has no other"
    if condition.field in KEPT:
        return replace(condition, field=f"base.{condition.field}")
    return condition if condition.field in BUILT_IN else replace(condition, field=f"meta.{condition.field}")
