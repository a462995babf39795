"""Word, PowerPoint, Excel and EPUB: what is read, in which order, and what is refused."""

from datetime import date, datetime
from pathlib import Path

import docx
import pytest

from formats.office_files import book, epub, part_of, saved, slides, with_entities, with_part, word, zipped
from quintet.formats import xlsx
from quintet.formats.blocks import ParsedFile
from quintet.formats.decoding import UnreadableFile
from quintet.formats.sandbox.child import parse_binary
from quintet.formats.sandbox.parent import ParseLimits, Sandbox
from quintet.formats.xlsx import parse_xlsx
from quintet.indexing.chunk import chunk

STOCK: dict[str, list[list[object]]] = {"Stock": [["Item", "Price"], ["Lamp", 3]]}
CHAPTERS = {
    "z.xhtml": "<html><body><h1>Arrival</h1><p>The boat came in.</p></body></html>",
    "a.xhtml": "<html><head><title>Night</title></head><body><p>The lamp was lit.</p></body></html>",
}
WHOLE = {"a.docx": word(), "a.pptx": slides(), "a.xlsx": book(STOCK), "a.epub": epub(CHAPTERS)}


def _parsed(path: str, data: bytes, pages: int = 100) -> ParsedFile:
    return parse_binary(path, data, pages)


def _reason(path: str, data: bytes, pages: int = 100, memory: int = 1_000_000_000) -> str:
    with pytest.raises(UnreadableFile) as raised, Sandbox(ParseLimits(60, memory, pages)) as sandbox:
        sandbox.parse(path, data)
    return raised.value.reason


def test_a_word_file_is_read_in_order_with_headings_lists_and_tables() -> None:
    parsed = _parsed("guide.docx", word())
    assert (parsed.title, parsed.metadata) == ("Harbour guide", {})
    assert [(b.heading_path[-1], b.text) for b in parsed.blocks] == [
        ("Harbour guide", "Harbour guide"),
        ("Moorings", "Moorings"),
        ("Moorings", "Tie up at the north quay."),
        ("Moorings", "Bring two ropes"),
        ("Moorings", "Bring a fender"),
        ("Moorings", "Berth | Depth"),
        ("Moorings", "A1 | 3 metres"),
        ("Fees", "Fees"),
        ("Fees", "Ten crowns a night."),
    ]
    assert [block.heading_path for block in parsed.blocks][-1] == ("Moorings", "Fees")
    assert {block.page for block in parsed.blocks} == {None}
    assert [block.first_line for block in parsed.blocks] == list(range(1, 10))


def test_list_items_and_rows_stay_close_together() -> None:
    pieces = chunk(_parsed("guide.docx", word()), 1600)
    assert "Bring two ropes\nBring a fender" in pieces[0].text
    assert "Berth | Depth\nA1 | 3 metres" in pieces[0].text


def test_what_was_inserted_is_read_and_what_was_deleted_or_moved_away_is_not() -> None:
    body = (
        "<w:p><w:r><w:t>kept</w:t></w:r><w:ins><w:r><w:t> inserted</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText> deleted</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t> moved</w:t></w:r></w:moveFrom></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>a control's text</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    part = f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>'.encode()
    parsed = _parsed("a.docx", with_part(word(), "word/document.xml", part))
    assert [block.text for block in parsed.blocks] == ["kept inserted", "a control's text"]


def test_a_table_in_a_cell_is_the_cells_text() -> None:
    document = docx.Document()
    outer = document.add_table(1, 2)
    outer.cell(0, 0).text = "outer"
    outer.cell(0, 1).add_table(1, 1).cell(0, 0).text = "inner"
    assert [b.text for b in _parsed("a.docx", saved(document)).blocks] == ["outer | inner"]


def test_a_slide_is_a_page() -> None:
    parsed = _parsed("deck.pptx", slides())
    assert (parsed.title, parsed.metadata) == ("Tides", {"page_count": 2})
    assert [(b.page, b.heading_path, b.text) for b in parsed.blocks] == [
        (1, ("Tides",), "Tides"),
        (1, ("Tides",), "Neap tide"),
        (1, ("Tides",), "Spring tide"),
        (1, ("Tides",), "Mention the moon"),
        (2, ("Heights",), "Heights"),
        (2, ("Heights",), "Port | Height"),
        (2, ("Heights",), "Brest | 7.2"),
    ]
    assert [piece.page for piece in chunk(parsed, 1600)] == [1, 2]


def test_the_rows_of_a_sheet_say_what_their_cells_are() -> None:
    rows: list[list[object]] = [
        ["Item", "Price", "Since"],
        ["Lamp", 12.5, datetime(2024, 5, 1)],
        [],
        [None, 3.0, date(2024, 6, 2)],
        ["Rope", True, datetime(2024, 5, 1, 13, 30)],
    ]
    parsed = _parsed("stock.xlsx", book({"Stock": rows, "Raw": [[1, 2], ["x", "y"]]}))
    assert [(b.heading_path, b.first_line, b.text) for b in parsed.blocks] == [
        (("Stock",), 1, "Item | Price | Since"),
        (("Stock",), 2, "Item: Lamp | Price: 12.5 | Since: 2024-05-01"),
        (("Stock",), 4, "Price: 3 | Since: 2024-06-02"),
        (("Stock",), 5, "Item: Rope | Price: True | Since: 2024-05-01 13:30:00"),
        (("Raw",), 1, "1 | 2"),
        (("Raw",), 2, "x | y"),
    ]


def test_a_formula_counts_with_the_value_that_was_computed_last() -> None:
    data, name = book({"S": [["a", "b"], ["x", "=1+1"]]}), "xl/worksheets/sheet1.xml"
    part = part_of(data, name).replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>")
    parsed = _parsed("a.xlsx", with_part(data, name, part))
    assert parsed.blocks[-1].text == "a: x | b: 2"


def test_the_chapters_of_an_epub_come_in_reading_order() -> None:
    parsed = _parsed("book.epub", epub(CHAPTERS))
    assert (parsed.title, parsed.metadata) == ("The Lighthouse", {"author": "Ada Keeper"})
    assert [(b.heading_path, b.text) for b in parsed.blocks] == [
        (("Arrival",), "Arrival"),
        (("Arrival",), "The boat came in."),
        (("Night",), "The lamp was lit."),
    ]


def test_an_epub_whose_chapters_are_protected_is_refused_and_one_whose_fonts_are_is_not() -> None:
    protected = '<encryption><enc:CipherReference URI="{}"/></encryption>'
    chapter = epub(CHAPTERS, **{"META-INF/encryption.xml": protected.format("OEBPS/text/a.xhtml")})
    font = epub(CHAPTERS, **{"META-INF/encryption.xml": protected.format("OEBPS/fonts/a.otf")})
    assert _reason("a.epub", chapter) == "encrypted: its chapters are copy-protected"
    assert len(_parsed("a.epub", font).blocks) == 3


def test_an_epub_cannot_name_a_file_outside_itself() -> None:
    data = epub({"../../../../etc/passwd": "x"})
    assert _reason("a.epub", data).startswith("damaged: the part")


@pytest.mark.parametrize("path", WHOLE)
def test_the_same_bytes_give_the_same_blocks(path: str) -> None:
    assert _parsed(path, WHOLE[path]) == _parsed(path, WHOLE[path])


@pytest.mark.parametrize("path", WHOLE)
@pytest.mark.parametrize("kind", ["truncated", "garbage", "empty", "other", "old"])
def test_what_is_not_the_format_is_refused_with_a_reason(path: str, kind: str) -> None:
    data = {
        "truncated": WHOLE[path][: len(WHOLE[path]) // 2],
        "garbage": bytes(range(256)) * 10,
        "empty": b"",
        "other": zipped({"a.txt": b"b"}),
        "old": bytes.fromhex("d0cf11e0a1b11ae1") + bytes(1000),
    }[kind]
    starts = "encrypted, or in an old" if kind == "old" else "damaged"
    assert _reason(path, data).startswith(starts)


def test_too_many_slides_are_refused() -> None:
    assert _reason("a.pptx", slides(), pages=1) == "has 2 slides; the limit is 1 (max_pages)"


@pytest.mark.parametrize(
    ("path", "part", "word_in_it"),
    [
        ("a.docx", "word/document.xml", b"Tie"),
        ("a.pptx", "ppt/slides/slide1.xml", b"Neap"),
        ("a.xlsx", "xl/worksheets/sheet1.xml", b"Lamp"),
    ],
)
def test_entities_within_entities_are_not_expanded(path: str, part: str, word_in_it: bytes) -> None:
    assert _reason(path, with_entities(WHOLE[path], part, word_in_it, b"&e8;")).startswith("damaged")


def test_an_epub_has_no_entities_to_expand() -> None:
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><p>&b;</p>'
    assert _parsed("a.epub", epub({"a.xhtml": laughs})).blocks[-1].text == "&b;"


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    data = with_part(word(), "word/media/image.png", bytes(400_000_001))
    assert "bytes; the limit is 400000000" in _reason("a.docx", data)


def test_one_below_that_bound_is_stopped_by_the_bound_on_memory() -> None:
    part = b"<a>" + b"<b></b>" * 8_000_000 + b"</a>"
    assert _reason("a.docx", with_part(word(), "word/document.xml", part), memory=2**28)


def test_a_file_that_an_entity_names_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a stranger's secret")
    declared = f'<!DOCTYPE x [<!ENTITY out SYSTEM "{(tmp_path / "secret").as_uri()}">]>'.encode()
    data = with_entities(word(), "word/document.xml", b"Tie up", b"Tie &out; up", declared)
    texts = [block.text for block in _parsed("a.docx", data).blocks]
    assert any(text.startswith("Tie") for text in texts)
    assert "secret" not in "".join(texts)


def test_a_text_that_many_cells_share_is_counted_before_it_is_repeated() -> None:
    text = "x" * 30_000  # the file holds it once
    data = book({"Bomb": [[text] * 100 for _ in range(20)]})
    assert len(data) < 100_000
    with pytest.raises(UnreadableFile, match="its cells hold more than 50000000 characters"):
        parse_xlsx("bomb.xlsx", data, "application/x")


def test_a_row_beyond_the_bound_is_not_made_into_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "MAX_CHARS", 1_000)
    monkeypatch.setattr(xlsx, "_cell_text", lambda value: pytest.fail("the row was expanded"))
    with pytest.raises(UnreadableFile, match="more than 1000 characters"):
        parse_xlsx("wide.xlsx", book({"Wide": [["y" * 600, "y" * 600]]}), "application/x")
