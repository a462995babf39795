"""Word docx: headings, paragraphs, lists and tables in reading order. There are no pages: Word makes them
when it prints. The line of a block counts paragraphs and table rows.

We read the text from the XML, because python-docx omits content controls and insertions.
"""

from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

from quintet.formats.archive import open_archive
from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.headings import HeadingPath, first_heading
from quintet.formats.lines import one_line, stem
from quintet.formats.table import SEPARATOR
from quintet.model.documents import Json

if TYPE_CHECKING:
    from docx.document import Document

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"  # XML namespace
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
INVISIBLE = {FALLBACK, WORD + "moveFrom"}
SPACES = {
    WORD + "p": "\n",
    WORD + "tab": " ",
    WORD + "br": "\n",
    WORD + "cr": "\n",
    WORD + "noBreakHyphen": "-",
}
WRAPPERS = {WORD + name for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag")}
MAX_STYLES = 20  # styles may be based on each other in a circle
NOTES = ("/footnotes", "/endnotes")


def parse_docx(path: str, data: bytes, mime_type: str) -> ParsedFile:
    import docx

    open_archive(data).close()
    document = docx.Document(BytesIO(data))
    blocks = tuple(_DocxReader(document).blocks())
    properties = document.core_properties
    title = one_line(properties.title or "")
    author = one_line(properties.author or "")
    metadata: dict[str, Json] = {"author": author} if author and author != "python-docx" else {}
    return ParsedFile(title or first_heading(blocks) or stem(path), mime_type, None, blocks, metadata)


class _DocxReader:
    """Reads the blocks of a document. `place` counts paragraphs and table rows."""

    def __init__(self, document: "Document") -> None:
        self.document = document
        self.levels, self.lists = _styles(document)
        self.headings = HeadingPath()
        self.place = 0
        self.after_item = False

    def blocks(self) -> Iterator[Block]:
        yield from self._blocks_in(self.document.element.body)
        for part in _notes(self.document):
            for note in part:
                yield from self._blocks_in(note)

    def _blocks_in(self, parent: Any) -> Iterator[Block]:
        pending = list(reversed(parent))
        while pending:
            element = pending.pop()
            if element.tag == WORD + "p":
                yield from self._paragraph(element)
            elif element.tag == WORD + "tbl":
                yield from self._table(element)
            elif element.tag in WRAPPERS:
                pending.extend(reversed(element))

    def _paragraph(self, element: Any) -> Iterator[Block]:
        self.place += 1
        text = _text(element)
        if not text:
            return
        level = self._level(element)
        if level:
            self.headings.enter(level, one_line(text))
        item = not level and self._is_item(element)
        yield self._block(text, tight=item and self.after_item, heading=bool(level))
        self.after_item = item

    def _level(self, element: Any) -> int:
        """1 for a heading of the highest level, 0 for text."""
        own = element.find(f"{WORD}pPr/{WORD}outlineLvl")
        if own is not None:
            return _outline_level(own)
        return self.levels.get(_style_of(element), 0)

    def _is_item(self, element: Any) -> bool:
        return element.find(f"{WORD}pPr/{WORD}numPr") is not None or _style_of(element) in self.lists

    def _table(self, element: Any) -> Iterator[Block]:
        for number, row in enumerate(element.iter(WORD + "tr")):
            if next(row.iterancestors(WORD + "tbl")) is not element:
                continue  # a table in a cell: its text belongs to the cell
            self.place += 1
            cells = [_text(cell) for cell in row.iterchildren(WORD + "tc", WORD + "sdt")]
            line = SEPARATOR.join(one_line(cell) for cell in cells if cell)
            if line:
                yield self._block(line, kind="table", tight=number > 0)
        self.after_item = False

    def _block(self, text: str, kind: str = "text", *, tight: bool = False, heading: bool = False) -> Block:
        path = self.headings.texts
        return Block(text, self.place, self.place, path, kind, tight=tight, heading=heading)


def _text(element: Any) -> str:
    """The visible text of an element: no deletions, and not the fallback of a drawing."""
    words: list[str] = []
    pending = [element]
    while pending:
        node = pending.pop()
        if node.tag in INVISIBLE:
            continue
        words.append((node.text or "") if node.tag == WORD + "t" else SPACES.get(node.tag, ""))
        pending.extend(reversed(node))
    lines = (one_line(line) for line in "".join(words).split("\n"))
    return "\n".join(filter(None, lines))


def _style_of(paragraph: Any) -> str:
    style = paragraph.find(f"{WORD}pPr/{WORD}pStyle")
    return "" if style is None else str(style.get(WORD + "val"))


def _styles(document: "Document") -> tuple[dict[str, int], set[str]]:
    """The heading level of each heading style, by its id, and the styles of list items."""
    styles = {style.get(WORD + "styleId"): style for style in document.styles.element.iter(WORD + "style")}
    levels, lists = {"Title": 1}, set()
    for name in styles:
        for style in _with_bases(styles, name):
            level = style.find(f"{WORD}pPr/{WORD}outlineLvl")
            if level is not None:
                levels[name] = _outline_level(level)
                break
            if style.find(f"{WORD}pPr/{WORD}numPr") is not None:
                lists.add(name)
    return levels, lists


def _with_bases(styles: Mapping[str, Any], name: str) -> Iterator[Any]:
    """A style and the styles it is based on, nearest first."""
    for _ in range(MAX_STYLES):
        if name not in styles:
            return
        yield styles[name]
        base = styles[name].find(WORD + "basedOn")
        name = "" if base is None else base.get(WORD + "val")


def _outline_level(element: Any) -> int:
    """Word counts levels from 0; body text is level 9."""
    value = element.get(WORD + "val", "9")
    return int(value) + 1 if value.isdecimal() and int(value) < 9 else 0


def _notes(document: "Document") -> Iterator[Any]:
    from docx.oxml import parse_xml

    for relation in document.part.rels.values():
        if not relation.is_external and relation.reltype.endswith(NOTES):
            yield parse_xml(relation.target_part.blob)
