"""What each MCP tool answers, as types: their JSON Schemas are the tools' output schemas."""

from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from quintet.contracts.contract import Strategy
from quintet.model.symbols import Confidence

Object = dict[str, Any]


class Note(TypedDict):
    code: str
    message: str


class Answered(TypedDict):
    """How an answer came about, beside every body."""

    status: Literal["ok", "empty_index", "never_indexed", "degraded"]
    notes: list[Note]


class Breakdown(TypedDict):
    bm25: NotRequired[float]
    cosine: NotRequired[float]
    rrf: NotRequired[float]
    lexical_rank: NotRequired[int | None]
    semantic_rank: NotRequired[int | None]


class RiffluxResult(TypedDict):
    chunk_id: str
    path: str
    heading_path: str
    chunk_index: int
    content: str
    score_breakdown: Breakdown


class SearchRifflux(Answered):
    query: str
    mode: str
    count: int
    embedding_model: str
    results: list[RiffluxResult]


class Problem(TypedDict):
    path: str
    reason: str


class Reindex(TypedDict):
    indexed_files: int
    skipped_files: int
    indexed_paths: NotRequired[list[str]]
    embedding_model: str
    embedding_backend: str
    removed_files: int
    pending: int
    problems: list[Problem]


class Receipt(TypedDict):
    receipt: int
    claim: Object
    observed: Object
    digest: str


class Search(Answered):
    """The chosen contract's own body; the house ranking has query, mode, confidence and results."""

    query: NotRequired[str]
    mode: NotRequired[str]
    confidence: NotRequired[float | None]
    results: NotRequired[list[Object]]
    retrieval_calls: NotRequired[list[Object]]
    receipt: NotRequired[Receipt]


class PassageRead(TypedDict):
    chunk_id: str
    document_id: str
    root: str
    path: str
    title: str
    page: int | None
    heading_path: str
    lines: list[int]
    content: str


class Read(TypedDict):
    reference: str
    passages: list[PassageRead]
    notes: list[Note]


class NodeRead(TypedDict):
    id: str
    kind: str
    name: str
    root: str
    path: str
    lines: list[int]
    signature: str
    docstring: str
    visibility: str
    is_test: bool


StepRead = TypedDict(
    "StepRead",
    {"from": str, "relation": str, "to": str, "confidence": Confidence, "path": str, "line": int},
)


class NeighbourRead(NodeRead):
    distance: int
    confidence: Confidence
    steps: list[StepRead]


class Related(TypedDict):
    start: NodeRead
    strategy: Strategy
    depth: int
    possible: bool
    neighbours: list[NeighbourRead]
    more: bool
    notes: list[Note]


class RootRead(TypedDict):
    name: str
    location: str
    only: list[str] | None


class LagRead(TypedDict):
    added: int
    changed: int
    removed: int
    missing_roots: list[str]
    refused: int


class HnswRead(TypedDict):
    rows: int
    of: int
    recall: dict[str, float]
    building: bool


class CacheRead(TypedDict):
    hits: int
    misses: int
    evictions: int
    expired: int
    entries: int
    bytes: int


class Status(TypedDict):
    index: str
    files: int
    chunks: int
    embedded: int
    embedder: str | None
    roots: list[RootRead]
    generation: int
    state_root: str
    lag: LagRead
    cache: CacheRead
    hnsw: HnswRead | None
    tuned: dict[str, float]


class NearRead(TypedDict):
    id: str
    text: str
    similarity: float
    by: Literal["meaning", "words"]


class Remembered(TypedDict):
    id: str
    merged: bool
    seen: int
    near: list[NearRead]
    notes: list[Note]


class AboutRead(TypedDict):
    path: NotRequired[str]
    symbol: NotRequired[str]
    root: NotRequired[str]
    lines: NotRequired[list[int]]
    state: Literal["unchanged", "changed", "gone", "unknown"]


class Validity(TypedDict):
    from_ms: int
    until_ms: int | None


class MemoryRead(TypedDict):
    id: str
    text: str
    kind: str
    created_ms: int
    last_seen_ms: int
    seen: int
    tags: list[str]
    about: list[AboutRead]
    session: str | None
    sessions: list[str]
    supersedes: list[str]
    superseded_by: str | None
    metadata: Object
    valid: Validity
    freshness: Literal["Fresh", "Stale", "StaleWithRisk"]
    score: float
    signals: Object


class Recalled(Answered):
    query: str
    results: list[MemoryRead]


class MergedRead(TypedDict):
    kind: Literal["code", "memory"]
    id: str
    score: float


class SearchedAll(Answered):
    """`code` as contract mcb answers, `memory` as `recall` does, and the order of both together."""

    code: list[Object]
    memory: list[MemoryRead]
    hybrid_rank: list[MergedRead]


class RetrievalResult(TypedDict):
    id: str
    text: str
    metadata: Object
    score: float
    score_kind: str
    relevance_score: float
    relevance_kind: str
    relevance_components: NotRequired[dict[str, float]]


class RetrievalCall(TypedDict):
    index: str
    query: str
    top_k: int
    search_method: str
    query_preprocessing: str
    hybrid_alpha: NotRequired[float]
    result_count: int
    results: list[RetrievalResult]


class Retrieve(Answered):
    retrieval_calls: list[RetrievalCall]


def schema(kind: Any) -> Object:
    return TypeAdapter(kind).json_schema()
