"""The contract of `recall` (spec 002, section 4): both legs, fused by RRF, over whole memories.

Superseded memories are left out. It is not one of the published contracts, since it searches the database of
memories instead of the index.
"""

from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict, cast

from quintet.contracts.contract import Answer, Contract, Plan, Reading
from quintet.model.filters import Condition, Filter
from quintet.model.memories import KINDS, About, AboutState, Memo, MemoryFreshness, memo_from
from quintet.model.metadata import UNSTORABLE
from quintet.model.parameters import LIMIT, NotAllowed, ValueCheck, one_of, parameter, whole
from quintet.model.results import Evidence, Ranked
from quintet.model.schema import Count, Lines, Metadata, keywords
from quintet.ranking import Branch, Fetch, Profile, Rrf

DEEP = Fetch(times=3, at_least=50)  # a memory may have several passages among the candidates
RRF_K = 60.0  # Cormack et al. 2009
LATEST_MS = (2**63 - 1) // 1_000_000  # in April 2262: the last time that a document can have


def is_storable(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and not UNSTORABLE.search(value)


def _name(value: object) -> object:
    if not is_storable(value):
        raise NotAllowed("text without NUL or lone surrogates")
    return value


def _tags(value: object) -> object:
    if not isinstance(value, (list, tuple)) or not all(map(is_storable, value)):
        raise NotAllowed("a list of texts without NUL or lone surrogates")
    return tuple(value)


def _truth(value: object) -> object:
    if not isinstance(value, bool):
        raise NotAllowed("true or false")
    return value


NAME = ValueCheck(_name, {"type": "string", "minLength": 1})
TAGS = ValueCheck(_tags, {"type": "array", "items": NAME.schema})
TRUTH = ValueCheck(_truth, {"type": "boolean"})
WHEN = whole(0, LATEST_MS)


@dataclass(frozen=True, slots=True)
class Params:
    limit: int = parameter(10, LIMIT, "memories to return")
    kind: str | None = parameter(None, one_of(*KINDS), "only this kind")
    tags: tuple[str, ...] = parameter((), TAGS, "only with all of these tags")
    session: str | None = parameter(None, NAME, "only from this session")
    about: str | None = parameter(None, NAME, "only about this path or symbol")
    since: int | None = parameter(None, WHEN, "created then or later, Unix milliseconds")
    until: int | None = parameter(None, WHEN, "created before that, Unix milliseconds")
    include_superseded: bool = parameter(False, TRUTH, "include superseded memories")


def memory_filter(params: Params) -> Filter:
    """The parameters as a filter of the store."""
    values: dict[str, Any] = {"kind": params.kind, "session": params.session, "about": params.about}
    values |= {"since": params.since, "until": params.until}
    conditions = [Condition(f"memory.{name}", value) for name, value in values.items() if value is not None]
    conditions += [Condition("memory.tag", tag) for tag in params.tags]
    if not params.include_superseded:
        conditions.append(Condition("memory.superseded", False))
    return Filter(tuple(conditions))


PROFILE = Profile(
    (Branch("lexical", DEEP), Branch("semantic", DEEP)),
    Rrf(RRF_K),
    ties=("newest_first", "path", "sequence", "chunk_id"),
    unit="document",
)


def plan(query: str, params: Params) -> Plan:
    return Plan(query, PROFILE, params.limit, reading=Reading(parts=True), filter=memory_filter(params))


class SubjectFields(TypedDict):
    """What a memory is about, and whether that changed since."""

    path: NotRequired[str]
    symbol: NotRequired[str]
    root: NotRequired[str]
    lines: NotRequired[Lines]
    state: AboutState


class Validity(TypedDict):
    """A memory is valid from `from_ms` until `until_ms`; null means that it still is."""

    from_ms: Count
    until_ms: Count | None


class MemoryFields(TypedDict):
    """A memory: a text with its kind, its times, and what it is about."""

    id: str
    text: str
    kind: Annotated[str, keywords(enum=KINDS)]
    created_ms: Count
    last_seen_ms: Count
    seen: Count
    tags: list[str]
    about: list[SubjectFields]
    session: str | None
    sessions: list[str]
    supersedes: list[str]
    superseded_by: str | None
    metadata: Metadata
    valid: Validity


class MemoryEvidence(TypedDict):
    """What one signal says about a memory."""

    rank: Count | None
    score: float
    raw: float
    contribution: float


class MemoryResult(MemoryFields):
    """A memory that matches, and whether what it is about has changed."""

    score: float
    signals: dict[str, MemoryEvidence]
    freshness: MemoryFreshness


class MemoryBody(TypedDict):
    """The memories that match, best first."""

    query: str
    results: list[MemoryResult]


def project(params: Params, plan: Plan, answer: Answer) -> MemoryBody:
    return {"query": plan.query, "results": [_result(item, answer) for item in answer.ranked]}


def _result(item: Ranked, answer: Answer) -> MemoryResult:
    """`Memory.recall` replaces the freshness and the state of each subject, since it reads the disk."""
    memo = memo_from(answer.passages[item.best_chunk].document.metadata)
    return {
        **memory_fields(memo),
        "score": item.score,
        "signals": {signal: _evidence(evidence) for signal, evidence in item.evidence.items()},
        "freshness": "Fresh",
    }


def memory_fields(memo: Memo) -> MemoryFields:
    """A memory as every answer shows it."""
    fields: Any = memo.fields()
    del fields["valid_until_ms"]
    fields["about"] = [subject_fields(about) for about in memo.about]
    fields["valid"] = {"from_ms": memo.created_ms, "until_ms": memo.valid_until_ms}
    return cast(MemoryFields, fields)


def subject_fields(about: About, state: AboutState = "unknown") -> SubjectFields:
    known: Any = {name: value for name, value in about.fields().items() if value is not None}
    known.pop("digest", None)
    return cast(SubjectFields, {**known, "state": state})


def _evidence(evidence: Evidence) -> MemoryEvidence:
    rank, score, raw = evidence.rank, evidence.score, evidence.raw
    return {"rank": rank, "score": score, "raw": raw, "contribution": evidence.contribution}


MEMORY = Contract("memory", Params, plan, project, MemoryBody, limit="limit", mode=None)
