"""Excel's xlsx: a sheet is a heading, a row is a line of `name: value`, and a block's line is its row."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from io import BytesIO

from quintet.formats.archive import open_archive
from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.lines import stem
from quintet.formats.table import is_header, table_row


def parse_xlsx(path: str, data: bytes, mime_type: str) -> ParsedFile:
    """Formulas count with the value that Excel last computed, as it is seen."""
    import openpyxl

    open_archive(data).close()
    book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
    try:
        blocks: list[Block] = []
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what a file claims about its size need not be true
            blocks += _rows(sheet.title, sheet.iter_rows(values_only=True))
        title = " ".join((book.properties.title or "").split())
    finally:
        book.close()
    return ParsedFile(title or stem(path), mime_type, None, tuple(blocks))


def _rows(sheet: str, rows: Iterable[tuple[object, ...]]) -> Iterator[Block]:
    path = (" ".join(sheet.split()),)
    names: list[str] | None = None
    for number, values in enumerate(rows, 1):
        cells = [_shown(value) for value in values]
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            continue
        if names is None:
            names = cells if is_header(cells) else []
            if names:
                yield Block(" | ".join(names), number, number, path, kind="table")
                continue
        yield from table_row(names, cells, number, number, path)


def _shown(value: object) -> str:
    """A cell as it is read: 3 rather than 3.0, a day without midnight."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        day_only = value.time() == time()
        return (value.date() if day_only else value).isoformat(*(() if day_only else (" ",)))
    if isinstance(value, (date, time)):
        return value.isoformat()
    return " ".join(str(value).split())
