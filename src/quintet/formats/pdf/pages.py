"""Parse PDF page by page with pdfium. Runs only in the sandbox process."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import c_double
from itertools import groupby, islice
from statistics import median
from typing import TYPE_CHECKING, Any

from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.decoding import UnreadableFile
from quintet.formats.lines import stem, well_formed
from quintet.formats.pdf.columns import Glyph, Span, by_column, gutter
from quintet.model.documents import Json

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

TAIL = 2048  # bytes at the end of a complete file that contain its end mark; readers search the last 1024
TRUNCATED = "truncated: its end is missing"
MAX_MARKS = 20_000  # bookmarks that are read
ANGLES = 48  # characters of a page whose direction is sampled
LARGER = 1.2  # how much larger than the text a title is
TITLE_CHARS = 200
NO_TITLE = {"", "untitled", "untitled document", "unknown"}
FACTS = {"Author": "author", "Subject": "subject", "Keywords": "keywords"}
PLACEHOLDERS = {"anonymous", "unspecified"}
# Latin and Armenian ligatures, and Arabic presentation forms.
_LIGATURE = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb50-\ufdff\ufe70-\ufefc]")
_LINE_END_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]$")
_SOFT_HYPHEN = "\u00ad"
_JOINED = "\ufffe"  # how pdfium marks the hyphen of a line that it joined to the next

NEWLINE = "\r\n"

Box = tuple[float, float, float, float]
Marks = dict[int, list[tuple[str, ...]]]  # by page from 0: the bookmarks to it, each with its parents


def parse_pdf(path: str, data: bytes, mime_type: str, max_pages: int) -> ParsedFile:
    """One block per page, or per part of a page that a bookmark points to."""
    import pypdfium2
    from pypdfium2.raw import FPDF_ERR_PASSWORD

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == FPDF_ERR_PASSWORD:
            raise UnreadableFile("encrypted: it cannot be read without its password") from error
        if b"%PDF-" in data[:TAIL] and b"%%EOF" not in data[-TAIL:]:
            raise UnreadableFile(TRUNCATED) from error
        raise UnreadableFile("not a PDF, or too damaged to read") from error
    try:
        return _parse_document(path, document, mime_type, data, max_pages)
    finally:
        document.close()


def _parse_document(
    path: str, document: "PdfDocument", mime_type: str, data: bytes, max_pages: int
) -> ParsedFile:
    count = len(document)
    if count > max_pages:
        raise UnreadableFile(f"has {count} pages; the limit is {max_pages} (max_pages)")
    _check_whole(document, data)
    pages: list[list[str]] = []
    headline = ""
    for number in range(count):
        lines, largest = _read_page(document, number, with_headline=not any(pages))
        pages.append(lines)
        headline = headline or largest
    if not any(pages):
        raise UnreadableFile("without text on any page: text in scanned images is not read")
    facts = document.get_metadata_dict(skip_empty=True)
    title = _clean(facts.get("Title", ""))
    if title.casefold() in NO_TITLE:
        title = headline or stem(path)
    blocks = tuple(_blocks(document, pages))
    return ParsedFile(title, mime_type, None, blocks, {**_facts(facts), "page_count": count})


def _check_whole(document: "PdfDocument", data: bytes) -> None:
    from pypdfium2.raw import FPDF_DocumentHasValidCrossReferenceTable

    rebuilt = not FPDF_DocumentHasValidCrossReferenceTable(document)
    if len(document) == 0 or (rebuilt and b"%%EOF" not in data[-TAIL:]):
        raise UnreadableFile(TRUNCATED)


def _facts(metadata: dict[str, str]) -> dict[str, Json]:
    cleaned = {name: _clean(metadata.get(key, "")) for key, name in FACTS.items()}
    return {name: text for name, text in cleaned.items() if text and text not in PLACEHOLDERS}


def _clean(text: str) -> str:
    return " ".join(well_formed(text.replace("\0", " ")).split())


def _read_page(document: "PdfDocument", number: int, *, with_headline: bool) -> tuple[list[str], str]:
    """The lines of a page and, if requested, the line in the largest letters."""
    import pypdfium2

    try:
        page = document[number]
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(f"damaged: page {number + 1} cannot be read") from error
    text_page = _upright_text(page)
    try:
        raw = text_page.get_text_range()
        at = _column_gap(text_page) if page.get_rotation() == 0 else None
        lines = _rows(text_page, raw) if at is None else by_column(_glyphs(text_page), at)
        return _tidy("\n".join(lines)), _headline(text_page, raw) if with_headline else ""
    finally:
        text_page.close()
        page.close()


def _upright_text(page: "PdfPage") -> "PdfTextPage":
    """The text of the page, rotated so that most of it is upright: pdfium orders lines as they appear."""
    from pypdfium2.raw import FPDFText_GetCharAngle

    text_page = page.get_textpage()
    count = text_page.count_chars()
    step = max(1, count // ANGLES)
    angles = [FPDFText_GetCharAngle(text_page, at) for at in range(0, count, step)]
    quarters = Counter(round(angle / 1.5708) % 4 for angle in angles if angle >= 0)
    rotation = 90 * quarters.most_common(1)[0][0] if quarters else page.get_rotation()
    if rotation == page.get_rotation():
        return text_page
    text_page.close()
    page.set_rotation(rotation)
    return page.get_textpage()


def _column_gap(text_page: "PdfTextPage") -> float | None:
    """The position between the columns of a page that draws them line by line."""
    rows: list[list[Span]] = []
    below, above = 0.0, 0.0  # the height of the row so far
    for at in range(text_page.count_rects()):
        left, bottom, right, top = text_page.get_rect(at)
        if rows and below < (bottom + top) / 2 < above:
            rows[-1].append((left, right))
            below, above = min(below, bottom), max(above, top)
        else:
            rows.append([(left, right)])
            below, above = bottom, top
    return gutter(sorted(row) for row in rows)


def _rows(text_page: "PdfTextPage", raw: str) -> list[str]:
    """The lines of `raw`, joined where pdfium breaks a table row before a short cell."""
    rows: list[str] = []
    before: Box | None = None
    for line, start, end in _places(text_page, raw):
        if before and before[2] <= start[0] and before[1] < (start[1] + start[3]) / 2 < before[3]:
            rows[-1] += f" {line}"
        else:
            rows.append(line)
        before = end
    return rows


def _places(text_page: "PdfTextPage", raw: str) -> Iterator[tuple[str, Box, Box]]:
    """Each line with the boxes (left, bottom, right, top) of its first and last letter."""
    from pypdfium2.raw import FPDFText_GetCharIndexFromTextIndex

    at = 0
    for line in raw.split(NEWLINE):
        text = line.strip()
        if text:
            first = at + line.index(text)
            ends = (first, first + len(text) - 1)
            indices = [FPDFText_GetCharIndexFromTextIndex(text_page, position) for position in ends]
            start, end = (text_page.get_charbox(max(index, 0), loose=True) for index in indices)
            yield text, start, end
        at += len(line) + len(NEWLINE)


def _glyphs(text_page: "PdfTextPage") -> Iterator[list[Glyph]]:
    """Every line as glyphs. A space that pdfium generated is placed at the end of the glyph before it."""
    from pypdfium2.raw import FPDFText_GetCharBox, FPDFText_GetUnicode, FPDFText_IsGenerated

    left, right, bottom, top = c_double(), c_double(), c_double(), c_double()  # reused: pages are long
    line: list[Glyph] = []
    for at in range(text_page.count_chars()):
        char = chr(FPDFText_GetUnicode(text_page, at))
        if char in "\r\n":
            if line:
                yield line
            line = []
        elif FPDFText_IsGenerated(text_page, at):
            place = line[-1].right if line else 0.0
            line.append(Glyph(char, place, place))
        else:
            FPDFText_GetCharBox(text_page, at, left, right, bottom, top)
            line.append(Glyph("-" if char in "\2\ufffe" else char, left.value, right.value))
    if line:
        yield line


def _tidy(text: str) -> list[str]:
    """Clean lines: no ligatures, and no word split at the end of a line."""
    text = text.replace("\0", " ").replace(_JOINED, "-\n")
    text = _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match.group()), well_formed(text))
    lines = [" ".join(line.split()) for line in text.split("\n")]
    whole: list[str] = []
    for line in filter(None, lines):
        if whole and line[0].islower() and _LINE_END_HYPHEN.search(whole[-1]):
            rest, _, line = line.partition(" ")
            whole[-1] = whole[-1][:-1] + rest
        if line:
            whole.append(line)
    return [line.replace(_SOFT_HYPHEN, "") for line in whole]


def _headline(text_page: "PdfTextPage", raw: str) -> str:
    """The line in clearly larger letters than the rest, with the lines of the same size right below it."""
    sized = [(round(start[3] - start[1], 1), line) for line, start, _ in _places(text_page, raw)]
    if len(sized) < 2:
        return ""
    largest = max(size for size, _ in sized)
    if largest < LARGER * median(size for size, _ in sized):
        return ""
    _, group = next(
        (size, list(lines)) for size, lines in groupby(sized, key=lambda line: line[0]) if size == largest
    )
    return " ".join(_tidy("\n".join(line for _, line in group)))[:TITLE_CHARS]


def _blocks(document: "PdfDocument", pages: Sequence[Sequence[str]]) -> Iterator[Block]:
    marks = _bookmarks(document)
    path: tuple[str, ...] = ()
    for number, lines in enumerate(pages):
        here = path
        if not marks:
            label = _clean(document.get_page_label(number))
            here = (f"page {label}",) if label and label != str(number + 1) else ()
        start = 0
        for mark in marks.get(number, ()):
            row = _row_of(mark[-1], lines, start)
            if row > start:
                yield _block(lines, start, row, here, number + 1)
                start = row
            path = here = mark
        if start < len(lines):
            yield _block(lines, start, len(lines), here, number + 1)


def _block(lines: Sequence[str], start: int, end: int, path: tuple[str, ...], page: int) -> Block:
    return Block("\n".join(lines[start:end]), start + 1, end, path, page=page)


def _row_of(title: str, lines: Sequence[str], start: int) -> int:
    """The row that contains the title of a bookmark; `start` if no row does."""
    folded = title.casefold()
    for row in range(start, len(lines)):
        if lines[row].casefold().endswith(folded):  # a number may come before it
            return row
    return start


def _bookmarks(document: "PdfDocument") -> Marks:
    import pypdfium2

    marks: Marks = {}
    above: list[str] = []
    items: Iterator[Any] = islice(document.get_toc(), MAX_MARKS)
    for item in items:
        try:
            target, title = item.get_dest(), _clean(item.get_title())
            page = target.get_index() if target else None
        except pypdfium2.PdfiumError:  # the bookmark has no valid target
            continue
        above = [*above[: item.level], title]
        if title and page is not None:
            marks.setdefault(page, []).append(tuple(name for name in above if name))
    return marks
