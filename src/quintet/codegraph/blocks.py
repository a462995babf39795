"""Source code as blocks: one for each definition, and blocks for the lines between definitions.

Blocks are whole lines, never overlap, and together hold every line that is not blank.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from quintet.codegraph.definitions import CLASSES, Definition, find_definitions
from quintet.codegraph.extractor import extract
from quintet.codegraph.language import Language
from quintet.codegraph.languages.cpp import CPP
from quintet.codegraph.languages.cpp.headers import is_cpp_header
from quintet.codegraph.source import read_source
from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.lines import block_template, paragraph_blocks, rows_block
from quintet.formats.text import parse_lines
from quintet.model.symbols import Outline

SMALL_CLASS = 400  # characters; a shorter class is one block with all its methods


def parse_code(path: str, text: str, language: Language) -> ParsedFile:
    mime_type = language.mime_type
    if is_cpp_header(path, text):
        language = CPP
    file = read_source(path, text, language)
    if file is None:
        return parse_lines(path, text, mime_type, language.name)
    definitions = find_definitions(file)
    lines = text.split("\n")
    writer = _BlockWriter(lines)
    writer.namespace(definitions.outermost, 0, len(lines) - 1, ())
    outline = _with_above(extract(file), definitions.above)
    return ParsedFile(
        path.rpartition("/")[2], mime_type, language.name, tuple(writer.blocks), outline=outline
    )


def _with_above(outline: Outline, above: Mapping[int, int]) -> Outline:
    """The outline, with how many rows above each symbol belong to it: comments, attributes and overloads.
    Of symbols that start on one row, the outermost has them."""
    symbols = []
    for symbol in outline.symbols:
        row = symbol.first_line - 1
        parent = outline.symbols[symbol.parent or 0]
        if row in above and symbol.path and not (parent.path and parent.first_line == symbol.first_line):
            symbol = symbol._replace(above=row - above[row])
        symbols.append(symbol)
    return replace(outline, symbols=tuple(symbols))


class _BlockWriter:
    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.blocks: list[Block] = []

    def namespace(self, members: Sequence[Definition], first: int, last: int, path: tuple[str, ...]) -> None:
        """A file, namespace or module: its definitions, and the paragraphs between them."""
        like = block_template(path, "module", path[-1] if path else "")
        for start, end, member in _parted(members, first, last):
            if not self._joins_last(start, end):
                self.blocks += paragraph_blocks(self.lines, start, end, like=like)
            if member:
                self._definition(member)

    def _definition(self, item: Definition) -> None:
        if item.members and item.kind not in CLASSES:
            self.namespace(item.members, item.first, item.last, item.path)
        elif item.members and len("\n".join(self.lines[item.first : item.last + 1])) >= SMALL_CLASS:
            self._class(item)
        else:
            like = block_template(item.path, item.kind, item.name, alone=True)
            self.blocks += rows_block(self.lines, item.first, item.last, like=like)

    def _class(self, item: Definition) -> None:
        """The head of a class down to its first method, each method, and the fields between methods."""
        for start, end, member in _parted(item.members, item.first, item.last):
            if start == item.first or not self._joins_last(start, end):
                like = block_template(item.path, item.kind, item.name, alone=start == item.first)
                self.blocks += rows_block(self.lines, start, end, like=like)
            if member:
                self._definition(member)

    def _joins_last(self, first: int, last: int) -> bool:
        """Join rows that hold only brackets to the block above; alone they are not worth finding."""
        gap = "\n".join(self.lines[first : last + 1])
        if not self.blocks or not gap.strip() or any(char.isalnum() for char in gap):
            return False
        above = self.blocks.pop()
        self.blocks += rows_block(self.lines, above.first_line - 1, last, like=above)
        return True


def _parted(
    members: Sequence[Definition], first: int, last: int
) -> Iterator[tuple[int, int, Definition | None]]:
    """Each member with the rows before it that belong to no member; last, the rows after the last member."""
    for member in members:
        yield first, member.first - 1, member
        first = member.last + 1
    yield first, last, None
