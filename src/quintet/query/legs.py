"""The legs of a search. Each turns the plan into hits, best first, and says what it could not do."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import log
from time import perf_counter

import numpy as np

from quintet.contracts import Plan
from quintet.errors import QuintetError, UsageError
from quintet.model.results import Hit, Note, Signal
from quintet.model.text_query import TextQuery
from quintet.model.vector import Int16, cosines, dots, quantise
from quintet.ports.reading import Approximation, Embedder, Rows, Snapshot, Vectors
from quintet.query.text import parse
from quintet.ranking import Profile, best_first, contenders, rank

SEEDS = 10  # nodes a graph walk starts from
CHUNKS_PER_NODE = 16  # how many times deeper a leg goes where its best chunks are of too few nodes
FEW_NODES = 20  # for fewer it goes as deep as for these
DEEPEST = 10_000  # chunks
NOTHING_PASSES = "nothing passes the filters, whatever the query; change them or leave them out"
EVEN = 9.0  # the natural logarithm of about 8,000: near the sizes that the house ranking was chosen on


@dataclass(slots=True)
class Legs:
    """What the legs brought back. `degraded` says that one the caller asked for could not run; those in
    `ended` have no more than they brought."""

    hits: dict[Signal, Sequence[Hit]] = field(default_factory=dict)
    text: TextQuery | None = None
    vector: Int16 | None = None
    notes: list[Note] = field(default_factory=list)
    degraded: bool = False
    ended: frozenset[Signal] = frozenset()
    seconds: dict[Signal, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, signal: Signal) -> Iterator[None]:
        start = perf_counter()
        yield
        self.seconds[signal] = self.seconds.get(signal, 0.0) + perf_counter() - start

    def note(self, code: str, message: str) -> None:
        self.notes.append({"code": code, "message": message})


def run(snapshot: Snapshot, embedder: Embedder | None, plan: Plan, max_terms: int) -> Legs:
    legs = Legs(notes=list(plan.notes))
    within = snapshot.catalog.select(plan.filter)
    if is_empty(within) and snapshot.catalog.counts().documents:
        legs.note("nothing_passes", NOTHING_PASSES)
    if "lexical" in plan.signals:
        with legs.timed("lexical"):
            _lexical(legs, snapshot, plan, within, max_terms)
    if "semantic" in plan.signals:
        with legs.timed("semantic"):
            _semantic(legs, snapshot, embedder, plan, within)
    vectors = _complete(legs, snapshot, plan)
    if plan.profile.feedback and vectors is not None:
        with legs.timed("semantic"):
            feed_back(legs, snapshot, plan, vectors)
    if plan.expansion is not None:
        with legs.timed("graph"):
            _graph(legs, snapshot, plan, within)
    return legs


def is_empty(within: Rows | None) -> bool:
    return within is not None and not len(within)


def depth(profile: Profile, signal: Signal, limit: int) -> int:
    branch = profile.branch(signal)
    return 0 if branch is None else branch.fetch.depth(limit)


def _fetch(
    legs: Legs, snapshot: Snapshot, plan: Plan, signal: Signal, search: Callable[[int], Sequence[Hit]]
) -> None:
    """Ask a leg for as many chunks as the profile says, or for the chunks of as many code nodes.

    Hits at one depth are the first of those at any greater depth, so each node has its place among all.
    """
    wanted = asked = depth(plan.profile, signal, plan.limit)
    hits = search(asked)
    if plan.profile.unit == "node":
        most = max(wanted, min(CHUNKS_PER_NODE * max(wanted, FEW_NODES), DEEPEST))
        while (enough := _reaching(snapshot, hits, wanted)) is None and asked <= len(hits) < most:
            asked = min(2 * asked, most)
            hits = search(asked)
        if enough is None and len(hits) < asked:
            legs.ended |= {signal}
        elif enough is None:
            legs.note("few_nodes", f"{signal}: the best {asked} chunks are of fewer than {wanted} code nodes")
        hits = hits[:enough]
    legs.hits[signal] = hits


def _reaching(snapshot: Snapshot, hits: Sequence[Hit], nodes: int) -> int | None:
    """How many of the hits it takes to have so many nodes; None if there are fewer."""
    if len(hits) < nodes:
        return None
    facts = snapshot.catalog.facts([hit.chunk_id for hit in hits])
    seen: set[str] = set()
    for count, hit in enumerate(hits, start=1):
        seen.add(facts[hit.chunk_id].node_id)
        if len(seen) == nodes:
            return count
    return None


def _lexical(legs: Legs, snapshot: Snapshot, plan: Plan, within: Rows | None, max_terms: int) -> None:
    parsed = parse(plan, snapshot.text.tokens, max_terms)
    legs.notes.extend(parsed.notes)
    legs.text = parsed.query
    if parsed.query is None:
        return
    query, least = parsed.query, plan.reading.min_score

    def search(count: int) -> Sequence[Hit]:
        hits = snapshot.text.search(query, count, within)
        if plan.reading.even:
            scale = _scale(snapshot)
            hits = [Hit(hit.chunk_id, scale * hit.score, hit.raw) for hit in hits]
        return hits if least is None else [hit for hit in hits if hit.score >= least]

    _fetch(legs, snapshot, plan, "lexical", search)


def _scale(snapshot: Snapshot) -> float:
    """BM25 grows with the logarithm of the number of chunks, which a fixed half score must not feel."""
    return EVEN / log(1 + max(snapshot.catalog.counts().chunks, 1))


def _semantic(
    legs: Legs, snapshot: Snapshot, embedder: Embedder | None, plan: Plan, within: Rows | None
) -> None:
    vector = _query_vector(legs, embedder, plan)
    if vector is None:
        legs.degraded = True
        if plan.needs_embedding:
            raise UsageError(
                f"semantic search needs embeddings: {legs.notes[-1]['message']}",
                code="embeddings_unavailable",
            )
        return
    counts = snapshot.catalog.counts()
    if counts.embedded < counts.chunks:
        legs.note("partly_embedded", f"semantic: {counts.embedded} of {counts.chunks} chunks embedded")
        legs.degraded = not counts.embedded
    if not vector.any() and not plan.zero_vector_counts:
        return
    legs.vector = vector
    least = plan.min_similarity

    def search(count: int) -> Sequence[Hit]:
        hits = snapshot.vectors.search(vector, count, within, plan.ef)
        return hits if least is None else [hit for hit in hits if hit.score >= least]

    _fetch(legs, snapshot, plan, "semantic", search)
    if plan.ef is not None:
        _tell_how(legs, snapshot.vectors.approximation, plan.ef, filtered=within is not None)


def _complete(legs: Legs, snapshot: Snapshot, plan: Plan) -> Vectors | None:
    """Where a branch wants it, the scores of what only other legs brought. The vectors of all that was
    brought are returned: no leg needs them twice."""
    brought = list(dict.fromkeys(chunks_of(legs.hits)))
    vectors: Vectors | None = None
    for branch in plan.profile.branches:
        hits = legs.hits.get(branch.signal)
        if not branch.complete or not hits:
            continue
        listed = {hit.chunk_id for hit in hits}
        missing = [chunk_id for chunk_id in brought if chunk_id not in listed]
        with legs.timed(branch.signal):
            if branch.signal == "lexical":
                more = _words_of(legs, snapshot, plan, missing)
            else:
                vectors = snapshot.vectors.of(brought)
                more = _cosines_of(legs, missing, vectors)
        legs.hits[branch.signal] = [*hits, *best_first(more)]
    return vectors


def _words_of(legs: Legs, snapshot: Snapshot, plan: Plan, chunk_ids: Sequence[str]) -> list[Hit]:
    assert legs.text is not None  # or there would be no hits to complete
    scores = snapshot.text.scores(legs.text, chunk_ids)
    scale = _scale(snapshot) if plan.reading.even else 1.0
    found = [one for one in chunk_ids if one in scores]
    return [Hit(one, scale * scores[one], -scores[one], None, False) for one in found]


def _cosines_of(legs: Legs, chunk_ids: Sequence[str], vectors: Vectors) -> list[Hit]:
    """A chunk that has no vector yet counts as the last that was found, not as unlike as can be."""
    assert legs.vector is not None
    known = _cosines(legs.vector, vectors)
    last = min(hit.score for hit in legs.hits["semantic"])
    scored = [(one, known.get(one, last)) for one in chunk_ids]
    return [Hit(one, score, score, None, False) for one, score in scored]


def _cosines(query: Int16, vectors: Vectors) -> dict[str, float]:
    if not vectors.rows:
        return {}
    return dict(zip(vectors.rows, cosines(dots(vectors.matrix, query)), strict=True))


def feed_back(legs: Legs, snapshot: Snapshot, plan: Plan, vectors: Vectors) -> None:
    """Compare all that was brought with the query moved towards the best of it. `raw` stays the cosine."""
    assert legs.vector is not None  # or there would be no vectors to compare it with
    best, *equals = contenders(plan.profile, legs.hits, plan.limit, 1)
    if equals:
        facts = snapshot.catalog.facts([best, *equals])
        best = rank(plan.profile, legs.hits, facts, plan.limit)[0].best_chunk
    if best not in vectors.rows:
        return
    towards = plan.profile.feedback * vectors.matrix[vectors.rows[best]].astype(np.float64)
    known = _cosines(quantise(legs.vector.astype(np.float64) + towards), vectors)
    hits = legs.hits["semantic"]
    last = min(known[hit.chunk_id] for hit in hits if hit.listed)
    moved = [Hit(hit.chunk_id, known.get(hit.chunk_id, last), hit.raw, None, hit.listed) for hit in hits]
    listed, others = [hit for hit in moved if hit.listed], [hit for hit in moved if not hit.listed]
    legs.hits["semantic"] = best_first(listed) + best_first(others)


def _tell_how(legs: Legs, graph: Approximation | None, ef: int, *, filtered: bool) -> None:
    """Whether HNSW really proposed the candidates, and how much of the truth it finds."""
    if filtered:
        legs.note("vectors_exact", "with a filter every vector that passes it is compared, not only HNSW's")
    elif graph is None or not graph.rows:
        legs.note(
            "vectors_exact",
            "there is no HNSW graph yet, so every vector was compared; one is built as long as this process "
            "runs, and 'quintet hnsw' builds it and waits",
        )
    else:
        share = graph.recall.get(str(ef))
        known = f"it finds {share:.1%} of the exact best 20" if share is not None else "its recall is unknown"
        legs.note("approximate", f"HNSW proposed the vectors' candidates with ef {ef}: {known}")


def _query_vector(legs: Legs, embedder: Embedder | None, plan: Plan) -> Int16 | None:
    if plan.vector is not None:
        return plan.vector
    if embedder is None:
        legs.note("embedder_missing", "no embedder is in use, so nothing was searched by meaning")
        return None
    try:
        vector = embedder.embed_query(plan.query)
    except QuintetError as error:
        legs.note("leg_failed", f"the semantic leg failed: {error.message}")
        return None
    if vector is None:
        legs.note("embedder_missing", f"{embedder.identity} has no embedding for this query")
        return None
    if plan.needs_canonical and not getattr(embedder, "canonical", False):
        message = f"the vectors are by {embedder.identity}, not by a canonical model; devices may differ"
        legs.note("non_canonical_embedder", message)
    return quantise(vector)


def _graph(legs: Legs, snapshot: Snapshot, plan: Plan, within: Rows | None) -> None:
    """Neighbours of the best nodes that text and vectors found together."""
    assert plan.expansion is not None
    if not snapshot.graph.available:
        legs.note("graph_missing", "this index has no code graph, so nothing was expanded")
        return
    facts = snapshot.catalog.facts(chunks_of(legs.hits))
    seeds = [item.item_id for item in rank(plan.profile, legs.hits, facts, max(plan.limit, SEEDS))[:SEEDS]]
    wanted = depth(plan.profile, "graph", plan.limit)
    legs.hits["graph"] = snapshot.graph.expand(seeds, plan.expansion, wanted, within)


def chunks_of(hits: Mapping[Signal, Sequence[Hit]]) -> list[str]:
    return [hit.chunk_id for found in hits.values() for hit in found]
