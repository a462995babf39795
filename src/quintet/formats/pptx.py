"""PowerPoint pptx: each slide is a page. The line of a block counts the paragraphs and table rows of the
slide."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any

from quintet.formats.archive import open_archive
from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.decoding import UnreadableFile
from quintet.formats.headings import first_heading
from quintet.formats.lines import one_line, stem
from quintet.formats.table import SEPARATOR

if TYPE_CHECKING:
    from pptx.slide import Slide

MAX_DEPTH = 20  # groups within groups


def parse_pptx(path: str, data: bytes, mime_type: str, max_pages: int) -> ParsedFile:
    import pptx

    open_archive(data).close()
    deck = pptx.Presentation(BytesIO(data))
    count = len(deck.slides)
    if count > max_pages:
        raise UnreadableFile(f"has {count} slides; the limit is {max_pages} (max_pages)")
    blocks = tuple(block for number, slide in enumerate(deck.slides, 1) for block in _slide(slide, number))
    title = one_line(deck.core_properties.title or "")
    if title in ("", "PowerPoint Presentation"):  # PowerPoint's default
        title = first_heading(blocks) or stem(path)
    return ParsedFile(title, mime_type, None, blocks, {"page_count": count})


def _slide(slide: "Slide", page: int) -> Iterator[Block]:
    title = slide.shapes.title
    name = one_line(title.text_frame.text) if title is not None else ""
    path = (name,) if name else ()
    if name:
        yield Block(name, 1, 1, path, heading=True, page=page)
    title_id = None if title is None else title.shape_id
    bodies = (shape for shape in slide.shapes if shape.shape_id != title_id)
    lines = [*_lines(bodies, 0)]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text
        lines += [("text", text) for text in map(one_line, notes.split("\n"))]
    for place, (kind, text) in enumerate(lines, 2):
        if text:
            yield Block(text, place, place, path, kind, tight=True, page=page)


def _lines(shapes: Iterable[Any], depth: int) -> Iterator[tuple[str, str]]:
    """Each paragraph or table row, with its kind."""
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < MAX_DEPTH:
            yield from _lines(shape.shapes, depth + 1)
        elif getattr(shape, "has_table", False):
            for row in shape.table.rows:
                yield "table", SEPARATOR.join(filter(None, (one_line(cell.text) for cell in row.cells)))
        elif shape.has_text_frame:
            yield from (("text", one_line(paragraph.text)) for paragraph in shape.text_frame.paragraphs)
