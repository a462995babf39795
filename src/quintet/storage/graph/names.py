"""The names of a document's nodes, and the node of each of its chunks."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from quintet.model.documents import Chunk, Document
from quintet.model.symbols import Outline, Symbol
from quintet.ports.writing import Entry

FOLDER_FILES = re.compile(
    r"__init__\.pyi?|index\.[cm]?[jt]sx?|(?:mod|lib|main)\.rs"
)  # stand for their folder
SOURCES = "src"  # a folder that holds packages and is not one itself
UNPARSED = "code"  # the kind of chunks that were cut at lines, without a grammar
IMPL = "impl"  # the kind of a Rust impl block, which is no symbol itself but holds symbols
SEPARATORS = re.compile(r"::|[\\/.]+")


def outline_of(entry: Entry) -> Outline:
    """The outline with the document itself as its first symbol. Every document is a node, since others may
    refer to it, even one that defines nothing."""
    outline = entry.outline or Outline(entry.document.language or "")
    if outline.symbols:
        return outline
    last = max((chunk.last_line for chunk in entry.chunks), default=1)
    return replace(outline, symbols=(Symbol("module", (), 1, last),))


def names(document: Document, outline: Outline) -> list[tuple[str, str]]:
    """The name and qualified name of each symbol. Code is named by module or package, prose by its path."""
    if document.language is None:
        module, own = document.path, document.path.rpartition("/")[2]
    else:
        module = module_name(document.path)
        own = module.rpartition(".")[2]
    prefix = SEPARATORS.sub(".", outline.package) or module
    return [
        (symbol.name, f"{prefix}.{'.'.join(symbol.path)}") if symbol.path else (own, module)
        for symbol in outline.symbols
    ]


def module_name(path: str) -> str:
    """A file as its importers call it.

    >>> module_name("src/pkg/__init__.py"), module_name("lib/a.b.ts")
    ('pkg', 'lib.a.b')
    """
    *folders, file = path.split("/")
    if folders[:1] == [SOURCES]:
        del folders[0]
    if folders and FOLDER_FILES.fullmatch(file):
        return ".".join(folders)
    return ".".join([*folders, file.rpartition(".")[0] or file])


def nodes_of_chunks(
    document: Document, outline: Outline, ids: Sequence[str], chunks: Sequence[Chunk]
) -> list[str | None]:
    """The id of the smallest symbol around each chunk of code. A chunk of prose or of unparsed code has none:
    it is a node of its own."""
    if document.language is None:
        return [None] * len(chunks)
    places = _Places(outline, max((chunk.first_line for chunk in chunks), default=0))
    return [None if chunk.kind == UNPARSED else ids[places.node_of(chunk)] for chunk in chunks]


class _Places:
    """The lines of a document's symbols. Lines above a symbol that belong to it, such as comments, are its
    part."""

    def __init__(self, outline: Outline, last: int) -> None:
        self._symbols = outline.symbols
        self._innermost = np.zeros(last + 1, np.int64)  # by line
        self._around = [0] * len(outline.symbols)
        self._lay_down()
        self._first_of = _overloads(outline.symbols)

    def _lay_down(self) -> None:
        """Lay down wide symbols first, of equally wide ones the outer first. Lines above a symbol come last:
        only its own overloads can stand there."""
        symbols, lines = self._symbols, self._innermost
        inside_first = range(len(symbols) - 1, 0, -1)
        for number in sorted(inside_first, key=lambda at: symbols[at].first_line - symbols[at].last_line):
            first, last = symbols[number].first_line, symbols[number].last_line
            if first < len(lines):
                self._around[number] = int(lines[first])
                lines[first : last + 1] = number
        for number, symbol in enumerate(symbols):
            if symbol.above:
                lines[symbol.first_line - symbol.above : symbol.first_line] = number

    def node_of(self, chunk: Chunk) -> int:
        defined = self._defined_in(chunk)
        if defined:
            return self._first_of.get(defined, defined)
        last = _last_line(chunk)
        number = self._covering(int(self._innermost[chunk.first_line]), chunk.first_line, last)
        if chunk.kind == IMPL:
            number = self._holding_all(chunk.first_line, last) or number
        return self._first_of.get(number, number)

    def _defined_in(self, chunk: Chunk) -> int:
        """The symbol that the chunk is named after, if it defines nothing else; lines before and after it may
        have joined the chunk. 0 if there is none."""
        if not chunk.name:
            return 0
        path = tuple(chunk.heading_path.split(" > "))
        numbers = self._by_name.get(chunk.name, ())
        here = [at for at in numbers if chunk.first_line <= self._symbols[at].first_line <= chunk.last_line]
        # A namespace that the file declares is a heading, but no part of a symbol's path.
        number = next(
            (at for at in here if path[-len(self._symbols[at].path) :] == self._symbols[at].path), 0
        )
        ordered, starts = self._in_order
        others = ordered[bisect_left(starts, chunk.first_line) : bisect_right(starts, chunk.last_line)]
        around = self._lineage(number)
        alone = all(
            at in around or number in self._lineage(at)
            for at in others
            if self._symbols[at].kind != "variable"
        )
        return number if alone else 0

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        for number, symbol in enumerate(self._symbols):
            numbers.setdefault(symbol.name, []).append(number)
        return numbers

    def _covering(self, number: int, first: int, last: int) -> int:
        """The symbol, or the nearest one around it that reaches the last line; finally the module."""
        while number and not _covers(self._symbols[number], first, last):
            number = self._around[number]
        return number

    def _holding_all(self, first: int, last: int) -> int:
        """The only symbol between these lines, or the nearest one that contains all of them; 0 if there is
        none."""
        numbers, starts = self._in_order
        common: list[int] | None = None
        for number in numbers[bisect_left(starts, first) : bisect_right(starts, last)]:
            line = self._lineage(number)
            common = line if common is None else [ancestor for ancestor in common if ancestor in line]
        return common[0] if common else 0

    @cached_property
    def _in_order(self) -> tuple[list[int], list[int]]:
        """The numbers of the symbols by their first lines, and those lines."""
        numbers = sorted(range(1, len(self._symbols)), key=lambda at: self._symbols[at].first_line)
        return numbers, [self._symbols[number].first_line for number in numbers]

    def _lineage(self, number: int) -> list[int]:
        """The symbol and its ancestors, without the module."""
        numbers = []
        while number:
            numbers.append(number)
            number = self._symbols[number].parent or 0
        return numbers


def _overloads(symbols: Sequence[Symbol]) -> dict[int, int]:
    """The first overload signature above each function, by number: calls lead to that one."""
    first_of: dict[int, int] = {}
    numbers: dict[tuple[str, ...], list[int]] = {}
    for number, symbol in enumerate(symbols):
        before = numbers.setdefault(symbol.path, [])
        for other in reversed(before):
            if not symbol.first_line - symbol.above <= symbols[other].first_line < symbol.first_line:
                break
            first_of[number] = other
        before.append(number)
    return first_of


def _last_line(chunk: Chunk) -> int:
    """The last line that is not a closing bracket: that of a class is in the chunk of its last method."""
    said = chunk.content.rstrip()
    while "\n" in said and not any(char.isalnum() for char in said[said.rindex("\n") :]):
        said = said[: said.rindex("\n")]
    closing = chunk.content.count("\n") - said.count("\n")
    return max(chunk.last_line - closing, chunk.first_line)


def _covers(symbol: Symbol, first: int, last: int) -> bool:
    return symbol.first_line - symbol.above <= first and symbol.last_line >= last
