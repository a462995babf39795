"""One query with many parameters. Each ranking is the one that `search` gives; what they share is fetched
once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from quintet.contracts import Contract, Plan
from quintet.model.documents import Passage
from quintet.model.parameters import read
from quintet.model.results import Facts
from quintet.ports.reading import ChunkVectors, Embedder, Snapshot
from quintet.query.legs import Legs, chunk_ids_of, compare_candidates, run_legs
from quintet.query.search import rank_candidates
from quintet.query.text import clean
from quintet.ranking import Profile
from quintet.settings import Settings


@dataclass(frozen=True, slots=True)
class Trials:
    """The chunks that each request finds, best first, and the passages of them all."""

    rankings: list[list[str]]
    passages: Mapping[str, Passage]


@dataclass(frozen=True, slots=True)
class _Fetched:
    """What all requests share that differ only in weights."""

    legs: Legs
    facts: Mapping[str, Facts]
    vectors: ChunkVectors


def run_trials(
    snapshot: Snapshot,
    embedder: Embedder | None,
    contract: Contract,
    query: str,
    requests: Sequence[Mapping[str, object]],
    settings: Settings,
) -> Trials:
    """`requests` use the contract's own spelling. Files are not looked at, so everything counts as fresh."""
    text, defaults = clean(query, settings.max_query_chars), settings.contracts.get(contract.name, {})
    fetched: dict[str, _Fetched] = {}
    rankings = []
    for request in requests:
        plan: Plan = contract.plan(text, read(contract.name, contract.parameters, request, defaults))
        unweighted = replace(plan, profile=_unweighted(plan.profile))
        key = repr(unweighted)
        if key not in fetched:
            fetched[key] = _fetch(snapshot, embedder, unweighted, settings.max_terms)
        shared = fetched[key]
        legs = replace(shared.legs, hits=dict(shared.legs.hits))
        if legs.hits.get("semantic"):
            compare_candidates(legs, snapshot, plan, shared.vectors)
        best = rank_candidates(plan, snapshot.catalog, legs, shared.facts)[: plan.limit]
        rankings.append([item.best_chunk for item in best])
    chunk_ids = dict.fromkeys(chunk_id for ranking in rankings for chunk_id in ranking)
    return Trials(rankings, snapshot.catalog.passages(list(chunk_ids)))


def _fetch(snapshot: Snapshot, embedder: Embedder | None, plan: Plan, max_terms: int) -> _Fetched:
    legs = run_legs(snapshot, embedder, plan, max_terms)
    facts = snapshot.catalog.facts(chunk_ids_of(legs.hits))
    return _Fetched(legs, facts, snapshot.vectors.of(list(facts)))


def _unweighted(profile: Profile) -> Profile:
    """What two profiles share that fetch the same hits and only weigh them differently. Neighbours are
    compared by their weighted scores, so each profile has its own."""
    branches = tuple(
        replace(branch, weight=1.0, normalise="as_is")
        for branch in profile.branches
        if branch.signal != "neighbours"
    )
    return replace(profile, branches=branches, feedback=0.0)
