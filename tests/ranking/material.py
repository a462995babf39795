"""Hits and facts to rank, and the profiles of the contracts."""

from hypothesis import strategies as st

from quintet.contracts import CONTRACTS, cfs, harness, knowledge, mcb, quintet, rifflux
from quintet.model.results import Facts, Freshness, Hit, Ranked, Signal
from quintet.ranking import Profile

FRESHNESS: tuple[Freshness, ...] = ("Fresh", "Acceptable", "Stale", "StaleWithRisk")

PROFILES: dict[str, Profile] = {
    "rifflux lexical": rifflux.profile(rifflux.Params(mode="lexical")),
    "rifflux semantic": rifflux.profile(rifflux.Params(mode="semantic")),
    "rifflux hybrid": rifflux.profile(rifflux.Params()),
    "harness keyword": harness.profile(harness.Params(mode="keyword")),
    "harness semantic": harness.profile(harness.Params(mode="semantic")),
    "harness hybrid": harness.profile(harness.Params()),
    "harness average": harness.profile(harness.Params(doc_agg="avg")),
    "harness chunks": harness.profile(harness.Params(group_by="chunk", hybrid_alpha=0.3)),
    "harness alpha 0": harness.profile(harness.Params(hybrid_alpha=0.0)),
    "harness alpha 1": harness.profile(harness.Params(hybrid_alpha=1.0)),
    "harness average alpha 0": harness.profile(harness.Params(doc_agg="avg", hybrid_alpha=0.0)),
    "mcb": mcb.profile(mcb.Params()),
    "mcb floor": mcb.profile(mcb.Params(freshness_floor="Stale")),
    "knowledge semantic": knowledge.profile(knowledge.Params()),
    "knowledge keyword": knowledge.profile(knowledge.Params(search_method="keyword")),
    "knowledge hybrid": knowledge.profile(knowledge.Params(search_method="hybrid", hybrid_alpha=0.7)),
    "cfs lexical": cfs.profile(cfs.Params(mode="lexical")),
    "cfs semantic": cfs.profile(cfs.Params(mode="semantic")),
    "cfs hybrid": cfs.profile(cfs.Params()),
    "quintet lexical": quintet.profile(quintet.Params(mode="lexical")),
    "quintet semantic": quintet.profile(quintet.Params(mode="semantic")),
    "quintet hybrid": quintet.profile(quintet.Params()),
}
assert {name.split()[0] for name in PROFILES} == set(CONTRACTS)


def listed(*chunk_ids: str) -> list[Hit]:
    """Hits in this order; the scores only say that it is one."""
    return [Hit(chunk_id, 1.0 - at / 10, at / 10 - 1.0) for at, chunk_id in enumerate(chunk_ids)]


def scored(**scores: float) -> list[Hit]:
    return [Hit(chunk_id, score, -score) for chunk_id, score in scores.items()]


def fact(
    path: str = "a.md",
    sequence: int = 0,
    *,
    document: str = "",
    line: int = 1,
    modified_ms: int = 0,
    node: str = "",
    freshness: Freshness = "Fresh",
) -> Facts:
    return Facts(document or path, path, sequence, line, modified_ms, node or f"{path}#{sequence}", freshness)


def facts_of(*chunk_ids: str) -> dict[str, Facts]:
    """Each chunk a document of its own, called after it."""
    return {chunk_id: fact(f"{chunk_id}.md", document=chunk_id, node=chunk_id) for chunk_id in chunk_ids}


def ids(ranked: list[Ranked]) -> list[str]:
    return [item.item_id for item in ranked]


def scores(ranked: list[Ranked]) -> dict[str, float]:
    return {item.item_id: item.score for item in ranked}


Hits = dict[Signal, list[Hit]]

CHUNKS = [f"c{number:02d}" for number in range(14)]


SCORES = {"lexical": (0.0, 9.0), "semantic": (-1.0, 1.0), "graph": (0.0, 1.0)}


def _leg(low: float, high: float) -> st.SearchStrategy[list[Hit]]:
    """A list as a leg gives it, best first; few distinct scores, so that ties are common."""
    score = st.sampled_from((low, 0.25, 0.5, 1.0)) | st.floats(low, high)
    members = st.lists(
        st.tuples(st.sampled_from(CHUNKS), score), unique_by=lambda pair: pair[0], max_size=len(CHUNKS)
    )
    return members.map(
        lambda pairs: [Hit(chunk, score, -score) for chunk, score in sorted(pairs, key=lambda pair: -pair[1])]
    )


def _facts(rows: list[tuple[int, int, Freshness]]) -> dict[str, Facts]:
    return {
        chunk: Facts(f"d{document}", f"d{document}.md", at, at * 3, modified, f"n{at // 2}", freshness)
        for at, (chunk, (document, modified, freshness)) in enumerate(zip(CHUNKS, rows, strict=True))
    }


ROWS = st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from(FRESHNESS))
SITUATIONS: st.SearchStrategy[tuple[Hits, dict[str, Facts]]] = st.tuples(
    st.fixed_dictionaries({signal: _leg(*bounds) for signal, bounds in SCORES.items()}),
    st.lists(ROWS, min_size=len(CHUNKS), max_size=len(CHUNKS)).map(_facts),
)
NAMES = st.sampled_from(sorted(PROFILES))
