"""The parts of reStructuredText that indexing needs: sections, literal blocks, directives, lists,
paragraphs."""

import re
from collections.abc import Collection, Iterator, Sequence

from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.headings import HeadingPath, first_heading
from quintet.formats.lines import block_template, one_line, rows_block, stem
from quintet.formats.mentions import rst_outline

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*+\s*+$")
_ITEM = re.compile(r"(?:[-*+•‣⁃]|(?:\d{1,9}|#|[a-zA-Z])[.)]|\((?:\d{1,9}|#|[a-zA-Z])\))[ \t]+\S")
_TARGET = re.compile(r"\.\.[ \t]+_[^:]++:[ \t]*$")  # a label, no text
_EXPLICIT = re.compile(r"(?:\.\.|__)(?:[ \t]|$)")
_CODE = re.compile(r"\.\.[ \t]+(?:code|code-block|sourcecode|parsed-literal|math|doctest|testcode)::")
_GRID = re.compile(r"\+[-=+]+$|=+[ \t]+=[= \t]*$")


def parse_rst(path: str, text: str, mime_type: str, endings: Collection[str]) -> ParsedFile:
    reader = _RstReader(text.split("\n"))
    blocks = tuple(reader.blocks())
    title = first_heading(blocks) or stem(path)
    return ParsedFile(title, mime_type, None, blocks, outline=rst_outline(blocks, endings))


class _RstReader:
    """Reads blocks from top to bottom; `row` is the next row to read."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.row = 0
        self.styles: list[tuple[str, bool]] = []  # the position of a style is its level
        self.headings = HeadingPath()
        self.literal = False  # the paragraph above ended in `::`
        self.after_item = False

    def blocks(self) -> Iterator[Block]:
        while self.row < len(self.lines):
            if self.lines[self.row].strip():
                yield from self._next()
            else:
                self.row += 1

    def _next(self) -> Iterator[Block]:
        line = self.lines[self.row]
        literal, self.literal = self.literal, False
        item, self.after_item = self.after_item, False
        if literal and line[:1].isspace():
            yield from self._take(self._indented_end(self.row, 0), kind="code")
        elif title := self._title():
            yield from self._section(*title)
        elif _TARGET.match(line):
            self.row += 1
        elif _EXPLICIT.match(line):
            kind = "code" if _CODE.match(line) else "text"
            yield from self._take(self._indented_end(self.row + 1, 0), kind=kind)
        elif _ITEM.match(line.lstrip()):
            indent = len(line) - len(line.lstrip())
            self.after_item = True
            yield from self._take(self._indented_end(self.row + 1, indent), tight=item)
        else:
            yield from self._paragraph()

    def _title(self) -> tuple[str, tuple[str, bool], int] | None:
        """The title, style and last row of a section, if one begins here."""
        row, lines = self.row, self.lines
        mark = _ADORNMENT.match(lines[row])
        if (
            mark
            and row + 2 < len(lines)
            and lines[row + 1].strip()
            and lines[row + 2].rstrip() == lines[row].rstrip()
        ):
            return lines[row + 1].strip(), (mark.group(1), True), row + 2
        under = _ADORNMENT.match(lines[row + 1]) if row + 1 < len(lines) else None
        if mark or not under or lines[row][:1].isspace():
            return None
        length = len(lines[row + 1].rstrip())
        if length < min(len(lines[row].rstrip()), 4):
            return None
        return lines[row].strip(), (under.group(1), False), row + 1

    def _section(self, text: str, style: tuple[str, bool], last: int) -> Iterator[Block]:
        if style not in self.styles:
            self.styles.append(style)
        level = self.styles.index(style)
        self.headings.enter(level, one_line(text))
        yield from self._take(last, heading=True)

    def _paragraph(self) -> Iterator[Block]:
        last = self.row
        while last + 1 < len(self.lines) and self.lines[last + 1].strip():
            last += 1
        self.literal = self.lines[last].rstrip().endswith("::")
        first = self.lines[self.row].strip()
        kind = "code" if first.startswith(">>>") else "table" if _GRID.match(first) else "text"
        yield from self._take(last, kind=kind)

    def _indented_end(self, row: int, indent: int) -> int:
        """The last row of a block that starts at `row` and is indented by more than `indent`. Blank rows do
        not end it."""
        last = row - 1
        while row < len(self.lines):
            line = self.lines[row]
            if line.strip():
                if len(line) - len(line.lstrip()) <= indent:
                    break
                last = row
            row += 1
        return last

    def _take(
        self, last: int, kind: str = "text", tight: bool = False, heading: bool = False
    ) -> Iterator[Block]:
        like = block_template(self.headings.texts, kind, tight=tight, heading=heading)
        yield from rows_block(self.lines, self.row, last, like=like)
        self.row = last + 1
