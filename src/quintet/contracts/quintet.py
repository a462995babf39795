"""The house ranking: RRF over both legs, with identifier parts, and every contribution shown."""

from dataclasses import dataclass
from math import inf

from quintet.contracts.contract import EF, Answer, Contract, Plan, Reading, Syntax
from quintet.contracts.filters import FILTER
from quintet.contracts.inline_filters import split
from quintet.contracts.parameters import LIMIT, SYNTAX, number, one_of, parameter
from quintet.model import Evidence, Filter, Json, Note, Ranked
from quintet.ranking import Branch, Fetch, OrderKey, Profile, Rrf, WeightedSum

DEEP = Fetch(times=3, at_least=50)  # deeper than the page, so that what both legs like can rise

TIES: tuple[OrderKey, ...] = ("path", "sequence", "chunk_id")


@dataclass(frozen=True, slots=True)
class Params:
    limit: int = parameter(10, LIMIT, "results to return")
    mode: str = parameter("hybrid", one_of("lexical", "semantic", "hybrid"), "which signals to use")
    rrf_k: float = parameter(60.0, number(0, inf), "constant of reciprocal rank fusion")
    filters: Filter = parameter(Filter(), FILTER, "what results must fulfil")
    inline_filters: str = parameter(
        "on", one_of("on", "off"), "read name:value among the words of the query as a filter"
    )
    vectors: str = parameter("exact", one_of(*EF), "compare every vector, or let HNSW propose candidates")
    syntax: Syntax = parameter("plain", SYNTAX, "plain words, or FTS5's own query language")


def profile(params: Params) -> Profile:
    lexical, semantic = Branch("lexical", DEEP), Branch("semantic", DEEP)
    match params.mode:
        case "lexical":
            return Profile((lexical,), WeightedSum(), TIES)
        case "semantic":
            return Profile((semantic,), WeightedSum(), TIES)
        case _:
            return Profile((lexical, semantic), Rrf(params.rrf_k), TIES)


def plan(query: str, params: Params) -> Plan:
    filter, notes = params.filters, tuple[Note, ...]()
    if params.inline_filters == "on" and params.syntax == "plain":
        query, inline, notes = split(query)
        filter = Filter(filter.conditions + inline.conditions)
    return Plan(
        query,
        profile(params),
        params.limit,
        params.syntax,
        reading=Reading(parts=True),
        filter=filter,
        ef=EF[params.vectors],
        zero_vector_counts=params.mode == "semantic",
        notes=notes,
    )


def project(params: Params, plan: Plan, answer: Answer) -> dict[str, Json]:
    return {
        "query": plan.query,
        "mode": params.mode,
        "results": [_result(item, answer) for item in answer.ranked],
    }


def _result(item: Ranked, answer: Answer) -> dict[str, Json]:
    passage = answer.passages[item.best_chunk]
    signals: dict[str, Json] = {signal: _shown(seen) for signal, seen in item.evidence.items()}
    return {
        "chunk_id": passage.chunk.id,
        "path": passage.document.path,
        "heading_path": passage.chunk.heading_path,
        "lines": [passage.chunk.first_line, passage.chunk.last_line],
        "content": passage.chunk.content,
        "score": item.score,
        "signals": signals,
    }


def _shown(seen: Evidence) -> Json:
    return {
        "rank": seen.rank,
        "score": seen.score,
        "raw": seen.raw,
        "weight": seen.weight,
        "contribution": seen.contribution,
    }


CONTRACT = Contract("quintet", Params, plan, project, limit="limit", mode="mode")
