"""CommonMark with tables. markdown-it says which lines are a block; the text of a block is these lines."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.front_matter import front_matter
from quintet.formats.headings import HeadingPath
from quintet.formats.lines import block_template, one_line, paragraph_blocks, rows_block, stem
from quintet.formats.mentions import markdown_outline
from quintet.model.documents import Json

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_INLINE = 1000  # a longer heading keeps its markup, because inline parsing of hostile text is not linear
_INLINE = re.compile(r"[\n\\`*_\[\]!<&]")  # a text without any of these is not changed by inline parsing
_KINDS = {"fence": "code", "code_block": "code"}


def parse_markdown(path: str, text: str, mime_type: str, endings: Collection[str]) -> ParsedFile:
    lines = text.split("\n")
    front = front_matter(lines)
    reader = _MarkdownReader(lines, front.rows)
    unparsed = rows_block(lines, 0, front.rows - 1, like=block_template()) if front.metadata is None else ()
    blocks = (*unparsed, *reader.blocks())
    metadata = front.metadata or {}
    title = _title(metadata, reader.all_headings) or stem(path)
    return ParsedFile(title, mime_type, None, blocks, metadata, markdown_outline(blocks, endings))


def _title(metadata: dict[str, Json], headings: Sequence[tuple[int, str]]) -> str:
    given = metadata.get("title")
    if isinstance(given, (str, int, float)) and str(given).strip():
        return str(given).strip()
    first = [text for level, text in headings if level == 1 and text] or [
        text for _, text in headings if text
    ]
    return first[0] if first else ""


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")


class _MarkdownReader:
    """Reads the outermost tokens. Rows that belong to no token (link definitions) become text."""

    def __init__(self, lines: Sequence[str], offset: int) -> None:
        self.lines = lines
        self.offset = offset
        self.env: dict[str, Any] = {}
        self.headings = HeadingPath()
        self.all_headings: list[tuple[int, str]] = []
        self.row = offset

    def blocks(self) -> Iterator[Block]:
        tokens: list[Token] = []
        markdown = _markdown()
        source = "\n".join(self.lines[self.offset :]).replace("\0", "\ufffd")
        markdown.block.parse(source, markdown, self.env, tokens)
        for index, token in enumerate(tokens):
            if token.map and self._is_block(token):
                yield from self._between(self.offset + token.map[0])
                yield from self._block(token, tokens[index + 1] if index + 1 < len(tokens) else token)
        yield from self._between(len(self.lines))

    def _is_block(self, token: "Token") -> bool:
        """Outermost blocks; of lists and tables, each item and row instead of the whole."""
        if token.type == "tr_open":
            return token.level == 2
        if token.type == "list_item_open":
            return token.level == 1
        return token.level == 0 and token.type not in ("bullet_list_open", "ordered_list_open", "table_open")

    def _between(self, row: int) -> Iterator[Block]:
        if row > self.row:
            tight = self.row > 0 and self._is_delimiter(self.row)
            yield from paragraph_blocks(
                self.lines, self.row, row - 1, like=block_template(self.headings.texts, tight=tight)
            )
            self.row = row

    def _is_delimiter(self, row: int) -> bool:
        line = self.lines[row].strip()
        return "-" in line and not line.strip("|-: ")

    def _block(self, token: "Token", following: "Token") -> Iterator[Block]:
        assert token.map is not None
        first, last = self.offset + token.map[0], self.offset + token.map[1] - 1
        first = max(first, self.row)
        self.row = max(self.row, last + 1)
        if token.type == "heading_open":
            level = int(token.tag[1:])
            text = self._plain_text(following.content)
            self.headings.enter(level, text)
            self.all_headings.append((level, text))
            like = block_template(self.headings.texts, heading=True)
        else:
            tight = token.type in ("list_item_open", "tr_open") and self._continues(first)
            like = block_template(self.headings.texts, _KINDS.get(token.type, "text"), tight=tight)
        yield from rows_block(self.lines, first, last, like=like)

    def _continues(self, row: int) -> bool:
        """Is the line directly above not blank?"""
        return row > self.offset and bool(self.lines[row - 1].strip())

    def _plain_text(self, content: str) -> str:
        """The text of a heading without markup."""
        if len(content) > MAX_INLINE:
            return one_line(content[:MAX_INLINE])
        if not _INLINE.search(content):
            return one_line(content)
        words: list[str] = []
        for token in _markdown().parseInline(content, self.env)[0].children or ():
            if token.type in ("text", "code_inline", "image"):
                words.append(token.content)
            elif token.type in ("softbreak", "hardbreak"):
                words.append(" ")
        return one_line("".join(words))
