"""What is read from a page, and what is refused. Every PDF is made by a real writer or byte by byte."""

import pytest

from formats.papers import (
    HEBREW,
    LEFT,
    RIGHT,
    both,
    column_by_column,
    deep_tree,
    lines,
    link,
    looping_tree,
    one_page,
    paper,
    picture,
    right_to_left,
    row_by_row,
    stream,
    table,
    turned,
)
from quintet.formats.blocks import ParsedFile
from quintet.formats.decoding import UnreadableFile
from quintet.formats.sandbox.child import parse_binary
from quintet.indexing.chunk import chunk

TWO = paper(lines("the first page"), lines("the second page"))


def _parsed(data: bytes, path: str = "docs/report.pdf", pages: int = 1000) -> ParsedFile:
    return parse_binary(path, data, pages)


def _texts(data: bytes) -> list[str]:
    return [block.text for block in _parsed(data).blocks]


def _reason(data: bytes, pages: int = 1000) -> str:
    with pytest.raises(UnreadableFile) as raised:
        _parsed(data, pages=pages)
    return raised.value.reason


def test_each_page_has_its_number_and_its_own_lines() -> None:
    parsed = _parsed(paper(lines("one", "two"), picture, lines("three")))
    assert [(b.page, b.first_line, b.last_line, b.text) for b in parsed.blocks] == [
        (1, 1, 2, "one\ntwo"),
        (3, 1, 1, "three"),
    ]
    assert parsed.metadata == {"page_count": 3}


def test_the_same_bytes_give_the_same_blocks() -> None:
    assert _parsed(TWO) == _parsed(TWO)


def test_a_chunk_never_crosses_a_page() -> None:
    pages = [lines(*(f"page {page} line {row} of short text" for row in range(40))) for page in range(1, 6)]
    pieces = chunk(_parsed(paper(*pages)), 1000)
    assert {piece.page for piece in pieces} == {1, 2, 3, 4, 5}
    for piece in pieces:
        assert piece.text.count(f"page {piece.page} ") == piece.text.count("page ")


@pytest.mark.parametrize("draw", [column_by_column, row_by_row(LEFT, RIGHT)])
def test_columns_are_read_one_after_the_other_however_they_were_drawn(draw: object) -> None:
    (text,) = _texts(paper(draw))  # type: ignore[arg-type]
    assert text.split("\n") == LEFT + RIGHT


def test_a_line_across_both_columns_keeps_its_place() -> None:
    head = "A heading that runs across the whole width of both of the columns of this page and on"
    (text,) = _texts(paper(both(lines(head, top=730), row_by_row(LEFT, RIGHT), lines(head, top=500))))
    assert text.split("\n") == [head, *LEFT, *RIGHT, head]


def test_a_word_parted_in_a_column_is_joined() -> None:
    left = ["The keepers of the old light-", *LEFT[1:]]
    left[1] = "house went home long before the dawn"
    (text,) = _texts(paper(row_by_row(left, RIGHT)))
    assert text.startswith("The keepers of the old lighthouse\nwent home")


def test_a_table_is_read_row_by_row() -> None:
    rows = [("Item", "Price", "Stock"), *((f"Lamp {n}", f"{n}.50", str(n)) for n in range(8))]
    (text,) = _texts(paper(table(rows)))
    assert text.split("\n") == [" ".join(row) for row in rows]


def test_ligatures_are_spelt_out() -> None:
    (text,) = _texts(paper(lines("We \ufb01nd the \ufb02our", font="Vera")))
    assert text == "We find the flour"


def test_a_word_parted_at_the_end_of_a_line_is_whole_again() -> None:
    (text,) = _texts(paper(lines("an exam-", "ple of a well-", "Known sort, 3-", "4 times")))
    assert text == "an example\nof a well-\nKnown sort, 3-\n4 times"


def test_chinese_and_japanese_are_read() -> None:
    draws = lines("東京の図書館", font="HeiseiMin-W3"), lines("中文检索测试", font="STSong-Light")
    assert _texts(paper(*draws)) == ["東京の図書館", "中文检索测试"]


def test_text_from_right_to_left_comes_in_the_order_it_is_read() -> None:
    assert _texts(right_to_left()) == [HEBREW]


@pytest.mark.parametrize("page", [0, 90, 180, 270])
@pytest.mark.parametrize("drawing", [0, 90, 180, 270])
def test_lines_keep_their_order_however_the_page_and_the_text_are_turned(page: int, drawing: int) -> None:
    assert _texts(paper(turned(page, drawing, "first line", "second line"))) == ["first line\nsecond line"]


def test_the_text_of_a_link_is_text() -> None:
    assert _texts(paper(link("the tide table"))) == ["the tide table"]


def test_the_title_is_the_documents_own() -> None:
    assert _parsed(paper(lines("text"), title="Harbour Rules")).title == "Harbour Rules"


def test_without_one_it_is_the_line_in_the_largest_letters() -> None:
    head = both(lines("small print", top=780), lines("Rules of", "the Harbour", size=20, top=750))
    parsed = _parsed(paper(both(head, lines("Much text", "and more text", "and yet more"))))
    assert parsed.title == "Rules of the Harbour"


def test_and_where_no_line_is_larger_it_is_the_name_of_the_file() -> None:
    assert _parsed(paper(lines("text", "and text"))).title == "report"


def test_who_wrote_it_is_kept_but_not_what_the_program_puts_there() -> None:
    def authored(canvas: object) -> None:
        canvas.setAuthor("Ada Keeper")  # type: ignore[attr-defined]
        lines("text")(canvas)  # type: ignore[arg-type]

    assert _parsed(paper(authored)).metadata == {"author": "Ada Keeper", "page_count": 1}
    assert _parsed(paper(lines("text"))).metadata == {"page_count": 1}


def test_bookmarks_become_headings_from_the_line_they_name() -> None:
    def bookmarked(key: str, title: str, level: int, *texts: str) -> object:
        def draw(canvas: object) -> None:
            canvas.bookmarkPage(key)  # type: ignore[attr-defined]
            canvas.addOutlineEntry(title, key, level)  # type: ignore[attr-defined]
            lines(*texts)(canvas)  # type: ignore[arg-type]

        return draw

    pages = [
        lines("a preface"),
        bookmarked("a", "Tides", 0, "1 Tides", "water rises"),
        bookmarked("b", "Neap", 1, "it falls again", "Neap", "little water"),
        lines("still little"),
    ]
    blocks = _parsed(paper(*pages)).blocks  # type: ignore[arg-type]
    assert [(b.page, b.heading_path, b.first_line, b.text) for b in blocks] == [
        (1, (), 1, "a preface"),
        (2, ("Tides",), 1, "1 Tides\nwater rises"),
        (3, ("Tides",), 1, "it falls again"),
        (3, ("Tides", "Neap"), 2, "Neap\nlittle water"),
        (4, ("Tides", "Neap"), 1, "still little"),
    ]


def test_page_labels_other_than_the_number_are_headings() -> None:
    def numbered(canvas: object) -> None:
        canvas.addPageLabel(0, style="ROMAN_LOWER", start=4)  # type: ignore[attr-defined]
        lines("a preface")(canvas)  # type: ignore[arg-type]

    assert [block.heading_path for block in _parsed(paper(numbered)).blocks] == [("page iv",)]


def test_a_password_that_only_forbids_changes_does_not_forbid_reading() -> None:
    assert _texts(paper(lines("open text"), owner="secret")) == ["open text"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (paper(lines("text"), password="secret"), "encrypted: it cannot be read without its password"),
        (paper(picture, picture), "without text on any page: text in scanned images is not read"),
        (b"%PDF-1.7\n" + bytes(range(256)) * 20, "truncated: its end is missing"),
        (b"\x89PNG\r\n", "not a PDF, or too damaged to read"),
        (b"", "not a PDF, or too damaged to read"),
        (deep_tree(5000), "damaged: page 1 cannot be read"),
        (looping_tree(3), "damaged: page 1 cannot be read"),
        (looping_tree(2**31 - 1), "not a PDF, or too damaged to read"),
        (looping_tree(-5), "not a PDF, or too damaged to read"),
    ],
    ids=["encrypted", "pictures", "garbage", "png", "empty", "deep", "loop", "endless", "negative"],
)
def test_what_cannot_be_read_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    assert _reason(data) == reason


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_truncated_file_is_refused_rather_than_read_in_part(share: float) -> None:
    assert _reason(TWO[: int(len(TWO) * share)]) == "truncated: its end is missing"


def test_more_pages_than_allowed_are_refused_by_their_number() -> None:
    assert _reason(TWO, pages=1) == "has 2 pages; the limit is 1 (max_pages)"


def test_control_characters_and_broken_unicode_do_not_come_through() -> None:
    (text,) = _texts(one_page(stream(b"BT /F 12 Tf 100 700 Td (a\\000b\\007c) Tj ET")))
    assert "\0" not in text
    text.encode()
