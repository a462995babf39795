"""Why a chunk is among the results or not: its rank in each leg, what removed it, what would bring it in."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from math import inf
from typing import Annotated, Any, TypedDict

from quintet.contracts import Plan
from quintet.errors import NotFound
from quintet.filters.grammar import render
from quintet.model.filters import Filter
from quintet.model.results import Facts, Hit, Ranked, Signal
from quintet.model.schema import Count
from quintet.ports.reading import Embedder, Snapshot
from quintet.query.counterfactual import Ask, ParameterChange, changes
from quintet.query.legs import Legs, chunk_ids_of, depth_of, run_legs
from quintet.query.search import Response, Trace
from quintet.ranking import Fetch, Profile, rank
from quintet.ranking.freshness import BEST_FIRST
from quintet.ranking.gather import FINDERS

FLOORS: Mapping[Signal, str] = {"lexical": "min_score", "semantic": "min_similarity"}
MAX_CHUNKS = 50  # of a document


@dataclass(frozen=True, slots=True)
class Standing:
    """A chunk's rank in one leg. The leg returns `depth` hits; the last of those scores `cutoff`."""

    signal: Signal
    rank: Count | None
    of: Count
    score: float | None
    depth: Count
    cutoff: float | None

    @property
    def within_depth(self) -> bool:
        return self.rank is not None and self.rank <= self.depth

    def sentence(self) -> str:
        if self.rank is None or self.score is None:
            return f"{self.signal}: it does not match ({self.of} chunks do)"
        where = f"{self.signal}: rank {self.rank} of {self.of}, score {self.score:.6g}"
        if self.within_depth or self.cutoff is None:
            return where
        return f"{where}; the leg returns {self.depth}, the last of them with score {self.cutoff:.6g}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """`rank` is the rank among the results, None if the chunk is not there. `reasons` are sentences in the
    order of the engine's steps. Each of `changes` alone brings the chunk in, the smallest first."""

    chunk_id: str
    path: str
    first_line: int
    rank: int | None
    reasons: tuple[str, ...]
    standings: tuple[Standing, ...]
    changes: tuple[ParameterChange, ...] = ()

    def lines(self) -> Iterator[str]:
        """The explanation as text for people."""
        yield f"{self.path}:{self.first_line} (chunk {self.chunk_id})"
        if self.rank is None:
            yield "  it is not among the results"
        yield from (f"  {reason}" for reason in self.reasons)
        for change in self.changes:
            before = "" if change["from"] is None else f" instead of {change['from']}"
            yield f"  {change['parameter']} {change['to']}{before} would make it result {change['rank']}"
        if self.rank is None and not self.changes:
            yield "  no single parameter that was tried would bring it in"

    def wire(self) -> "ExplanationFields":
        return {
            "chunk_id": self.chunk_id,
            "path": self.path,
            "first_line": self.first_line,
            "rank": self.rank,
            "reasons": list(self.reasons),
            "legs": [asdict(standing) for standing in self.standings],
            "changes": list(self.changes),
        }


class ExplanationFields(TypedDict):
    """Why a chunk is among the results or not, and which changes would bring it in."""

    chunk_id: str
    path: str
    first_line: int
    rank: Count | None
    reasons: list[str]
    legs: list[Annotated[Any, Standing]]
    changes: list[ParameterChange]


def why(
    snapshot: Snapshot,
    embedder: Embedder | None,
    ask: Ask,
    params: Mapping[str, object],
    chunk_ids: Sequence[str],
    max_terms: int,
) -> Explanation:
    """Explain the chunk that came nearest: a result, else the best in any leg, else the first."""
    response = ask(params)
    trace = response.trace
    assert trace is not None
    deep = cache(partial(_deep, snapshot, embedder, trace.plan, max_terms))
    explanations = [explain(snapshot, response, chunk_id, deep) for chunk_id in chunk_ids[:MAX_CHUNKS]]
    if not explanations:
        raise NotFound("there is no passage at that place", code="document_not_found")
    nearest = min(explanations, key=_distance)
    if nearest.rank is not None:
        return nearest
    item = _item(
        trace.plan.profile, snapshot.catalog.facts([nearest.chunk_id])[nearest.chunk_id], nearest.chunk_id
    )
    floors = {
        FLOORS[standing.signal]: standing.score
        for standing in nearest.standings
        if standing.score is not None and standing.signal in FLOORS
    }
    return replace(
        nearest, changes=tuple(changes(trace, lambda response: _place(response, item), ask, floors))
    )


def _distance(explanation: Explanation) -> tuple[float, float]:
    legs = explanation.standings
    places = [leg.rank / leg.depth for leg in legs if leg.rank is not None and leg.depth]
    return explanation.rank or inf, min(places, default=inf)


def _place(response: Response, item: str) -> int | None:
    ranked = response.answer.ranked if response.answer else ()
    return next((place for place, result in enumerate(ranked, start=1) if result.item_id == item), None)


def explain(
    snapshot: Snapshot, response: Response, chunk_id: str, deep: Callable[[bool], Legs]
) -> Explanation:
    """Follow one chunk through every step of a search. `deep` are its legs as `_deep` gives them."""
    trace, answer = response.trace, response.answer
    assert trace is not None and answer is not None
    plan = trace.plan
    filtered = tuple(_filtered(snapshot, plan, chunk_id))
    standings = tuple(_standings(trace, deep(bool(filtered)), chunk_id))
    fact = trace.facts.get(chunk_id) or snapshot.catalog.facts([chunk_id])[chunk_id]
    item = _item(plan.profile, fact, chunk_id)
    place = _place(response, item)
    reasons = [
        *_result(place, answer.ranked, chunk_id),
        *filtered,
        *(standing.sentence() for standing in standings),
        *_floors(plan, standings, fact),
        *(_added(answer.ranked[place - 1]) if place is not None else ()),
        *(_outranked(snapshot, trace, item, len(answer.ranked)) if place is None else ()),
    ]
    return Explanation(chunk_id, fact.path, fact.line, place, tuple(reasons), standings)


def _item(profile: Profile, facts: Facts, chunk_id: str) -> str:
    match profile.unit:
        case "document":
            return facts.document_id
        case "node":
            return facts.node_id
        case _:
            return chunk_id


def _deep(snapshot: Snapshot, embedder: Embedder | None, plan: Plan, max_terms: int, bare: bool) -> Legs:
    """Every leg as deep as there are chunks; `bare` leaves the filter out."""
    everything = Fetch(times=0, at_least=max(snapshot.catalog.counts().chunks, 1))
    branches = tuple(
        replace(branch, fetch=everything, complete=False)
        for branch in plan.profile.branches
        if branch.signal in FINDERS
    )
    chunks = replace(plan.profile, branches=branches, unit="chunk")
    deep = replace(plan, profile=chunks, expansion=None, intent=None, ef=None)
    deep = replace(deep, reading=replace(plan.reading, min_score=None), min_similarity=None)
    if bare:
        deep = replace(deep, filter=Filter())
    return run_legs(snapshot, embedder, deep, max_terms)


def _standings(trace: Trace, legs: Legs, chunk_id: str) -> Iterator[Standing]:
    """The chunk's place in each leg."""
    plan = trace.plan
    for branch in plan.profile.branches:
        graph = branch.signal == "graph"
        hits = (trace.legs if graph else legs).hits.get(branch.signal)
        if hits is not None:
            yield _standing(branch.signal, hits, chunk_id, _depth(trace, branch.signal))


def _depth(trace: Trace, signal: Signal) -> int:
    """How many chunks a leg returns; where nodes are ranked, as many as it takes to have enough nodes."""
    least = depth_of(trace.plan.profile, signal, trace.plan.limit)
    return max(least, len(trace.legs.hits.get(signal, ()))) if trace.plan.profile.unit == "node" else least


def _standing(signal: Signal, hits: Sequence[Hit], chunk_id: str, depth: int) -> Standing:
    at = next((at for at, hit in enumerate(hits) if hit.chunk_id == chunk_id), None)
    cutoff = hits[depth - 1].score if 0 < depth <= len(hits) else None
    if at is None:
        return Standing(signal, None, len(hits), None, depth, cutoff)
    return Standing(signal, at + 1, len(hits), hits[at].score, depth, cutoff)


def _result(place: int | None, ranked: Sequence[Ranked], chunk_id: str) -> Iterator[str]:
    if place is not None:
        shown = ranked[place - 1].best_chunk
        by = "" if shown == chunk_id else f", shown by another of its chunks ({shown})"
        yield f"it is result {place} of {len(ranked)}{by}"


def _filtered(snapshot: Snapshot, plan: Plan, chunk_id: str) -> Iterator[str]:
    for condition in (*plan.filter.conditions, *plan.post_filter.conditions):
        if chunk_id not in snapshot.catalog.passing(Filter((condition,)), [chunk_id]):
            yield f"the filter {render(condition)} leaves it out"


def _floors(plan: Plan, standings: Sequence[Standing], facts: Facts) -> Iterator[str]:
    least = {"lexical": plan.reading.min_score, "semantic": plan.min_similarity}
    for leg in standings:
        floor = least.get(leg.signal)
        if floor is not None and leg.score is not None and leg.score < floor:
            yield f"{leg.signal}: its score lies below {FLOORS[leg.signal]} {floor:g}"
    if plan.profile.freshness:
        floor_class = plan.profile.freshness_floor
        if BEST_FIRST.index(facts.freshness) > BEST_FIRST.index(floor_class):
            yield f"it is {facts.freshness}, below the freshness floor {floor_class}"


def _added(item: Ranked) -> Iterator[str]:
    """What signals that find nothing themselves add to the score or take off it."""
    for signal, evidence in item.evidence.items():
        if signal not in FINDERS:
            verb = "adds" if evidence.contribution > 0 else "takes off"
            yield f"{signal}: {verb} {abs(evidence.contribution):.6g}"


def _outranked(snapshot: Snapshot, trace: Trace, item: str, shown: int) -> Iterator[str]:
    """Its rank among all that the legs returned."""
    facts = {**snapshot.catalog.facts(chunk_ids_of(trace.legs.hits)), **trace.facts}
    ranked = rank(trace.plan.profile, trace.legs.hits, facts, max(len(facts), trace.plan.limit))
    at = next((at for at, other in enumerate(ranked, start=1) if other.item_id == item), None)
    if at is not None:
        yield from _added(ranked[at - 1])
        score, last = ranked[at - 1].score, ranked[min(shown, len(ranked)) - 1].score
        yield f"ranked {at} of {len(ranked)}: score {score:.6g}, the last result shown has {last:.6g}"
