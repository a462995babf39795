"""Tables of data: each row becomes a line of `name: value | name: value`.

The line makes sense wherever the text is cut, and a search for the name of a column finds it.
"""

import csv
from collections.abc import Iterator, Sequence

from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.lines import one_line
from quintet.formats.text import parse_lines

MAX_NAMES = 400  # characters of all names together, because every row repeats them
DELIMITERS = ",;\t|"
SEPARATOR = " | "


def parse_csv(path: str, text: str, mime_type: str) -> ParsedFile:
    """CSV with named columns. A file without names, or one that is not valid CSV, is kept line by line."""
    try:
        blocks = tuple(_records(text, _delimiter(text)))
    except csv.Error:
        blocks = ()
    if not blocks:
        return parse_lines(path, text, mime_type, None, "table")
    return ParsedFile(path.rpartition("/")[2], mime_type, None, blocks)


def _delimiter(text: str) -> str:
    first = text.lstrip().partition("\n")[0]
    return max(DELIMITERS, key=first.count)


def _records(text: str, delimiter: str) -> Iterator[Block]:
    reader = csv.reader((line + "\n" for line in text.split("\n")), delimiter=delimiter)
    names: list[str] | None = None
    last = 0
    for cells in reader:
        first, last = last + 1, reader.line_num
        cells = [one_line(cell) for cell in cells]
        if names is None and any(cells):
            if not is_header(cells):
                return
            names = cells
        elif names is not None:
            yield from table_row(names, cells, first, last)


def is_header(cells: Sequence[str]) -> bool:
    """Is this row a header? It has at least two names, all different, and no numbers."""
    return (
        len(cells) > 1
        and all(cells)
        and len(set(cells)) == len(cells)
        and sum(map(len, cells)) <= MAX_NAMES
        and not any(_is_number(cell) for cell in cells)
    )


def _is_number(cell: str) -> bool:
    return not any(char.isalpha() for char in cell)


def table_row(
    names: Sequence[str], cells: Sequence[str], first: int, last: int, path: tuple[str, ...] = ()
) -> Iterator[Block]:
    """A row as a block; nothing if all cells are empty."""
    line = SEPARATOR.join(
        f"{names[column]}: {cell}" if column < len(names) and names[column] else cell
        for column, cell in enumerate(cells)
        if cell
    )
    if line:
        yield Block(line, first, last, path, kind="table", tight=True)
