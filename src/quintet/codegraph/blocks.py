"""Source code as blocks: one for each definition, and blocks for the lines between definitions.

Blocks are whole lines, never overlap, and together hold every line that is not blank. Lines that say little
alone (imports, comments, a bracket, a constant) join the definition next to them. After the head of a file or
class stands a list of what it defines.
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
SLIGHT = 160  # characters between two definitions that are no answer by themselves
MAX_LISTED = 1_200  # characters of a list of members
MODULE = block_template(kind="module")


def parse_code(path: str, text: str, language: Language) -> ParsedFile:
    mime_type = language.mime_type
    if is_cpp_header(path, text):
        language = CPP
    file = read_source(path, text, language)
    if file is None:
        return parse_lines(path, text, mime_type, language.name)
    definitions = find_definitions(file)
    writer = _BlockWriter(text.split("\n"), definitions.code)
    writer.file(definitions.outermost)
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
    def __init__(self, lines: Sequence[str], code: frozenset[int]) -> None:
        self.lines = lines
        self.code = code
        self.blocks: list[Block] = []
        self.waiting: int | None = None  # the first row of what joins the next block

    def file(self, members: Sequence[Definition]) -> None:
        """A file: its head with a list of what it defines, its definitions, and what lies between them."""
        head = members[0].first - 1 if members else len(self.lines) - 1
        self.blocks += paragraph_blocks(self.lines, 0, head, like=MODULE)
        if self.blocks and members:
            self._list(members, MODULE)
        self._members(members, head + 1, len(self.lines) - 1, MODULE)

    def _members(self, members: Sequence[Definition], first: int, last: int, like: Block) -> None:
        """The definitions of a file or namespace, and the paragraphs between them."""
        for start, end, member in _parted(members, first, last):
            if not self._joins(start, end, member):
                self.blocks += paragraph_blocks(self.lines, self._begin(start), end, like=like)
            if member:
                self._definition(member)

    def _definition(self, item: Definition) -> None:
        like = _like(item)
        if item.members and item.kind not in CLASSES:
            self._members(item.members, item.first, item.last, like._replace(kind="module"))
        elif item.members and len("\n".join(self.lines[item.first : item.last + 1])) >= SMALL_CLASS:
            self._class(item, like)
        else:
            like = like._replace(alone=True)
            self.blocks += rows_block(self.lines, self._begin(item.first), item.last, like=like)

    def _class(self, item: Definition, like: Block) -> None:
        """The head of a class with a list of its members, each member, and the fields between them."""
        head = item.members[0].first - 1
        self.blocks += rows_block(self.lines, self._begin(item.first), head, like=like)
        self._list(item.members, like)
        fields = like._replace(name="")
        for start, end, member in _parted(item.members, head + 1, item.last):
            if not self._joins(start, end, member):
                self.blocks += rows_block(self.lines, self._begin(start), end, like=fields)
            if member:
                self._definition(member)

    def _begin(self, row: int) -> int:
        """The row, or an earlier one that was waiting to be joined."""
        begin = row if self.waiting is None else self.waiting
        self.waiting = None
        return begin

    def _joins(self, first: int, last: int, below: Definition | None) -> bool:
        """Whether the rows between two definitions say so little that they join the one below, or the one
        above if they close something or nothing is below."""
        gap = "\n".join(self.lines[first : last + 1]).strip()
        if not gap:
            return True
        has_words = any(char.isalnum() for char in gap)
        if has_words and len(gap) > SLIGHT and any(row in self.code for row in range(first, last + 1)):
            return False
        if below is not None and (has_words or not self.blocks):
            self.waiting = first if self.waiting is None else self.waiting
            return True
        if not self.blocks or self.waiting is not None:
            return False
        above = self.blocks.pop()
        self.blocks += rows_block(self.lines, above.first_line - 1, last, like=above)
        return True

    def _list(self, members: Sequence[Definition], like: Block) -> None:
        """What a file or class defines, after its head: each name once."""
        signatures: dict[str, str] = {}
        for item in members:
            signatures.setdefault(item.name, _indentation(self.lines, item) + item.signature)
        listed, size = ["…"], 0
        for signature in signatures.values():
            size += len(signature) + 1
            listed += [signature] if size <= MAX_LISTED else []
        last, text = self.blocks[-1].last_line, "\n".join(listed)
        self.blocks.append(like._replace(text=text, first_line=last, last_line=last, name="", tight=True))


def _like(item: Definition) -> Block:
    return block_template(
        item.path, item.kind, item.name, signature=item.signature, defined_at=item.start + 1
    )


def _indentation(lines: Sequence[str], item: Definition) -> str:
    line = lines[item.first]
    return line[: len(line) - len(line.lstrip())]


def _parted(
    members: Sequence[Definition], first: int, last: int
) -> Iterator[tuple[int, int, Definition | None]]:
    """Each member with the rows before it that belong to no member; last, the rows after the last member."""
    for member in members:
        yield first, member.first - 1, member
        first = member.last + 1
    yield first, last, None
