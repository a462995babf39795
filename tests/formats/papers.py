"""Real PDFs with known text on every page, and files that mean harm."""

import zlib
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path

import reportlab
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

Draw = Callable[[Canvas], None]
HEBREW = "שלום עולם"
LEFT = [f"On the left row {row} tells of amber lanterns" for row in range(12)]
RIGHT = [f"On the right row {row} tells of cold harbours" for row in range(12)]


@cache
def fonts() -> None:
    """Only what ships with reportlab, so that every machine has it."""
    vera = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"
    pdfmetrics.registerFont(TTFont("Vera", str(vera)))
    for name in ("HeiseiMin-W3", "STSong-Light"):
        pdfmetrics.registerFont(UnicodeCIDFont(name))


def paper(*pages: Draw, title: str = "", password: str | None = None, owner: str | None = None) -> bytes:
    """One page for each drawing. `password` encrypts; `owner` alone only forbids changes."""
    fonts()
    out = BytesIO()
    lock = StandardEncryption(password or "", owner) if password or owner else None
    canvas = Canvas(out, pagesize=(600, 800), invariant=1, encrypt=lock)
    if title:
        canvas.setTitle(title)
    for draw in pages:
        canvas.setFont("Helvetica", 10)
        draw(canvas)
        canvas.showPage()
        canvas.setPageRotation(0)
    canvas.save()
    return out.getvalue()


def lines(*texts: str, font: str = "Helvetica", size: float = 10, top: float = 700) -> Draw:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, size)
        for row, text in enumerate(texts):
            canvas.drawString(50, top - row * size * 1.4, text)

    return draw


def both(*draws: Draw) -> Draw:
    def draw(canvas: Canvas) -> None:
        for one in draws:
            one(canvas)

    return draw


def row_by_row(left: Sequence[str], right: Sequence[str], at: float = 320) -> Draw:
    """Two columns as some programs draw them: straight across the page."""

    def draw(canvas: Canvas) -> None:
        for row, (one, other) in enumerate(zip(left, right, strict=True)):
            canvas.drawString(50, 700 - row * 14, one)
            canvas.drawString(at, 700 - row * 14, other)

    return draw


def column_by_column(canvas: Canvas) -> None:
    for x, texts in ((50, LEFT), (320, RIGHT)):
        for row, text in enumerate(texts):
            canvas.drawString(x, 700 - row * 14, text)


def table(rows: Sequence[Sequence[str]]) -> Draw:
    def draw(canvas: Canvas) -> None:
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                canvas.drawString(50 + column * 120, 700 - row * 16, cell)

    return draw


def link(text: str) -> Draw:
    def draw(canvas: Canvas) -> None:
        canvas.linkURL("https://example.org/", (50, 595, 200, 612))
        canvas.drawString(50, 600, text)

    return draw


def turned(page: int, drawing: int, *texts: str) -> Draw:
    """Text drawn at an angle on a page that is shown at another."""

    def draw(canvas: Canvas) -> None:
        canvas.setPageRotation(page)
        canvas.saveState()
        canvas.translate(300, 400)
        canvas.rotate(drawing)
        lines(*texts, top=100)(canvas)
        canvas.restoreState()

    return draw


def picture(canvas: Canvas) -> None:
    canvas.rect(100, 100, 300, 300, fill=1)


def raw_pdf(*objects: bytes) -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalogue."""
    out, starts = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        starts.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    size = len(objects) + 1
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, len(out))
    )


def stream(data: bytes, extra: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), extra, data)


def one_page(
    content: bytes, font: bytes = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
) -> bytes:
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
    page += b" /Resources << /Font << /F 5 0 R >> >> >>"
    tree = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    return raw_pdf(b"<< /Type /Catalog /Pages 2 0 R >>", tree, page, content, font, stream(_to_unicode()))


def right_to_left() -> bytes:
    """Hebrew as layout programs write it: glyph after glyph from the left, with a map to Unicode."""
    codes = bytes(range(65, 65 + len(HEBREW)))
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    return one_page(stream(b"BT /F 12 Tf 100 700 Td (%s) Tj ET" % codes), font)


def _to_unicode() -> bytes:
    pairs = b"".join(b"<%02X> <%04X>\n" % (65 + at, ord(char)) for at, char in enumerate(reversed(HEBREW)))
    return (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        b"1 begincodespacerange <00> <FF> endcodespacerange\n"
        b"%d beginbfchar\n%sendbfchar endcmap end end" % (len(HEBREW), pairs)
    )


def bomb(unpacked: int) -> bytes:
    """A page whose content is squeezed twice: a few kilobytes become `unpacked` bytes."""
    squeezer = zlib.compressobj(9)
    block = b"q Q " * 250_000
    once = b"".join(squeezer.compress(block) for _ in range(unpacked // len(block))) + squeezer.flush()
    twice = zlib.compress(once, 9)
    return one_page(stream(twice, b"/Filter [/FlateDecode /FlateDecode]"))


def deep_tree(depth: int) -> bytes:
    """Page trees within page trees; the page is at the very bottom."""
    nodes = [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (number + 3) for number in range(depth)]
    page = b"<< /Type /Page /MediaBox [0 0 600 800] >>"
    return raw_pdf(b"<< /Type /Catalog /Pages 2 0 R >>", *nodes, page)


def looping_tree(count: int) -> bytes:
    """A page tree that is its own child and claims to have `count` pages."""
    tree = b"<< /Type /Pages /Kids [2 0 R] /Count %d >>" % count
    return raw_pdf(b"<< /Type /Catalog /Pages 2 0 R >>", tree)
