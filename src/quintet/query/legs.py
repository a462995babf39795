"""The legs of a search. Each turns the plan into hits, best first, and notes what it could not do."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import log, sqrt
from time import perf_counter
from typing import Protocol

import numpy as np

from quintet.contracts import Plan
from quintet.contracts.evidence import CodeEvidence
from quintet.contracts.intent import QueryIntent, is_pasted
from quintet.errors import QuintetError, UsageError
from quintet.model.results import Facts, Hit, Note, Signal
from quintet.model.text_query import TextQuery
from quintet.model.vector import Int16, cosines, dots, nearest, quantise
from quintet.ports.reading import Approximation, ChunkVectors, Embedder, Rows, Snapshot
from quintet.query.text import look_up, parse
from quintet.ranking import FINDERS, Profile, best_chunk, best_first, contenders, rank, scores_of

EMBEDDED_CHARS = 2_000  # of a query: what a passage holds, and about what a model reads at once
SEEDS = 10  # nodes a graph walk starts from
CHUNKS_PER_NODE = 16  # how many times deeper a leg goes where its best chunks are of too few nodes
FEW_NODES = 20  # for fewer it goes as deep as for these
DEEPEST = 10_000  # chunks
NOTHING_PASSES = "nothing passes the filters, whatever the query; change them or leave them out"
NAMED = 20  # chunks that are looked up for a name, a line, or a part of a message
NEIGHBOURS = 5
SMOOTHED = 50  # of the best candidates; more gain nothing
SHORT = (1, 2)  # terms of a short query
LONG_QUERY_SCORE = 40.0  # what the best chunk of a longer query often scores
EVEN = 9.0  # the natural logarithm of about 8,000: near the sizes that the house ranking was chosen on


@dataclass(slots=True)
class Legs:
    """What the legs returned. `degraded` says that a leg the caller asked for could not run; the legs in
    `exhausted` have no more hits than these."""

    hits: dict[Signal, Sequence[Hit]] = field(default_factory=dict)
    text: TextQuery | None = None
    text_scale: float = 1.0  # what scores of full text are multiplied by
    vector: Int16 | None = None
    notes: list[Note] = field(default_factory=list)
    degraded: bool = False
    exhausted: frozenset[Signal] = frozenset()
    facts: dict[str, Facts] | None = None  # about every chunk, if a leg needed them
    seconds: dict[Signal, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, signal: Signal) -> Iterator[None]:
        start = perf_counter()
        yield
        self.seconds[signal] = self.seconds.get(signal, 0.0) + perf_counter() - start

    def note(self, code: str, message: str) -> None:
        self.notes.append({"code": code, "message": message})


def run_legs(snapshot: Snapshot, embedder: Embedder | None, plan: Plan, max_terms: int) -> Legs:
    """Every leg that the plan asks for, over the chunks that pass its filter."""
    legs = Legs(notes=list(plan.notes))
    within = snapshot.catalog.select(plan.filter)
    if is_empty(within) and snapshot.catalog.counts().documents:
        legs.note("nothing_passes", NOTHING_PASSES)
    if plan.profile.branch("lexical"):
        with legs.timed("lexical"):
            _lexical(legs, snapshot, plan, within, max_terms)
    if plan.profile.branch("semantic"):
        with legs.timed("semantic"):
            _semantic(legs, snapshot, embedder, plan, within)
    if plan.intent is not None:
        _add_named(legs, snapshot, plan.intent, within)
    vectors = _complete(legs, snapshot, plan)
    if plan.intent is not None:
        _add_evidence(legs, snapshot, plan.intent)
    if vectors is not None:
        with legs.timed("semantic"):
            compare_candidates(legs, snapshot, plan, vectors)
    if plan.expansion is not None:
        with legs.timed("graph"):
            _graph(legs, snapshot, plan, within)
    return legs


def is_empty(within: Rows | None) -> bool:
    return within is not None and not len(within)


def depth_of(profile: Profile, signal: Signal, limit: int) -> int:
    """How many hits the profile asks of a signal."""
    branch = profile.branch(signal)
    return 0 if branch is None else branch.fetch.depth(limit)


def has_more(plan: Plan, legs: Legs) -> bool:
    """Whether a leg returned as many hits as it was asked for, so that it may have more."""
    return any(
        signal not in legs.exhausted and len(hits) >= depth_of(plan.profile, signal, plan.limit)
        for signal, hits in legs.hits.items()
    )


def chunk_ids_of(hits: Mapping[Signal, Sequence[Hit]]) -> list[str]:
    return [hit.chunk_id for leg_hits in hits.values() for hit in leg_hits]


class _Leg(Protocol):
    """A leg that can be asked again, deeper. Hits at one depth are the first of those at a greater depth."""

    def search(self, depth: int) -> Sequence[Hit]: ...


@dataclass(frozen=True, slots=True)
class _TextLeg:
    snapshot: Snapshot
    query: TextQuery
    within: Rows | None
    min_score: float | None

    def search(self, depth: int) -> Sequence[Hit]:
        hits = self.snapshot.text.search(self.query, depth, self.within)
        return hits if self.min_score is None else [hit for hit in hits if hit.score >= self.min_score]


@dataclass(frozen=True, slots=True)
class _VectorLeg:
    snapshot: Snapshot
    vector: Int16
    within: Rows | None
    ef: int | None
    min_similarity: float | None

    def search(self, depth: int) -> Sequence[Hit]:
        hits = self.snapshot.vectors.search(self.vector, depth, self.within, self.ef)
        if self.min_similarity is None:
            return hits
        return [hit for hit in hits if hit.score >= self.min_similarity]


def _fetch(legs: Legs, snapshot: Snapshot, plan: Plan, signal: Signal, leg: _Leg) -> None:
    """Ask a leg for as many chunks as the profile says; where nodes are ranked, for as many as it takes to
    have so many code nodes."""
    wanted = depth = depth_of(plan.profile, signal, plan.limit)
    hits = leg.search(depth)
    if plan.profile.unit == "node":
        deepest = max(wanted, min(CHUNKS_PER_NODE * max(wanted, FEW_NODES), DEEPEST))
        while (enough := _hits_for(snapshot, hits, wanted)) is None and depth <= len(hits) < deepest:
            depth = min(2 * depth, deepest)
            hits = leg.search(depth)
        if enough is None and len(hits) < depth:
            legs.exhausted |= {signal}
        elif enough is None:
            legs.note(
                "few_nodes", f"{signal}: the best {depth} chunks belong to fewer than {wanted} code nodes"
            )
        hits = hits[:enough]
    legs.hits[signal] = hits


def _hits_for(snapshot: Snapshot, hits: Sequence[Hit], nodes: int) -> int | None:
    """How many of the hits it takes to have so many nodes; None if there are fewer."""
    if len(hits) < nodes:
        return None
    facts = snapshot.catalog.facts([hit.chunk_id for hit in hits])
    node_ids: set[str] = set()
    for count, hit in enumerate(hits, start=1):
        node_ids.add(facts[hit.chunk_id].node_id)
        if len(node_ids) == nodes:
            return count
    return None


def _lexical(legs: Legs, snapshot: Snapshot, plan: Plan, within: Rows | None, max_terms: int) -> None:
    parsed = parse(plan, snapshot.text.tokens, max_terms)
    if parsed.query is not None:
        parsed = look_up(parsed, snapshot.text, respell=plan.reading.respelt and not is_pasted(plan.query))
    legs.notes.extend(parsed.notes)
    if (query := parsed.query) is not None:
        legs.text = query
        leg = _TextLeg(snapshot, query, within, plan.reading.min_score)
        _fetch(legs, snapshot, plan, "lexical", leg)
        if plan.reading.even:
            legs.text_scale = _text_scale(legs, snapshot, query)
            scale, hits = legs.text_scale, legs.hits["lexical"]
            legs.hits["lexical"] = [
                Hit(chunk_id, scale * score, raw, distance, listed)
                for chunk_id, score, raw, distance, listed in hits
            ]


def _text_scale(legs: Legs, snapshot: Snapshot, query: TextQuery) -> float:
    """BM25 grows with the logarithm of the number of chunks; a fixed half score needs it to be even. One or
    two words score little however well they match, so they are raised towards what longer queries score."""
    scale = EVEN / log(1 + max(snapshot.catalog.counts().chunks, 1))
    best = scale * max([hit.score for hit in legs.hits["lexical"]], default=0.0)
    if best > 0 and len(query.terms) in SHORT:
        scale /= min(1.0, sqrt(best / LONG_QUERY_SCORE))
    return scale


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
    if counts.embedded + counts.text_only < counts.chunks:
        legs.note("partly_embedded", f"semantic: {counts.embedded} of {counts.chunks} chunks embedded")
        legs.degraded = not counts.embedded
    if not vector.any() and not plan.zero_vector_counts:
        return
    legs.vector = vector
    leg = _VectorLeg(snapshot, vector, within, plan.ef, plan.min_similarity)
    _fetch(legs, snapshot, plan, "semantic", leg)
    if plan.ef is not None:
        _note_approximation(legs, snapshot.vectors.approximation, plan.ef, filtered=within is not None)


def _query_vector(legs: Legs, embedder: Embedder | None, plan: Plan) -> Int16 | None:
    if plan.vector is not None:
        return plan.vector
    if embedder is None:
        legs.note("embedder_missing", "no embedder is in use, so nothing was searched by meaning")
        return None
    text = plan.query[:EMBEDDED_CHARS]
    if text != plan.query:
        message = f"of {len(plan.query)} characters the first {len(text)} were compared by meaning"
        legs.note("query_cut", message)
    try:
        vector = embedder.embed_query(text)
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


def _note_approximation(legs: Legs, graph: Approximation | None, ef: int, *, filtered: bool) -> None:
    """Whether HNSW really proposed the candidates, and its recall."""
    if filtered:
        legs.note("vectors_exact", "with a filter every vector that passes it is compared, not only HNSW's")
    elif graph is None or not graph.rows:
        legs.note(
            "vectors_exact",
            "there is no HNSW graph yet, so every vector was compared; this process builds one while it "
            "runs, or build it now with 'quintet hnsw'",
        )
    else:
        recall = graph.recall.get(str(ef := ef or graph.ef))
        known = "its recall is unknown" if recall is None else f"it finds {recall:.1%} of the exact best 20"
        legs.note("approximate", f"HNSW proposed the vector candidates with ef {ef}: {known}")


def _complete(legs: Legs, snapshot: Snapshot, plan: Plan) -> ChunkVectors | None:
    """Where a branch wants it, score what only other legs returned.

    The vectors of all chunks that any leg returned come back, if they were loaded: nobody loads them twice.
    """
    chunk_ids = list(dict.fromkeys(chunk_ids_of(legs.hits)))
    vectors: ChunkVectors | None = None
    for branch in plan.profile.branches:
        hits = legs.hits.get(branch.signal)
        if not branch.complete or not hits or branch.signal not in ("lexical", "semantic"):
            continue
        listed = {hit.chunk_id for hit in hits}
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in listed]
        with legs.timed(branch.signal):
            if branch.signal == "lexical":
                more = _text_scores(legs, snapshot, missing)
            else:
                vectors = snapshot.vectors.of(chunk_ids)
                more = _vector_scores(legs, missing, vectors)
        legs.hits[branch.signal] = [*hits, *best_first(more)]
    return vectors


def _text_scores(legs: Legs, snapshot: Snapshot, chunk_ids: Sequence[str]) -> list[Hit]:
    assert legs.text is not None  # or there would be no hits to complete
    scores = snapshot.text.scores(legs.text, chunk_ids)
    return [
        Hit(chunk_id, legs.text_scale * scores[chunk_id], -scores[chunk_id], None, False)
        for chunk_id in chunk_ids
        if chunk_id in scores
    ]


def _vector_scores(legs: Legs, chunk_ids: Sequence[str], vectors: ChunkVectors) -> list[Hit]:
    """A chunk that has no vector yet gets the score in the middle of the list, not the lowest there is."""
    assert legs.vector is not None
    scores = _cosines(legs.vector, vectors)
    middle = _middle([hit.score for hit in legs.hits["semantic"]])
    scored = [(chunk_id, scores.get(chunk_id, middle)) for chunk_id in chunk_ids]
    return [Hit(chunk_id, score, score, None, False) for chunk_id, score in scored]


def _middle(scores: Sequence[float]) -> float:
    return sorted(scores)[len(scores) // 2]


def _cosines(query: Int16, vectors: ChunkVectors) -> dict[str, float]:
    if not vectors.rows:
        return {}
    return dict(zip(vectors.rows, cosines(dots(vectors.matrix, query)), strict=True))


def compare_candidates(legs: Legs, snapshot: Snapshot, plan: Plan, vectors: ChunkVectors) -> None:
    """What the vectors of the candidates say about one another."""
    if plan.profile.feedback:
        _apply_feedback(legs, snapshot, plan, vectors)
    if plan.profile.branch("neighbours"):
        _add_neighbours(legs, plan, vectors)


def _apply_feedback(legs: Legs, snapshot: Snapshot, plan: Plan, vectors: ChunkVectors) -> None:
    """Move the query's vector towards that of the best item and score all hits again. `raw` stays the cosine
    with the query itself."""
    assert legs.vector is not None  # or there would be no vectors to compare it with
    facts = legs.facts
    if facts is None:
        facts = snapshot.catalog.facts(contenders(plan.profile, legs.hits, plan.limit, 1))
    best = best_chunk(plan.profile, legs.hits, facts, plan.limit)
    if best not in vectors.rows:
        return
    shift = plan.profile.feedback * vectors.matrix[vectors.rows[best]].astype(np.float64)
    scores = _cosines(quantise(legs.vector.astype(np.float64) + shift), vectors)
    hits = legs.hits["semantic"]
    middle = _middle([scores[hit.chunk_id] for hit in hits if hit.listed])
    moved = [Hit(hit.chunk_id, scores.get(hit.chunk_id, middle), hit.raw, None, hit.listed) for hit in hits]
    parts = [[hit for hit in moved if hit.listed is listed] for listed in (True, False)]
    legs.hits["semantic"] = [hit for part in parts for hit in best_first(part)]


def _add_neighbours(legs: Legs, plan: Plan, vectors: ChunkVectors) -> None:
    """For each of the best passages of prose, by how much the passages nearest to it score more than itself:
    what answers a question lies close together (van Rijsbergen's cluster hypothesis)."""
    if legs.facts is None:
        return
    scores = scores_of(plan.profile, legs.hits, plan.limit, FINDERS)
    best = sorted([(-score, chunk_id) for chunk_id, score in scores.items()])[:SMOOTHED]
    prose = [id for _, id in best if id in vectors.rows and not legs.facts[id].is_code]
    if len(prose) <= NEIGHBOURS:
        return
    own = np.array([scores[chunk_id] for chunk_id in prose])
    near = nearest(vectors.matrix[[vectors.rows[chunk_id] for chunk_id in prose]], NEIGHBOURS)
    gains: list[float] = np.maximum(own[near] - own[:, np.newaxis], 0.0).mean(axis=1).tolist()
    vouched = zip(prose, gains, strict=True)
    legs.hits["neighbours"] = [Hit(chunk_id, gain, gain, None, False) for chunk_id, gain in vouched if gain]


def _add_named(legs: Legs, snapshot: Snapshot, intent: QueryIntent, within: Rows | None) -> None:
    """Make candidates of the chunks that define what the query names, have the line that it gives, or hold a
    name or a part of a message word for word, however badly other legs rank them."""
    names = [name.name for name in intent.names]
    places = [place for place in zip(intent.paths, intent.lines, strict=True) if place[1]]
    queries = [TextQuery(phrases=(text,)) for text in intent.literals]
    named: dict[Signal, list[str]] = {
        "definition": snapshot.catalog.defining(names, NAMED, within) if names else [],
        "path": [id for place in places for id in snapshot.catalog.at_line(*place, NAMED, within)],
        "literal": [hit.chunk_id for query in queries for hit in snapshot.text.search(query, NAMED, within)],
    }
    for signal, ids in named.items():
        legs.hits[signal] = [Hit(chunk_id, 0.0, 0.0, None, False) for chunk_id in dict.fromkeys(ids)]


def _add_evidence(legs: Legs, snapshot: Snapshot, intent: QueryIntent) -> None:
    """Score every candidate by what is known about its file and its name."""
    legs.facts = facts = snapshot.catalog.facts(chunk_ids_of(legs.hits))
    evidence = CodeEvidence(intent, snapshot.text.stems)
    held = [snapshot.text.scores(TextQuery(phrases=(text,)), list(facts)) for text in intent.literals]
    legs.hits["path"] = evidence.path(facts)
    legs.hits["definition"] = evidence.definition(facts)
    legs.hits["literal"] = evidence.literal(facts, held)
    legs.hits["role"] = evidence.role(facts)


def _graph(legs: Legs, snapshot: Snapshot, plan: Plan, within: Rows | None) -> None:
    """Neighbours of the seeds that were given, and of the best nodes that text and vectors found together."""
    assert plan.expansion is not None
    if not snapshot.graph.available:
        legs.note("graph_missing", "this index has no code graph, so nothing was expanded")
        return
    facts = snapshot.catalog.facts(chunk_ids_of(legs.hits))
    best = [item.item_id for item in rank(plan.profile, legs.hits, facts, max(plan.limit, SEEDS))[:SEEDS]]
    depth = depth_of(plan.profile, "graph", plan.limit)
    legs.hits["graph"] = snapshot.graph.expand([*plan.seeds, *best], plan.expansion, depth, within)
