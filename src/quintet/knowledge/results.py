"""The result types of knowledge bases. Every interface publishes schemas derived from these types."""

from typing import Annotated, Literal, NotRequired, TypedDict

from quintet.contracts.bases import PROPERTY_KINDS
from quintet.contracts.knowledge import CallFields, KnowledgeResult
from quintet.model.schema import Count, Metadata, keywords

BaseState = Literal["ready", "syncing", "error"]


class SourceFields(TypedDict):
    """A folder of the server's machine whose files are documents of the base."""

    id: str
    name: str
    type: Literal["local_directory"]
    documents: Count


class PropertyFields(TypedDict):
    """A field of metadata that results can be filtered by."""

    name: str
    type: Annotated[str, keywords(enum=tuple(PROPERTY_KINDS))]


class BaseFields(TypedDict):
    """A knowledge base: its names, its state and its counts."""

    id: str
    index: str
    title: str
    state: BaseState
    archived: bool
    created_ms: Count
    properties: list[PropertyFields]
    documents: Count
    chunks: Count
    embedded: Count
    sources: list[SourceFields]


class ListedBase(BaseFields):
    """A knowledge base in the list of all. A damaged one has an `error`."""

    error: NotRequired[str]


class DocumentFields(TypedDict):
    """A document of a knowledge base."""

    id: str
    title: str
    knowledge_base_id: str | None
    managed_by_source: bool
    source_id: str | None
    source_name: str | None
    source_path: str | None
    source_type: str | None
    uri: str | None
    mime_type: str
    size: Count
    digest: str
    chunks: Count
    updated_ms: Count
    metadata: Metadata


class Reference(TypedDict):
    """A document behind the results, numbered as an answer cites it."""

    id: str
    citation_label: str
    title: str
    uri: str | None
    pages: list[Count]
    source_ids: list[str]
    file_url: NotRequired[str]


class TaggedResult(KnowledgeResult):
    """A result with the id of the reference it belongs to, where the caller asked for references."""

    reference_id: NotRequired[str]


class TaggedCall(CallFields):
    """One search of one index, with its results."""

    results: list[TaggedResult]


class RetrievalBody(TypedDict):
    """The canonical result of a retrieval."""

    retrieval_calls: list[TaggedCall]
    references: NotRequired[list[Reference]]  # where the caller asked for them


class ContextSource(TypedDict):
    """A passage that is part of the context."""

    id: str
    reference_id: str
    marker: str
    document_id: str
    chunk_index: Count
    relevance_score: float
    cut: bool


class ContextBody(TypedDict):
    """Cited passages within a budget of tokens."""

    index: str
    query: str
    budget: Count
    tokens: Count
    text: str
    references: list[Reference]
    sources: list[ContextSource]
    duplicates: Count
    left_out: Count
    digest: str
