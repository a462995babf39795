"""The house ranking: RRF over both legs, with identifier parts, and every contribution shown."""

from dataclasses import dataclass
from math import inf

from quintet.contracts.contract import Answer, Contract, Plan, Reading, Syntax
from quintet.contracts.filters import GENERAL, filters
from quintet.contracts.parameters import LIMIT, SYNTAX, number, one_of, parameter
from quintet.model import Evidence, Filter, Json, Ranked
from quintet.ranking import Branch, Fetch, OrderKey, Profile, Rrf, WeightedSum

DEEP = Fetch(times=3, at_least=50)  # deeper than the page, so that what both legs like can rise

TIES: tuple[OrderKey, ...] = ("path", "sequence", "chunk_id")


@dataclass(frozen=True, slots=True)
class Params:
    limit: int = parameter(10, LIMIT, "results to return")
    mode: str = parameter("hybrid", one_of("lexical", "semantic", "hybrid"), "which signals to use")
    rrf_k: float = parameter(60.0, number(0, inf), "constant of reciprocal rank fusion")
    filters: Filter = parameter(Filter(), filters(GENERAL), "conditions that all must hold")
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
    return Plan(
        query,
        profile(params),
        params.limit,
        params.syntax,
        reading=Reading(parts=True),
        filter=params.filters,
        zero_vector_counts=params.mode == "semantic",
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
