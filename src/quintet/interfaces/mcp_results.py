"""What each MCP tool answers, as types: their JSON Schemas are the tools' output schemas."""

from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

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


class Search(Answered):
    """The chosen contract's own body; the house ranking has query, mode and results."""

    query: NotRequired[str]
    mode: NotRequired[str]
    results: NotRequired[list[Object]]
    retrieval_calls: NotRequired[list[Object]]


class PassageRead(TypedDict):
    chunk_id: str
    document_id: str
    root: str
    path: str
    title: str
    heading_path: str
    lines: list[int]
    content: str


class Read(TypedDict):
    reference: str
    passages: list[PassageRead]
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
