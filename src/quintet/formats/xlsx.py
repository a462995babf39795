"""Excel xlsx: each sheet is a heading, each row a line of `name: value`. The line of a block is its row."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from io import BytesIO

from quintet.formats.archive import open_archive
from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.decoding import UnreadableFile
from quintet.formats.lines import one_line, stem
from quintet.formats.table import SEPARATOR, is_header, table_row

MAX_CHARS = 50_000_000  # of all cells: ten times the text of a large encyclopaedia volume


def parse_xlsx(path: str, data: bytes, mime_type: str) -> ParsedFile:
    """A formula is indexed as the value that Excel computed last."""
    import openpyxl

    open_archive(data).close()
    book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
    bounded = _Bound()
    try:
        blocks: list[Block] = []
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # the declared size may be wrong
            blocks += _rows(sheet.title, bounded(sheet.iter_rows(values_only=True)))
        title = one_line(book.properties.title or "")
    finally:
        book.close()
    return ParsedFile(title or stem(path), mime_type, None, tuple(blocks))


class _Bound:
    """Counts the text of all sheets before it is made. A file holds a text once and may refer to it from any
    number of cells, so that some kilobytes can stand for gigabytes."""

    def __init__(self) -> None:
        self._chars = 0

    def __call__(self, rows: Iterable[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
        for row in rows:
            self._chars += sum(len(value) for value in row if isinstance(value, str))
            if self._chars > MAX_CHARS:
                raise UnreadableFile(f"its cells hold more than {MAX_CHARS} characters; split it")
            yield row


def _rows(sheet: str, rows: Iterable[tuple[object, ...]]) -> Iterator[Block]:
    path = (one_line(sheet),)
    names: list[str] | None = None
    for number, values in enumerate(rows, 1):
        cells = [_cell_text(value) for value in values]
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            continue
        if names is None:
            names = cells if is_header(cells) else []
            if names:
                yield Block(SEPARATOR.join(names), number, number, path, kind="table")
                continue
        yield from table_row(names, cells, number, number, path)


def _cell_text(value: object) -> str:
    """A cell as Excel shows it: 3 rather than 3.0, a date without midnight."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        day_only = value.time() == time()
        return (value.date() if day_only else value).isoformat(*(() if day_only else (" ",)))
    if isinstance(value, (date, time)):
        return value.isoformat()
    return one_line(str(value))
