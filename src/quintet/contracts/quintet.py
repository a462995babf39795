"""The house ranking: a weighted sum of cosine, stemmed BM25 and evidence about files and definitions, with
every contribution shown."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NotRequired, TypedDict

from quintet.contracts.bases import (
    DEFAULT_INDEX,
    INDEX,
    base_fields,
    in_base,
    only_folders,
    result_metadata,
    with_filters,
)
from quintet.contracts.confidence import confidence, low_confidence
from quintet.contracts.contract import EF, Answer, Contract, Plan, Reading, Syntax
from quintet.contracts.intent import IntentKind, read_intent
from quintet.filters.fields import FILTER, GENERAL, filter_language
from quintet.filters.inline import MARKS, split
from quintet.model.filters import Filter
from quintet.model.parameters import LIMIT, SYNTAX, number, one_of, parameter
from quintet.model.results import Evidence, Note, Ranked
from quintet.model.schema import Count, Lines, Object, Probability
from quintet.ranking import Branch, Fetch, OrderKey, Profile, Saturating, WeightedSum

DEEP = Fetch(times=3, at_least=50)  # deeper than the page, so that chunks with other evidence can rise
ALONE = Fetch(times=3, at_least=100)  # words alone have no second leg that finds candidates
SCORED = Fetch(times=0)  # a signal that finds nothing by itself

TIES: tuple[OrderKey, ...] = ("path", "sequence", "chunk_id")
SCORING = (
    "mode",
    "semantic_weight",
    "heading_weight",
    "half_score",
    "feedback",
    "path_weight",
    "definition_weight",
    "literal_weight",
    "role_weight",
    "agreement_weight",
    "neighbour_weight",
    "repeat_factor",
    "syntax",
)


FILTERS = "filters that results must match"


@dataclass(frozen=True, slots=True)
class Params:
    index: str = parameter(DEFAULT_INDEX, INDEX, "which knowledge base; default is the indexed folders")
    limit: int = parameter(10, LIMIT, "results to return")
    mode: str = parameter("hybrid", one_of("lexical", "semantic", "hybrid"), "which signals to use")
    semantic_weight: float = parameter(
        0.7, number(0, 1), "weight of the semantic leg in hybrid mode; full text gets the rest"
    )
    heading_weight: float = parameter(
        1.5, number(0, 100), "weight of a word in a heading or title; a word in the text has 1"
    )
    half_score: float = parameter(
        60.0, number(1, 10_000), "the BM25 score that gets half of the weight of full text"
    )
    feedback: float = parameter(
        0.2, number(0, 1), "how far the query vector moves towards the vector of the best result"
    )
    path_weight: float = parameter(
        0.3, number(0, 10), "weight of the words that the query shares with the path of a file"
    )
    definition_weight: float = parameter(
        0.2, number(0, 10), "weight of defining what the query names; shared words count half"
    )
    literal_weight: float = parameter(
        0.2, number(0, 10), "weight of holding names and parts of an error message word for word"
    )
    role_weight: float = parameter(
        0.2,
        number(0, 10),
        "taken off tests, examples, change logs, build scripts, generated, vendored and superseded files; "
        "added to prose beside source code if the query is a question",
    )
    agreement_weight: float = parameter(
        0.3, number(0, 10), "weight of what the other chunks of a source file score"
    )
    neighbour_weight: float = parameter(
        0.5,
        number(0, 10),
        "weight of how much more the five candidates nearest to a passage of prose score than itself",
    )
    repeat_factor: float = parameter(
        0.5, number(0, 1), "share of its score that each further chunk of a document keeps"
    )
    filters: Filter = parameter(Filter(), FILTER, FILTERS)
    inline_filters: str = parameter("on", one_of("on", "off"), "read name:value in the query as a filter")
    vectors: str = parameter("exact", one_of(*EF), "compare every vector, or let HNSW propose candidates")
    syntax: Syntax = parameter("plain", SYNTAX, "plain words, or the query language of FTS5")


USUAL = Params()


def profile(params: Params) -> Profile:
    """Hybrid: `w * cosine + (1 - w) * bm25 / (bm25 + half_score)`, over all hits of either leg, plus what the
    path, the definition, the role of the file, its other chunks and the nearest candidates say."""
    if params.mode == "semantic":
        return Profile((Branch("semantic", DEEP),), WeightedSum(), TIES)
    hybrid = params.mode == "hybrid"
    weight, fetch = (params.semantic_weight, DEEP) if hybrid else (0.0, ALONE)
    lexical = Branch("lexical", fetch, round(1 - weight, 12), Saturating(params.half_score), complete=True)
    semantic = Branch("semantic", DEEP, weight, "unit", complete=True)
    neighbours = Branch("neighbours", SCORED, params.neighbour_weight, complete=True)
    evidence = (
        Branch("path", SCORED, params.path_weight, complete=True),
        Branch("definition", SCORED, params.definition_weight, complete=True),
        Branch("literal", SCORED, params.literal_weight, complete=True),
        Branch("role", SCORED, params.role_weight, complete=True),
        Branch("agreement", SCORED, params.agreement_weight, complete=True),
    )
    return Profile(
        (lexical, semantic, *evidence, neighbours) if hybrid else (lexical, *evidence),
        WeightedSum(),
        TIES,
        feedback=params.feedback if hybrid else 0.0,
        repeat=params.repeat_factor,
    )


ONE_FILE: Mapping[IntentKind, float] = {"path": 1.0, "symbol": 0.8}  # what further chunks keep at least
READ_AS: Mapping[IntentKind, str] = {
    "symbol": "the query was read as a name, so its definition comes first",
    "path": "the query was read as a path, so that file comes first",
    "traceback": "the query was read as a traceback: names, files and the first line count most",
    "issue": "the query was read as pasted text: its first line and the names of code in it count most",
    "error": "the query was read as an error message",
    "question": "the query was read as a question, so documentation counts as much as source code",
    "phrase": "the query was read as a phrase, so only its words in this order match as text",
}


def plan(query: str, params: Params) -> Plan:
    if params.index != DEFAULT_INDEX:
        raise only_folders(params.index)
    return _planned(query, params, GENERAL)


def _planned(query: str, params: Params, fields: Mapping[str, str]) -> Plan:
    """`fields` are those that conditions inside the query may name."""
    filter, notes = params.filters, tuple[Note, ...]()
    if params.inline_filters == "on" and params.syntax == "plain" and MARKS.search(query):
        query, inline, notes = split(query, fields)
        filter = Filter(filter.conditions + inline.conditions)
    intent = read_intent(query) if params.mode != "semantic" and params.syntax == "plain" else None
    if intent is not None and intent.kind in READ_AS:
        notes = (*notes, Note(code="read_as", message=READ_AS[intent.kind]))
    ranking = profile(params) if intent is None else _for_kind(profile(params), intent.kind)
    return Plan(
        query,
        ranking,
        params.limit,
        params.syntax,
        reading=Reading(
            stop_words="english",
            repeats=True,
            respelt=True,
            parts=True,
            stems=True,
            even=True,
            field_weights=(("heading_path", params.heading_weight), ("title", params.heading_weight)),
            exact_bm25=False,
        ),
        filter=filter,
        intent=intent,
        ef=EF[params.vectors],
        notes=notes,
    )


def _for_kind(profile: Profile, kind: IntentKind) -> Profile:
    """A path or a name asks for one file, so further chunks of it keep more. A question asks for a passage,
    so what speaks for a whole file counts half."""
    if kind == "question":
        halved = [
            replace(branch, weight=branch.weight / 2) if branch.signal in ("path", "agreement") else branch
            for branch in profile.branches
        ]
        return replace(profile, branches=tuple(halved))
    return replace(profile, repeat=max(profile.repeat, ONE_FILE.get(kind, 0.0)))


class SignalEvidence(TypedDict):
    """What one signal says about a result, and how much that adds to its score."""

    rank: Count | None
    score: float
    raw: float
    weight: float
    contribution: float


class HouseResult(TypedDict):
    """A result of the house ranking. Its score is the sum of the contributions of its signals."""

    chunk_id: str
    root: str
    path: str
    page: Count | None
    heading_path: str
    lines: Lines
    content: str
    score: float
    signals: dict[str, SignalEvidence]
    metadata: NotRequired[Object]  # of a document in a knowledge base


class HouseBody(TypedDict):
    """The response of the house ranking. `confidence` is the chance that the first result answers."""

    index: NotRequired[str]  # the knowledge base, if one was searched
    query: str
    mode: str
    confidence: Probability | None
    results: list[HouseResult]


def project(params: Params, plan: Plan, answer: Answer) -> HouseBody:
    return {
        "query": plan.query,
        "mode": params.mode,
        "confidence": _confidence(params, plan, answer),
        "results": [_result(item, answer) for item in answer.ranked],
    }


def _project_in_base(params: Params, plan: Plan, answer: Answer) -> HouseBody:
    """The same body with the name of the base, and with the metadata of each document."""
    body = project(params, plan, answer)
    for result in body["results"]:
        result["metadata"] = result_metadata(answer.passages[result["chunk_id"]], of_base=True)
    return {"index": params.index, **body}


def remarks(params: Params, plan: Plan, answer: Answer) -> tuple[Note, ...]:
    return low_confidence(_confidence(params, plan, answer))


def _confidence(params: Params, plan: Plan, answer: Answer) -> float | None:
    """None if a parameter differs from those that the calibration was fitted with."""
    if any(getattr(params, name) != getattr(USUAL, name) for name in SCORING):
        return None
    return None if plan.intent is None else confidence(plan.intent, answer)


def _result(item: Ranked, answer: Answer) -> HouseResult:
    passage = answer.passages[item.best_chunk]
    return {
        "chunk_id": passage.chunk.id,
        "root": passage.document.root,
        "path": passage.document.path,
        "page": passage.chunk.page,
        "heading_path": passage.chunk.heading_path,
        "lines": [passage.chunk.first_line, passage.chunk.last_line],
        "content": passage.chunk.content,
        "score": item.score,
        "signals": {signal: _shown(evidence) for signal, evidence in item.evidence.items()},
    }


def _shown(evidence: Evidence) -> SignalEvidence:
    return {
        "rank": evidence.rank,
        "score": evidence.score,
        "raw": evidence.raw,
        "weight": evidence.weight,
        "contribution": evidence.contribution,
    }


CONTRACT = Contract("quintet", Params, plan, project, HouseBody, limit="limit", mode="mode", remarks=remarks)


def for_base(properties: Mapping[str, str]) -> Contract:
    """The contract in one knowledge base. Its filters, also those inside a query, know the fields of spec 003
    and the `properties` (type by name) of its schema besides the general ones."""
    own = base_fields(properties)
    fields = {**GENERAL, **own}

    def plan_in_base(query: str, params: Params) -> Plan:
        planned = _planned(query, params, fields)
        return replace(planned, filter=in_base(planned.filter, own))

    parameters = with_filters(Params, filter_language(fields), FILTERS)
    return replace(CONTRACT, parameters=parameters, plan=plan_in_base, project=_project_in_base)
