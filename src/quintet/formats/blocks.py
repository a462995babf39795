"""What a parser returns: facts about a document, and its blocks in reading order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from quintet.model.documents import Json
from quintet.model.symbols import Outline


class Block(NamedTuple):
    """Text that belongs together: a paragraph, a list item, a table row, a fence, a definition.

    `text` is what is indexed: the lines of the source wherever the format allows. `tight` joins it to the
    block before by one newline instead of a blank line. A block that is `alone` (a function) is not packed
    with its neighbours. `heading` marks a heading, which starts the text below it. `page` counts from 1;
    blocks of different pages are never packed together. `signature` is what the block defines, on one line,
    and `defined_at` the line of it: where a block is cut, only that part has the name, and the parts after it
    begin with the signature.
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
    signature: str = ""
    defined_at: int = 0


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A parsed file or text. `outline` is what it defines and mentions, for the code graph."""

    title: str
    mime_type: str
    language: str | None
    blocks: tuple[Block, ...]
    metadata: Mapping[str, Json] = field(default_factory=dict)
    outline: Outline | None = None
