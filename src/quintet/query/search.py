"""THE READ PATH: parameters, plan, legs, facts, ranking, text, projection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quintet.contracts import Answer, Contract, Plan, read
from quintet.errors import UsageError
from quintet.model.documents import Json
from quintet.model.results import Facts, Note, Signal, Status
from quintet.ports.reading import Disk, Embedder, Snapshot
from quintet.query.cache import QueryCache, key_of
from quintet.query.legs import Legs, run
from quintet.query.staleness import candidates
from quintet.query.text import clean
from quintet.settings import Settings

UNFINISHED: Note = {
    "code": "run_unfinished",
    "message": "an index run is under way or was cut short, so some text cannot be found yet; "
    "'quintet index' completes it",
}


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about: what was asked in the contract's own words, the plan made of it, what the
    legs brought and what was known about the best of it. `query` is the text before filters are taken out
    of it."""

    contract: Contract
    query: str
    given: Mapping[str, object]
    params: Any
    plan: Plan
    legs: Legs
    facts: Mapping[str, Facts]


@dataclass(frozen=True, slots=True)
class Response:
    """A contract's own body, and beside it how the answer came about.

    `answer` holds the evidence behind the body, `seconds` how long each leg took, `trace` what led to it.
    They are for those who explain or watch the engine, and never go on a wire. `receipt` does, if the
    caller asked for one.
    """

    body: dict[str, Json]
    status: Status
    notes: list[Note]
    answer: Answer | None = field(default=None, compare=False, repr=False)
    seconds: Mapping[Signal, float] = field(default_factory=dict, compare=False, repr=False)
    trace: Trace | None = field(default=None, compare=False, repr=False)
    receipt: dict[str, Json] | None = field(default=None, repr=False)

    def wire(self) -> dict[str, Json]:
        """The body as it goes over a wire: `status` and `notes` are two more top-level keys."""
        notes: list[Json] = [{"code": note["code"], "message": note["message"]} for note in self.notes]
        beside: dict[str, Json] = {} if self.receipt is None else {"receipt": self.receipt}
        return {**self.body, "status": self.status, "notes": notes, **beside}


def search(
    snapshot: Snapshot,
    embedder: Embedder | None,
    contract: Contract,
    query: object,
    given: Mapping[str, object],
    settings: Settings,
    disk: Disk,
    cache: QueryCache | None = None,
    scope: str = "",
) -> Response:
    """`cache` keeps what legs return; `scope` names what this caller may see, and is never shared."""
    defaults, spelt = settings.contracts.get(contract.name, {}), _spelt(contract, given)
    params = read(contract.name, contract.parameters, spelt, defaults)
    text = clean(query, settings.max_query_chars)
    plan: Plan = contract.plan(text, params)

    def fetch(deep: Plan) -> Legs:
        return _legs(snapshot, embedder, contract, deep, settings.max_terms, cache, scope)

    found = candidates(plan, snapshot.catalog, disk, fetch)
    legs, facts = found.legs, found.facts
    shown = [item.best_chunk for item in found.ranked]
    answer = Answer(
        found.ranked,
        snapshot.catalog.passages(shown),
        snapshot.text.matched_fields(legs.text, shown) if legs.text and plan.needs_fields else {},
        {chunk_id: facts[chunk_id].freshness for chunk_id in shown},
        embedder.identity if embedder else "none",
        found.best,
    )
    body = contract.project(params, plan, answer)
    unfinished = [UNFINISHED] if snapshot.catalog.unfinished else []
    notes = [*unfinished, *legs.notes, *contract.remarks(params, plan, answer)]
    trace = Trace(contract, text, {**defaults, **spelt}, params, plan, legs, facts)
    return Response(body, _status(snapshot, legs), notes, answer, legs.seconds, trace)


def _legs(
    snapshot: Snapshot,
    embedder: Embedder | None,
    contract: Contract,
    plan: Plan,
    max_terms: int,
    cache: QueryCache | None,
    scope: str,
) -> Legs:
    def running() -> Legs:
        return run(snapshot, embedder, plan, max_terms)

    if cache is None or plan.ef is not None:  # an HNSW graph grows between two searches
        return running()
    return cache.fetch(key_of(snapshot, embedder, contract.name, plan, max_terms, scope=scope), running)


def _spelt(contract: Contract, given: Mapping[str, object]) -> dict[str, object]:
    """The request in the specification's spelling: `limit` and `mode` are what every interface offers."""
    spelling = {"limit": contract.limit, "mode": contract.mode}
    spelt: dict[str, object] = {}
    for name, value in given.items():
        own = spelling.get(name, name)
        if own is None:
            raise UsageError(
                f"contract {contract.name} has no modes; leave {name!r} out", details={"parameter": name}
            )
        if own in spelt:
            raise UsageError(
                f"{own} was given twice, once as {name!r}; give it once", details={"parameter": own}
            )
        spelt[own] = value
    return spelt


def _status(snapshot: Snapshot, legs: Legs) -> Status:
    if not snapshot.catalog.counts().documents:
        return "empty_index" if snapshot.catalog.ever_filled() else "never_indexed"
    return "degraded" if legs.degraded else "ok"
