"""What is indexed: a document (a file, an upload or a memory) and its chunks.

A run makes chunks by the thousand, so they are named tuples: a frozen dataclass takes four times as long.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple, TypeAlias

from quintet.model.roles import role_of

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None


def digest(*parts: str) -> str:
    """A short, stable id for `parts`: 128 bits of SHA-256, each part framed by its length.

    >>> digest("a", "bc") == digest("ab", "c")
    False
    """
    framed = b"".join([len(data).to_bytes(8, "big") + data for data in map(str.encode, parts)])
    return sha256(framed).hexdigest()[:32]


_document_id = lru_cache(1_024)(digest)  # a run reads it ten times for each document


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

    @property
    def id(self) -> str:
        return _document_id(self.root, self.path)

    @property
    def modified_ms(self) -> int:
        return self.modified_ns // 1_000_000

    @property
    def context(self) -> str:
        return embedding_context(self.language, self.path)


class Chunk(NamedTuple):
    """A passage of a document: the unit that is indexed. Lines count from 1, both ends included.

    `page` counts from 1 too, and is None where the format has no pages. With a page, lines are those of the
    page's text.
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


def is_embedded(language: str | None, path: str) -> bool:
    """Do the chunks of this document get vectors? Generated and minified code does not: nobody describes it
    in words of their own. Text search finds it.

    >>> is_embedded("python", "api_pb2.py"), is_embedded(None, "take-min.md")
    (False, True)
    """
    return language is None or role_of(path) != "generated"


def embedding_context(language: str | None, path: str) -> str:
    """What is embedded in front of every chunk of a document: the path of source code, which says what the
    code is about."""
    return "" if language is None else path


def embedding_text(context: str, heading_path: str, content: str) -> str:
    """The text that is embedded for a chunk: what is around it, its headings, then its content."""
    return "\n".join(part for part in (context, heading_path, content) if part)


def embedding_hash(context: str, heading_path: str, content: str) -> bytes:
    """The key of a chunk's vector: equal texts share one vector."""
    return sha256(embedding_text(context, heading_path, content).encode()).digest()


def is_text_of(key: bytes, context: str, heading_path: str, content: str) -> bool:
    """Whether this is the text that was indexed. Indexes of versions before 0.2 have no context in front."""
    if embedding_hash(context, heading_path, content) == key:
        return True
    return bool(context) and embedding_hash("", heading_path, content) == key


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk with the document it belongs to: what a projection reads."""

    chunk: Chunk
    document: Document


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """Lines of a document; by default all."""

    root: str
    path: str
    first: int = 1
    last: int = 10**9

    def cut(self, passages: Sequence[Passage]) -> list[Passage]:
        """The passages that have any of these lines."""
        return [p for p in passages if p.chunk.first_line <= self.last and p.chunk.last_line >= self.first]
