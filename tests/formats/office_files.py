"""Real office files and EPUBs, and some that mean harm."""

from collections.abc import Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import docx
import openpyxl
import pptx

ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "lol" * 10}">' for n in range(9))
LAUGHS = f"<!DOCTYPE x [{ENTITIES}]>".encode()


def word() -> bytes:
    document = docx.Document()
    document.add_heading("Harbour guide", 0)
    document.add_heading("Moorings", 1)
    document.add_paragraph("Tie up at the north quay.")
    for item in ("Bring two ropes", "Bring a fender"):
        document.add_paragraph(item, style="List Bullet")
    table = document.add_table(2, 2)
    for row, cells in enumerate((("Berth", "Depth"), ("A1", "3 metres"))):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    document.add_heading("Fees", 2)
    document.add_paragraph("Ten crowns a night.")
    return saved(document)


def slides() -> bytes:
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Tides"
    first.placeholders[1].text = "Neap tide\nSpring tide"
    first.notes_slide.notes_text_frame.text = "Mention the moon"
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Heights"
    table = second.shapes.add_table(2, 2, 0, 0, 100, 100).table
    for row, cells in enumerate((("Port", "Height"), ("Brest", "7.2"))):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    return saved(deck)


def book(sheets: Mapping[str, list[list[object]]]) -> bytes:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    return saved(made)


def saved(document: object) -> bytes:
    out = BytesIO()
    document.save(out)  # type: ignore[attr-defined]
    return out.getvalue()


def epub(chapters: Mapping[str, str], title: str = "The Lighthouse", **more: str) -> bytes:
    """A book with these chapters, read in this order; `more` are other parts of the archive."""
    items = "".join(
        f'<item id="c{at}" href="text/{name}" media-type="application/xhtml+xml"/>'
        for at, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    package = (
        f"<package><metadata><dc:title>{title}</dc:title><dc:creator>Ada Keeper</dc:creator></metadata>"
        f"<manifest>{items}</manifest><spine>{order}</spine></package>"
    )
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "OEBPS/book.opf": package,
    }
    parts |= {f"OEBPS/text/{name}": text for name, text in chapters.items()}
    return zipped({name: text.encode() for name, text in (parts | more).items()})


def zipped(parts: Mapping[str, bytes]) -> bytes:
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def with_part(data: bytes, name: str, part: bytes) -> bytes:
    """The same archive with one part replaced."""
    with ZipFile(BytesIO(data)) as archive:
        parts = {entry: archive.read(entry) for entry in archive.namelist()}
    return zipped({**parts, name: part})


def part_of(data: bytes, name: str) -> bytes:
    with ZipFile(BytesIO(data)) as archive:
        return archive.read(name)


def with_entities(data: bytes, name: str, before: bytes, after: bytes, declared: bytes = LAUGHS) -> bytes:
    """The same archive with entities in one part; by default a billion words if they are expanded."""
    part = part_of(data, name)
    assert before in part
    start = part.find(b"?>") + 2 if part.startswith(b"<?") else 0
    return with_part(data, name, part[:start] + declared + part[start:].replace(before, after, 1))
