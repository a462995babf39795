"""Lines and blocks of lines. Rows count from 0 here; the lines of a Block count from 1."""

import re
from collections.abc import Iterator, Sequence

from quintet.formats.blocks import Block

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """`text` without lone surrogates, which cannot be stored or embedded."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def normalise_newlines(text: str) -> str:
    """`text` without a byte order mark, with `\\n` for every newline, and well formed."""
    return well_formed(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))


def trim_blank_rows(lines: Sequence[str], first: int, last: int) -> tuple[int, int] | None:
    """The rows `first` to `last` (inclusive) without blank rows at either end; None if all are blank."""
    while first <= last and not lines[first].strip():
        first += 1
    while last >= first and not lines[last].strip():
        last -= 1
    return (first, last) if first <= last else None


def rows_block(lines: Sequence[str], first: int, last: int, *, like: Block) -> Iterator[Block]:
    """The rows `first` to `last` as one block with the other fields of `like`; nothing if all are blank."""
    rows = trim_blank_rows(lines, first, last)
    if rows:
        yield _block(lines, *rows, like)


def _block(lines: Sequence[str], first: int, last: int, like: Block) -> Block:
    return Block(
        "\n".join(lines[first : last + 1]),
        first + 1,
        last + 1,
        like.heading_path,
        like.kind,
        like.name,
        like.tight,
        like.alone,
        like.heading,
        signature=like.signature,
        defined_at=like.defined_at,
    )


def block_template(
    heading_path: tuple[str, ...] = (),
    kind: str = "text",
    name: str = "",
    *,
    tight: bool = False,
    alone: bool = False,
    heading: bool = False,
    signature: str = "",
    defined_at: int = 0,
) -> Block:
    """A block without text, to pass as `like`."""
    return Block("", 0, 0, heading_path, kind, name, tight, alone, heading, None, signature, defined_at)


def paragraph_rows(lines: Sequence[str], first: int, last: int) -> Iterator[tuple[int, int]]:
    """The first and last row of each paragraph between `first` and `last`. Blank rows separate paragraphs."""
    start = None
    for row in range(first, last + 1):
        if lines[row].strip():
            start = row if start is None else start
        elif start is not None:
            yield start, row - 1
            start = None
    if start is not None:
        yield start, last


def paragraph_blocks(lines: Sequence[str], first: int, last: int, *, like: Block) -> Iterator[Block]:
    """One block for each paragraph."""
    for start, end in paragraph_rows(lines, first, last):
        yield _block(lines, start, end, like)


def one_line(text: str) -> str:
    """`text` with a single space for every run of white space."""
    return " ".join(text.split())


def stem(path: str) -> str:
    """The file name without its last extension.

    >>> stem("docs/guide.en.md"), stem(".profile")
    ('guide.en', '.profile')
    """
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
