"""THE READ PATH: parameters, plan, legs, facts, ranking, text, projection."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from quintet.contracts import Answer, Contract, Plan, read
from quintet.errors import UsageError
from quintet.model import Json, Note, Signal, Status
from quintet.ports import Embedder, Snapshot
from quintet.ranking import rank
from quintet.search.parse import clean
from quintet.search.signals import Legs, chunks_of, run
from quintet.settings import Settings


@dataclass(frozen=True, slots=True)
class Response:
    """A contract's own body, and beside it how the answer came about.

    `answer` holds the evidence behind the body, `seconds` how long each leg took. Both are for those who
    explain or watch the engine, and never go on a wire.
    """

    body: dict[str, Json]
    status: Status
    notes: list[Note]
    answer: Answer | None = field(default=None, compare=False, repr=False)
    seconds: Mapping[Signal, float] = field(default_factory=dict, compare=False, repr=False)

    def wire(self) -> dict[str, Json]:
        """The body as it goes over a wire: `status` and `notes` are two more top-level keys."""
        notes: list[Json] = [{"code": note["code"], "message": note["message"]} for note in self.notes]
        return {**self.body, "status": self.status, "notes": notes}


def search(
    snapshot: Snapshot,
    embedder: Embedder | None,
    contract: Contract,
    query: object,
    given: Mapping[str, object],
    settings: Settings,
) -> Response:
    defaults = settings.contracts.get(contract.name, {})
    params = read(contract.name, contract.parameters, _spelt(contract, given), defaults)
    plan: Plan = contract.plan(clean(query, settings.max_query_chars), params)
    legs = run(snapshot, embedder, plan, settings.max_terms)
    facts = snapshot.catalog.facts(chunks_of(legs.hits))
    ranked = rank(plan.profile, legs.hits, facts, plan.limit)
    shown = [item.best_chunk for item in ranked]
    answer = Answer(
        ranked,
        snapshot.catalog.passages(shown),
        snapshot.text.matched_fields(legs.text, shown) if legs.text and plan.needs_fields else {},
        {chunk_id: facts[chunk_id].freshness for chunk_id in shown},
        embedder.identity if embedder else "none",
    )
    if plan.needs_freshness:
        legs.note("freshness_missing", "freshness is not checked yet; every result counts as Fresh")
    body = contract.project(params, plan, answer)
    return Response(body, _status(snapshot, legs), legs.notes, answer, legs.seconds)


def _spelt(contract: Contract, given: Mapping[str, object]) -> dict[str, object]:
    """The request in the specification's spelling: `limit` and `mode` are what every interface offers."""
    spelling = {"limit": contract.limit, "mode": contract.mode}
    spelt: dict[str, object] = {}
    for name, value in given.items():
        own = spelling.get(name, name)
        if own is None:
            raise UsageError(f"contract {contract.name} has no modes; leave {name!r} out")
        if own in spelt:
            raise UsageError(f"{own} was given twice, once as {name!r}; give it once")
        spelt[own] = value
    return spelt


def _status(snapshot: Snapshot, legs: Legs) -> Status:
    if not snapshot.catalog.ever_filled():
        return "never_indexed"
    if not snapshot.catalog.counts().documents:
        return "empty_index"
    return "degraded" if legs.degraded else "ok"
