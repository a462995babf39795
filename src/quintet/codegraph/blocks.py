"""Source code as blocks: one for each definition, and blocks for the lines between definitions.

Blocks are whole lines, never overlap, and together hold every line that is not blank. Lines that say little
alone (imports, comments, a bracket, a constant) join the definition next to them. After the head of a file or
class stands a list of what it defines.
"""

from collections.abc import Iterator, Sequence, Set

from quintet.codegraph.extractor import extract
from quintet.codegraph.language import Language
from quintet.codegraph.languages.cpp import CPP
from quintet.codegraph.languages.cpp.headers import is_cpp_header
from quintet.codegraph.layout import CLASSES, Definition
from quintet.codegraph.source import read_source
from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.lines import block_template, paragraph_blocks, rows_block
from quintet.formats.text import parse_lines

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
    outline, definitions, quiet = extract(file)
    writer = _BlockWriter(text.split("\n"), quiet)
    writer.file(definitions)
    name = path.rpartition("/")[2]
    return ParsedFile(name, mime_type, language.name, tuple(writer.blocks), outline=outline)


class _BlockWriter:
    def __init__(self, lines: Sequence[str], quiet: Set[int]) -> None:
        self.lines = lines
        self.quiet = quiet
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
        has_words = _has_words(gap)
        if len(gap) > SLIGHT and any(self._is_code(row) for row in range(first, last + 1)):
            return False
        if below is not None and (has_words or not self.blocks):
            self.waiting = first if self.waiting is None else self.waiting
            return True
        if not self.blocks or self.waiting is not None:
            return False
        above = self.blocks.pop()
        self.blocks += rows_block(self.lines, above.first_line - 1, last, like=above)
        return True

    def _is_code(self, row: int) -> bool:
        return row not in self.quiet and _has_words(self.lines[row])

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


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


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
