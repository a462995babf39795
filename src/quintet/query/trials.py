"""One query asked with many parameters. Each answer is the one that `search` gives; what they share is
fetched once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from quintet.contracts import Contract, Plan, read
from quintet.model.documents import Passage
from quintet.model.results import Facts
from quintet.ports.reading import Embedder, Snapshot, Vectors
from quintet.query.legs import Legs, chunks_of, feed_back, run
from quintet.query.post_filter import ranked
from quintet.query.text import clean
from quintet.ranking import Profile
from quintet.settings import Settings


@dataclass(frozen=True, slots=True)
class Tried:
    """The chunks that each request finds, best first, and the passages of them all."""

    rankings: list[list[str]]
    passages: Mapping[str, Passage]


def tried(
    snapshot: Snapshot,
    embedder: Embedder | None,
    contract: Contract,
    query: str,
    requests: Sequence[Mapping[str, object]],
    settings: Settings,
) -> Tried:
    """`requests` are in the contract's own spelling. Files are not looked at, so all counts as fresh."""
    text, defaults = clean(query, settings.max_query_chars), settings.contracts.get(contract.name, {})
    fetched: dict[str, tuple[Legs, Mapping[str, Facts], Vectors]] = {}
    rankings = []
    for request in requests:
        plan: Plan = contract.plan(text, read(contract.name, contract.parameters, request, defaults))
        plain = replace(plan, profile=_unweighed(plan.profile))
        if (same := repr(plain)) not in fetched:
            legs = run(snapshot, embedder, plain, settings.max_terms)
            known = snapshot.catalog.facts(chunks_of(legs.hits))
            fetched[same] = legs, known, snapshot.vectors.of(list(known))
        legs, facts, vectors = fetched[same]
        legs = replace(legs, hits=dict(legs.hits))
        if plan.profile.feedback and legs.hits.get("semantic"):
            feed_back(legs, snapshot, plan, vectors)
        best = ranked(plan, snapshot.catalog, legs, facts)[: plan.limit]
        rankings.append([item.best_chunk for item in best])
    found = dict.fromkeys(chunk_id for ranking in rankings for chunk_id in ranking)
    return Tried(rankings, snapshot.catalog.passages(list(found)))


def _unweighed(profile: Profile) -> Profile:
    """What two profiles share that fetch the same hits and only weigh them differently."""
    branches = tuple(replace(one, weight=1.0, normalise="as_is") for one in profile.branches)
    return replace(profile, branches=branches, feedback=0.0)
