"""What the nodes of a document are called, and which of them each of its chunks belongs to."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from quintet.model import Chunk, Document
from quintet.symbols import Outline, Symbol
from quintet.writing import Entry

FOLDER_FILES = re.compile(
    r"__init__\.pyi?|index\.[cm]?[jt]sx?|(?:mod|lib|main)\.rs"
)  # stand for their folder
SOURCES = "src"  # a folder that holds packages and is none
SEPARATORS = re.compile(r"::|[\\/.]+")


def outline_of(entry: Entry) -> Outline:
    """The outline with the document itself as its first symbol: prose defines nothing, and a document of
    which nothing is known is a node all the same, for others may refer to it."""
    outline = entry.outline or Outline(entry.document.language or "")
    if outline.symbols:
        return outline
    last = max((chunk.last_line for chunk in entry.chunks), default=1)
    return replace(outline, symbols=(Symbol("module", (), 1, last),))


def names(document: Document, outline: Outline) -> list[tuple[str, str]]:
    """Of each symbol its name and its qualified name. Code goes by module or package, prose by its path."""
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
    """The smallest symbol around each chunk of code, by the `ids` of all of them; a chunk of prose is a node
    by itself."""
    if document.language is None:
        return [None] * len(chunks)
    around = _innermost(outline.symbols, max((chunk.first_line for chunk in chunks), default=0))
    return [ids[_covering(outline.symbols, int(around[chunk.first_line]), chunk)] for chunk in chunks]


def _innermost(symbols: Sequence[Symbol], last: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """By line the number of the innermost symbol: wide ones are laid down first."""
    lines = np.zeros(last + 1, np.int64)
    widest_first = sorted(range(len(symbols)), key=lambda at: symbols[at].first_line - symbols[at].last_line)
    for number in widest_first:
        if symbols[number].path:
            lines[symbols[number].first_line : symbols[number].last_line + 1] = number
    return lines


def _covering(symbols: Sequence[Symbol], number: int, chunk: Chunk) -> int:
    """That symbol or the nearest around it that reaches to the chunk's end; at last the module."""
    symbol = symbols[number]
    while symbol.parent is not None and not _covers(symbol, chunk):
        number = symbol.parent
        symbol = symbols[number]
    return number


def _covers(symbol: Symbol, chunk: Chunk) -> bool:
    return symbol.first_line <= chunk.first_line and symbol.last_line >= chunk.last_line
