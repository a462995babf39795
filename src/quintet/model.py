"""The nouns: what is indexed, what a signal answers, what ranking returns.

document (a file) > chunk (what is indexed); hit (a signal's answer) > evidence > ranked (final).
What a search makes by the hundred, or a run by the thousand, is a named tuple: a frozen dataclass takes four
times as long.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias, TypedDict

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Signal = Literal["lexical", "semantic", "graph"]
Freshness = Literal["Fresh", "Acceptable", "Stale", "StaleWithRisk"]
Status = Literal["ok", "empty_index", "never_indexed", "degraded"]


class Note(TypedDict):
    """Something the caller should know beside the answer: what was degraded, clamped or cut."""

    code: str
    message: str


def digest(*parts: str) -> str:
    """A short stable name for `parts`: 128 bits of SHA-256, each part framed by its length.

    >>> digest("a", "bc") == digest("ab", "c")
    False
    """
    framed = b"".join([len(data).to_bytes(8, "big") + data for data in map(str.encode, parts)])
    return sha256(framed).hexdigest()[:32]


def steady(score: float) -> float:
    """Twelve significant digits: what decides an order. BM25's logarithm comes from the system's library, and
    its last bit may differ between systems.

    >>> steady(-7.123456789012345)
    -7.12345678901
    """
    return float(f"{score:.12g}")


@dataclass(frozen=True, slots=True)
class Document:
    """A file as the index knows it. `path` is relative to its root, `/`-separated, NFC."""

    root: str
    path: str
    title: str
    mime_type: str
    language: str | None
    size: int
    modified_ns: int
    content_hash: str
    metadata: Mapping[str, Json] = field(default_factory=dict)
    id: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", digest(self.root, self.path))

    @property
    def modified_ms(self) -> int:
        return self.modified_ns // 1_000_000


class Chunk(NamedTuple):
    """A passage of a document: the unit that is indexed. Lines count from 1, both ends included.

    `page` counts from 1 too; None where the format has no pages. Lines are then those of that page's text.
    """

    id: str
    document_id: str
    sequence: int
    content: str
    heading_path: str
    first_line: int
    last_line: int
    kind: str = "text"
    name: str = ""
    page: int | None = None


def embedding_text(heading_path: str, content: str) -> str:
    """What is embedded of a chunk: where the passage stands, then the passage."""
    return f"{heading_path}\n{content}" if heading_path else content


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk with the document it belongs to: what a projection reads."""

    chunk: Chunk
    document: Document


class Hit(NamedTuple):
    """One match from a signal. Lists are best first; `score` is higher-is-better whatever the backend
    does; `raw` keeps the backend's own number for contracts that must show it. One that is not `listed` was
    scored because another signal brought it; it stands behind the list."""

    chunk_id: str
    score: float
    raw: float
    distance: int | None = None
    listed: bool = True


class Facts(NamedTuple):
    """The little a ranking may know about a chunk besides its scores. One catalog query fetches them."""

    document_id: str
    path: str
    sequence: int
    line: int
    modified_ms: int
    node_id: str
    freshness: Freshness = "Fresh"


class Evidence(NamedTuple):
    """What one signal said about one item, and what that was worth. `rank` counts from 1, of `of`; None says
    that the item was not in the signal's own list, but scored because another signal brought it."""

    rank: int | None
    of: int
    score: float
    raw: float
    normalised: float
    weight: float
    contribution: float
    distance: int | None = None


class Ranked(NamedTuple):
    """An item of the final list with everything needed to explain its place."""

    item_id: str
    score: float
    best_chunk: str
    evidence: Mapping[Signal, Evidence]
    freshness_factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on documents or chunks, e.g. `path` matches `docs/**`."""

    field: str
    value: bool | int | float | str


@dataclass(frozen=True, slots=True)
class Not:
    """Holds where `of` does not: also where a document has no such field at all."""

    of: "Expression"


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple["Expression", ...]


Expression: TypeAlias = Condition | Not | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that must all hold, applied before retrieval on every leg."""

    conditions: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A lexical query, already safe: any of `terms`, each matched as the phrase of its own tokens.

    With `phrases_required` every phrase must be there as well; otherwise phrases are alternatives too.
    `parts` also looks for the parts of identifiers. With `stems` a term is any of its tokens, whatever their
    endings, and parts count as words of the text. `field_weights` say what a match in a field counts for,
    with `stems` only that of a word. `expression` is FTS5's own language, used as it is.
    `exact_bm25` says that the scores must be FTS5's own, whatever the index is.
    """

    terms: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    phrases_required: bool = False
    parts: bool = False
    stems: bool = False
    expression: str | None = None
    field_weights: tuple[tuple[str, float], ...] = ()
    exact_bm25: bool = False

    @property
    def needs_fts5(self) -> bool:
        return self.exact_bm25 or self.expression is not None
