"""What a parser returns: a document's own facts and its blocks in reading order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from quintet.model.documents import Json
from quintet.model.symbols import Outline


class Block(NamedTuple):
    """A piece of text that belongs together: a paragraph, a list item, a table row, a fence, a definition.

    `text` is what is indexed (the source's own lines wherever the format allows). `tight` joins it to the
    block before by one newline instead of a blank line. `alone` keeps it from being packed with its
    neighbours (a function). `heading` marks a heading line: it opens the text that follows it. `page`
    counts from 1; blocks of different pages are never packed together.
    """

    text: str
    first_line: int
    last_line: int
    heading_path: tuple[str, ...] = ()
    kind: str = "text"
    name: str = ""
    tight: bool = False
    alone: bool = False
    heading: bool = False
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedFile:
    title: str
    mime_type: str
    language: str | None
    blocks: tuple[Block, ...]
    metadata: Mapping[str, Json] = field(default_factory=dict)
    outline: Outline | None = None
