"""Agent memory (spec 002, section 4): both legs by RRF over whole memories, older truths left out.

It ranks another database than the published contracts do, so it is not one of them: `Index.memory` asks it.
"""

import re
from dataclasses import dataclass
from typing import Any

from quintet.contracts.contract import Answer, Contract, Plan, Reading
from quintet.model.documents import Json
from quintet.model.filters import Condition, Filter
from quintet.model.memories import KINDS, About, AboutState, Memo, memo_from
from quintet.model.parameters import LIMIT, NotAllowed, ValueCheck, one_of, parameter, whole
from quintet.model.results import Evidence, Ranked
from quintet.ranking import Branch, Fetch, Profile, Rrf

DEEP = Fetch(times=3, at_least=50)  # a memory may have several passages among the candidates
RRF_K = 60.0  # Cormack et al. 2009
LATEST_MS = (2**63 - 1) // 1_000_000  # in April 2262: the last that a document can have


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


UNSTORABLE = re.compile("[\0\ud800-\udfff]")
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
    include_superseded: bool = parameter(False, TRUTH, "also what no longer holds")


def conditions(params: Params) -> Filter:
    """Which memories are meant, as conditions the store knows."""
    given: dict[str, Any] = {"kind": params.kind, "session": params.session, "about": params.about}
    given |= {"since": params.since, "until": params.until}
    found = [Condition(f"memory.{name}", value) for name, value in given.items() if value is not None]
    found += [Condition("memory.tag", tag) for tag in params.tags]
    if not params.include_superseded:
        found.append(Condition("memory.superseded", False))
    return Filter(tuple(found))


PROFILE = Profile(
    (Branch("lexical", DEEP), Branch("semantic", DEEP)),
    Rrf(RRF_K),
    ties=("newest_first", "path", "sequence", "chunk_id"),
    unit="document",
)


def plan(query: str, params: Params) -> Plan:
    return Plan(query, PROFILE, params.limit, reading=Reading(parts=True), filter=conditions(params))


def project(params: Params, plan: Plan, answer: Answer) -> dict[str, Json]:
    results: list[Json] = []
    for item in answer.ranked:
        memo = memo_from(answer.passages[item.best_chunk].document.metadata)
        results.append({**shown(memo), **_ranked(item)})
    return {"query": plan.query, "results": results}


def shown(memo: Memo) -> dict[str, Json]:
    """A memory as every answer shows it. Whether what it is about changed is for those who see the disk."""
    fields = memo.fields()
    about: list[Json] = [shown_about(one) for one in memo.about]
    valid: Json = {"from_ms": memo.created_ms, "until_ms": memo.valid_until_ms}
    del fields["valid_until_ms"]
    return {**fields, "about": about, "valid": valid}


def shown_about(about: About, state: AboutState = "unknown") -> dict[str, Json]:
    known = {name: value for name, value in about.fields().items() if name != "digest" and value is not None}
    return {**known, "state": state}


def _ranked(item: Ranked) -> dict[str, Json]:
    signals: dict[str, Json] = {signal: _signal(seen) for signal, seen in item.evidence.items()}
    return {"score": item.score, "signals": signals}


def _signal(seen: Evidence) -> Json:
    return {"rank": seen.rank, "score": seen.score, "raw": seen.raw, "contribution": seen.contribution}


MEMORY = Contract("memory", Params, plan, project, limit="limit", mode=None)
