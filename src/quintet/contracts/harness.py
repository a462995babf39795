"""Spec 001, Context Harness: both legs scaled by min-max, weighted by alpha, aggregated by document."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from typing import TypedDict

from quintet.contracts.contract import Answer, Contract, Plan, Reading, Syntax
from quintet.errors import UsageError
from quintet.filters.fields import FILTER
from quintet.model.filters import Filter
from quintet.model.parameters import LIMIT, LIMIT_MAX, SYNTAX, number, one_of, parameter, whole
from quintet.model.results import Note, Ranked, Signal
from quintet.model.schema import Metadata
from quintet.ranking import Branch, Fetch, Profile, WeightedSum

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CANDIDATES = whole(1, 10 * LIMIT_MAX)


@dataclass(frozen=True, slots=True)
class Params:
    mode: str = parameter("hybrid", one_of("keyword", "semantic", "hybrid"), "which signals to use")
    hybrid_alpha: float = parameter(0.6, number(-inf, inf), "weight of the vector leg, clamped to [0, 1]")
    candidate_k_keyword: int = parameter(80, CANDIDATES, "candidates of the keyword leg")
    candidate_k_vector: int = parameter(80, CANDIDATES, "candidates of the vector leg")
    final_limit: int = parameter(12, LIMIT, "documents to return")
    group_by: str = parameter("document", one_of("document", "chunk"), "results are documents or chunks")
    doc_agg: str = parameter(
        "max", one_of("max", "avg"), "how the scores of its chunks make the score of a document"
    )
    filters: Filter = parameter(Filter(), FILTER, "filters that results must match")
    syntax: Syntax = parameter("plain", SYNTAX, "plain words, or the query language of FTS5")


def alpha(params: Params) -> float:
    """The weight of the vector leg: 0 in keyword mode, 1 in semantic mode."""
    fixed = {"keyword": 0.0, "semantic": 1.0}
    return fixed.get(params.mode, min(1.0, max(0.0, params.hybrid_alpha)))


def profile(params: Params) -> Profile:
    weight = alpha(params)
    keyword = Branch("lexical", _exactly(params.candidate_k_keyword), 1 - weight, "min_max")
    vector = Branch("semantic", _exactly(params.candidate_k_vector), weight, "min_max")
    branches = {"keyword": (keyword,), "semantic": (vector,)}.get(params.mode, (keyword, vector))
    return Profile(
        branches,
        WeightedSum(),
        ties=("newest_first", "document_id", "chunk_id"),
        unit="document" if params.group_by == "document" else "chunk",
        aggregate="avg" if params.doc_agg == "avg" else "max",
        lead=_lead(weight),
    )


def _exactly(depth: int) -> Fetch:
    return Fetch(times=0, at_least=depth)


def _lead(weight: float) -> tuple[Signal, ...]:
    """At alpha 0 or 1 one leg alone decides; the other counts only if that leg has no hits."""
    if weight == 0.0:
        return ("lexical", "semantic")
    return ("semantic", "lexical") if weight == 1.0 else ()


def plan(query: str, params: Params) -> Plan:
    for name in ("candidate_k_keyword", "candidate_k_vector"):
        if getattr(params, name) < params.final_limit:
            raise UsageError(
                f"{name} is {getattr(params, name)} and final_limit is {params.final_limit}; "
                f"{name} must not be smaller than final_limit",
                details={"parameter": name},
            )
    return Plan(
        query,
        profile(params),
        params.final_limit,
        params.syntax,
        reading=Reading(content_only=True),  # "FTS5 match over `chunks.text`"
        filter=params.filters,
        notes=_clamped(params),
    )


def _clamped(params: Params) -> tuple[Note, ...]:
    if 0.0 <= params.hybrid_alpha <= 1.0:
        return ()
    used = min(1.0, max(0.0, params.hybrid_alpha))
    message = f"hybrid_alpha {params.hybrid_alpha:g} was clamped to {used:g}; it lies between 0 and 1"
    return ({"code": "alpha_clamped", "message": message},)


class HarnessResult(TypedDict):
    """A document with its best passage, as contract harness returns it."""

    document_id: str
    doc_score: float
    snippet: str
    chunk_id: str
    path: str
    title: str
    updated_at: str
    source: str
    metadata: Metadata


class HarnessBody(TypedDict):
    """The response to a search by contract harness."""

    query: str
    mode: str
    hybrid_alpha: float
    results: list[HarnessResult]


def project(params: Params, plan: Plan, answer: Answer) -> HarnessBody:
    return {
        "query": plan.query,
        "mode": params.mode,
        "hybrid_alpha": alpha(params),
        "results": [_result(item, answer) for item in answer.ranked],
    }


def _result(item: Ranked, answer: Answer) -> HarnessResult:
    passage = answer.passages[item.best_chunk]
    document = passage.document
    return {
        "document_id": document.id,
        "doc_score": item.score,
        "snippet": passage.chunk.content,
        "chunk_id": passage.chunk.id,
        "path": document.path,
        "title": document.title,
        "updated_at": iso_utc(document.modified_ms),
        "source": document.root,
        "metadata": dict(document.metadata),
    }


def iso_utc(milliseconds: int) -> str:
    """ISO 8601 in UTC with milliseconds, by integer arithmetic.

    >>> iso_utc(1_700_000_000_123), iso_utc(-1)
    ('2023-11-14T22:13:20.123Z', '1969-12-31T23:59:59.999Z')
    """
    moment = EPOCH + timedelta(milliseconds=milliseconds)  # some systems cannot convert times before 1970
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


CONTRACT = Contract("harness", Params, plan, project, HarnessBody, limit="final_limit", mode="mode")
