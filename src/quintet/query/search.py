"""How a search produces its answer. Read `search` from top to bottom; each step names the file to open next.

1. parameters  `model/parameters.py` checks what the contract declares in `contracts/NAME.py`
2. plan        the contract turns parameters into a `Plan`: profile, limit, filters
3. legs        `query/legs.py` asks each signal for its best hits; `query/cache.py` keeps recent ones
4. facts       one catalog query about every chunk that can be among the results
5. rank        `ranking/rank.py`, a pure function of profile, hits and facts
6. text        the passages of the results; `query/staleness.py` says which files changed since
7. projection  the contract turns all of it into its own result shape
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from quintet.contracts import Answer, Contract, Plan
from quintet.contracts.confidence import BEST
from quintet.errors import UsageError
from quintet.model.parameters import read
from quintet.model.results import Facts, Note, Ranked, Signal, Status
from quintet.ports.reading import Catalog, Disk, Embedder, Snapshot
from quintet.query.cache import QueryCache, cache_key
from quintet.query.legs import NOTHING_PASSES, Legs, has_more, is_empty, run_legs
from quintet.query.result import Result, results_of
from quintet.query.staleness import FileStates, below_floor_note, count_below_floor
from quintet.query.text import clean
from quintet.ranking import contenders, rank
from quintet.settings import Settings

REFILLS = 4  # how often the legs go twice as deep to fill a page that the freshness floor thinned out
DEEPEST = 10_000  # candidates
UNFINISHED: Note = {
    "code": "run_unfinished",
    "message": "an index run is under way or was cut short, so some text cannot be found yet; "
    "'quintet index' completes it",
}


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about, for those who explain or replay it.

    `query` is the text before filters are taken out of it. `given` is the request in the contract's own
    spelling. `facts` are about the chunks that could be among the results.
    """

    contract: Contract
    query: str
    given: Mapping[str, object]
    params: Any
    plan: Plan
    legs: Legs
    facts: Mapping[str, Facts]


@dataclass(frozen=True, slots=True)
class Response:
    """A contract's own body, and beside it how the answer came about. Iterate over it for its results.

    `answer` holds the evidence behind the body, `seconds` the time of each leg, `trace` all steps. They serve
    programs that explain or watch the engine, and never go on a wire. `receipt` does, if the caller asked for
    one.
    """

    body: Mapping[str, Any]
    status: Status
    notes: list[Note]
    answer: Answer | None = field(default=None, compare=False, repr=False)
    seconds: Mapping[Signal, float] = field(default_factory=dict, compare=False, repr=False)
    trace: Trace | None = field(default=None, compare=False, repr=False)
    receipt: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def results(self) -> list[Result]:
        """The results, best first, with the same attributes for every contract."""
        if self.answer is None:
            raise UsageError("this answer has several lists of results; read them from its body")
        return list(results_of(self.answer))

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __bool__(self) -> bool:
        """An answer is one, even without results."""
        return True

    def wire(self) -> dict[str, Any]:
        """The body as it goes over a wire: `status` and `notes` are two more top-level keys."""
        receipt = {} if self.receipt is None else {"receipt": self.receipt}
        return {**self.body, "status": self.status, "notes": self.notes, **receipt}


@dataclass(frozen=True, slots=True)
class _Engine:
    """What every step of one search reads from."""

    snapshot: Snapshot
    embedder: Embedder | None
    contract: str
    max_terms: int
    files: FileStates
    cache: QueryCache | None
    scope: str


@dataclass(frozen=True, slots=True)
class _Candidates:
    """What the legs returned, what is known about it, and the best of it in order."""

    legs: Legs
    facts: Mapping[str, Facts]
    ranked: list[Ranked]


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
    """Search one snapshot by one contract. `cache` keeps what legs return; `scope` names what this caller may
    see, and entries of two scopes are never shared."""
    # 1. Parameters
    defaults = settings.contracts.get(contract.name, {})
    request = _in_own_spelling(contract, given)
    params = read(contract.name, contract.parameters, request, defaults)
    text = clean(query, settings.max_query_chars)
    # 2. Plan
    plan: Plan = contract.plan(text, params)
    # 3. Legs, 4. facts, 5. rank
    files = FileStates(snapshot.catalog, disk, ask_git=plan.needs_freshness)
    engine = _Engine(snapshot, embedder, contract.name, settings.max_terms, files, cache, scope)
    candidates = _candidates(engine, plan)
    if plan.needs_freshness:
        candidates = _refill(engine, plan, candidates)
    # 6. Text
    answer = _answer(engine, plan, candidates)
    # 7. Projection
    body = contract.project(params, plan, answer)
    legs = candidates.legs
    unfinished = [UNFINISHED] if snapshot.catalog.unfinished else []
    remarks = contract.remarks(params, plan, answer) if contract.remarks else ()
    notes = [*unfinished, *legs.notes, *remarks]
    trace = Trace(contract, text, {**defaults, **request}, params, plan, legs, candidates.facts)
    return Response(body, _status(snapshot.catalog, legs), notes, answer, legs.seconds, trace)


def _in_own_spelling(contract: Contract, given: Mapping[str, object]) -> dict[str, object]:
    """The request as the specification spells it: `limit` and `mode` are what every interface offers."""
    spelling = {"limit": contract.limit, "mode": contract.mode}
    request: dict[str, object] = {}
    for name, value in given.items():
        own = spelling.get(name, name)
        if own is None:
            raise UsageError(
                f"contract {contract.name} has no modes; leave {name!r} out", details={"parameter": name}
            )
        if own in request:
            raise UsageError(
                f"{own} was given twice, once as {name!r}; give it once", details={"parameter": own}
            )
        request[own] = value
    return request


def _candidates(engine: _Engine, plan: Plan) -> _Candidates:
    """Run the legs, look up the facts that ranking needs, and rank."""
    catalog = engine.snapshot.catalog
    legs = _legs(engine, plan)
    places = _places(plan)
    facts = legs.facts
    if facts is None:
        facts = catalog.facts(contenders(plan.profile, legs.hits, places, places))
    if plan.needs_freshness:
        facts = engine.files.add_freshness(facts)
    return _Candidates(legs, facts, rank_candidates(plan, catalog, legs, facts))


def _legs(engine: _Engine, plan: Plan) -> Legs:
    snapshot, embedder, cache = engine.snapshot, engine.embedder, engine.cache
    if cache is None or plan.ef is not None:  # an HNSW graph grows between two searches
        return run_legs(snapshot, embedder, plan, engine.max_terms)
    key = cache_key(snapshot, embedder, engine.contract, plan, engine.max_terms, scope=engine.scope)
    legs = cache.get(key)
    if legs is None:
        legs = run_legs(snapshot, embedder, plan, engine.max_terms)
        cache.put(key, legs)
    return legs


def rank_candidates(plan: Plan, catalog: Catalog, legs: Legs, facts: Mapping[str, Facts]) -> list[Ranked]:
    """The best candidates in order; where the plan has a post filter, those that pass it."""
    ranked = rank(plan.profile, legs.hits, facts, _places(plan))
    return _post_filter(plan, catalog, legs, ranked) if plan.post_filter.conditions else ranked


def _places(plan: Plan) -> int:
    """How many results to rank: ten at least, for confidence, or all that a post filter chooses from."""
    return max(plan.limit, plan.post_depth if plan.post_filter.conditions else BEST)


def _post_filter(plan: Plan, catalog: Catalog, legs: Legs, ranked: list[Ranked]) -> list[Ranked]:
    """Spec 004's other form of filters (section 8): rank first, then keep what passes. What is dropped is not
    replaced, and a note says so."""
    passing = catalog.passing(plan.post_filter, [item.best_chunk for item in ranked])
    legs.note("post_filtered", f"{len(passing)} of the best {len(ranked)} results pass the filter")
    if not passing and catalog.counts().documents and is_empty(catalog.select(plan.post_filter)):
        legs.note("nothing_passes", NOTHING_PASSES)
    return [item for item in ranked if item.best_chunk in passing][: plan.limit]


def _refill(engine: _Engine, plan: Plan, candidates: _Candidates) -> _Candidates:
    """Go deeper as long as the freshness floor leaves too few results and a leg may have more."""
    deeper = plan
    for _ in range(REFILLS):
        if _fills_page(plan, candidates) or not has_more(deeper, candidates.legs):
            break
        deeper = replace(plan, limit=min(2 * deeper.limit, DEEPEST))
        candidates = _candidates(engine, deeper)
    if not _fills_page(plan, candidates):
        searched = deeper.limit if has_more(deeper, candidates.legs) else None
        shown = len(candidates.ranked)
        candidates.legs.notes.append(below_floor_note(plan, candidates.facts, shown, searched))
    return candidates


def _fills_page(plan: Plan, candidates: _Candidates) -> bool:
    """Whether the floor dropped nothing, or still left enough results."""
    return not count_below_floor(plan, candidates.facts) or len(candidates.ranked) >= plan.limit


def _answer(engine: _Engine, plan: Plan, candidates: _Candidates) -> Answer:
    """The results with their text; notes say which of their files changed since they were indexed."""
    legs, facts, snapshot = candidates.legs, candidates.facts, engine.snapshot
    ranked = candidates.ranked[: plan.limit]
    chunk_ids = [item.best_chunk for item in ranked]
    legs.notes.extend(engine.files.notes_on([facts[chunk_id].document_id for chunk_id in chunk_ids]))
    return Answer(
        ranked,
        snapshot.catalog.passages(chunk_ids),
        snapshot.text.matched_fields(legs.text, chunk_ids) if legs.text and plan.needs_fields else {},
        {chunk_id: facts[chunk_id].freshness for chunk_id in chunk_ids},
        engine.embedder.identity if engine.embedder else "none",
        candidates.ranked[:BEST],
    )


def _status(catalog: Catalog, legs: Legs) -> Status:
    if not catalog.counts().documents:
        return "empty_index" if catalog.ever_filled() else "never_indexed"
    return "degraded" if legs.degraded else "ok"
