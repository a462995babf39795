"""Blocks become pieces: nothing lost, nothing too long, every line where it says."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintet.errors import UsageError
from quintet.formats.blocks import Block, ParsedFile
from quintet.indexing.chunk import chunk
from quintet.indexing.parse import parse


def document(*blocks: Block) -> ParsedFile:
    return ParsedFile("t", "text/plain", None, blocks)


def visible(texts: list[str]) -> str:
    return "".join("".join(text.split()) for text in texts)


def contents(pieces: list[Block]) -> list[str]:
    return [piece.text for piece in pieces]


words = st.text(alphabet="ab. \n\t。!é|-", max_size=120)


@st.composite
def documents(draw: st.DrawFn) -> ParsedFile:
    blocks, line = [], 1
    for text in draw(st.lists(words, max_size=12)):
        path = draw(st.sampled_from([(), ("A",), ("A", "B")]))
        kind = draw(st.sampled_from(["text", "code", "function"]))
        tight, alone, heading = draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))
        last = line + text.count("\n")
        blocks.append(Block(text, line, last, path, kind, "", tight, alone and not heading, heading))
        line = last + 1 + draw(st.integers(0, 2))
    return document(*blocks)


@settings(deadline=None)
@given(documents(), st.integers(1, 80))
def test_no_visible_character_is_lost_or_invented(parsed: ParsedFile, size: int) -> None:
    assert visible(contents(chunk(parsed, size))) == visible([block.text for block in parsed.blocks])


@settings(deadline=None)
@given(documents(), st.integers(1, 80))
def test_no_piece_is_empty_or_longer_than_the_size(parsed: ParsedFile, size: int) -> None:
    assert all(piece.text.strip() and len(piece.text) <= size for piece in chunk(parsed, size))


@settings(deadline=None)
@given(documents(), st.integers(1, 80))
def test_lines_rise_and_stay_inside_the_document(parsed: ParsedFile, size: int) -> None:
    pieces = chunk(parsed, size)
    assert all(piece.first_line <= piece.last_line for piece in pieces)
    assert all(a.last_line <= b.last_line and a.first_line <= b.first_line for a, b in pairwise(pieces))
    if pieces:
        assert parsed.blocks[0].first_line <= pieces[0].first_line
        assert pieces[-1].last_line <= parsed.blocks[-1].last_line


@settings(deadline=None)
@given(st.text(alphabet="ab.# \n-", max_size=300), st.integers(10, 60))
def test_the_lines_a_piece_names_hold_its_text(text: str, size: int) -> None:
    lines = text.split("\n")
    for piece in chunk(parse("a.txt", text), size):
        named = visible(lines[piece.first_line - 1 : piece.last_line])
        assert visible([piece.text]) in named


@settings(deadline=None)
@given(documents(), st.integers(1, 80))
def test_the_same_blocks_give_the_same_pieces(parsed: ParsedFile, size: int) -> None:
    assert chunk(parsed, size) == chunk(parsed, size)


def test_neighbours_of_one_section_are_packed_and_tight_ones_keep_one_newline() -> None:
    blocks = (Block("one", 1, 1), Block("- a", 3, 3), Block("- b", 4, 4, tight=True))
    assert chunk(document(*blocks), 100) == [Block("one\n\n- a\n- b", 1, 4)]


def test_text_of_another_section_opens_a_new_piece() -> None:
    pieces = chunk(document(Block("one", 1, 1, ("A",)), Block("two", 2, 2, ("A", "B"))), 100)
    assert [(piece.text, piece.heading_path) for piece in pieces] == [
        ("one", ("A",)),
        ("two", ("A", "B")),
    ]


def test_headings_without_text_are_carried_into_the_next_section() -> None:
    pieces = chunk(parse("a.md", "# A\n\n## B\n\ntext\n"), 100)
    assert pieces == [Block("# A\n\n## B\n\ntext", 1, 5, ("A", "B"))]


def test_a_last_heading_closes_the_piece_before_it() -> None:
    pieces = chunk(parse("a.md", "# A\n\ntext\n\n# B\n"), 100)
    assert pieces == [Block("# A\n\ntext\n\n# B", 1, 5, ("A",))]


def test_a_last_heading_that_does_not_fit_stands_alone() -> None:
    pieces = chunk(parse("a.md", "aaaa aaaa aaaa aaaa\n\n# B\n"), 20)
    assert contents(pieces) == ["aaaa aaaa aaaa aaaa", "# B"]


def test_a_document_of_headings_is_one_piece() -> None:
    assert chunk(parse("a.md", "# A\n\n## B\n"), 100) == [Block("# A\n\n## B", 1, 3, ("A", "B"))]


def test_a_heading_keeps_its_text_even_when_the_text_must_be_cut_for_it() -> None:
    pieces = chunk(parse("a.md", "# Long\n\n" + "word " * 19), 100)
    assert pieces[0].text.startswith("# Long\n\nword word")
    assert len(pieces) == 2


def test_a_block_that_stands_alone_is_not_packed() -> None:
    blocks = (Block("a", 1, 1), Block("f", 2, 2, kind="function", name="f", alone=True), Block("b", 3, 3))
    pieces = chunk(document(*blocks), 100)
    assert [(piece.text, piece.kind, piece.name) for piece in pieces] == [
        ("a", "text", ""),
        ("f", "function", "f"),
        ("b", "text", ""),
    ]


def test_prose_is_cut_after_a_sentence() -> None:
    pieces = chunk(document(Block("One two three four. Five six seven.", 1, 1)), 25)
    assert contents(pieces) == ["One two three four.", "Five six seven."]


def test_prose_without_a_stop_is_cut_between_words() -> None:
    assert contents(chunk(document(Block("aaaa bbbb cccc", 1, 1)), 10)) == ["aaaa bbbb", "cccc"]


def test_code_is_cut_at_lines_and_keeps_its_indentation_lines_and_name() -> None:
    block = Block("def f():\n    a = 1. \n\n    return a", 5, 8, ("f",), "function", "f", alone=True)
    pieces = chunk(document(block), 20)
    assert pieces == [
        Block("def f():\n    a = 1.", 5, 6, ("f",), "function", "f"),
        Block("    return a", 8, 8, ("f",), "function", "f"),
    ]


def test_the_parts_of_a_long_definition_begin_with_its_signature_and_only_one_has_its_name() -> None:
    lines = ["# about it, at length", "def f():", *(f"    step({at})" for at in range(8))]
    block = Block("\n".join(lines), 1, 10, ("f",), "function", "f", alone=True)
    first, *rest = chunk(document(block._replace(signature="def f()", defined_at=2)), 60)
    assert first.text == "# about it, at length\ndef f():\n    step(0)\n    step(1)"
    assert [piece.text.split("\n")[:2] for piece in rest] == [["def f()", "…"]] * len(rest)
    assert [piece.name for piece in (first, *rest)] == ["f"] + [""] * len(rest)
    assert rest[0].first_line == 5 and rest[-1].last_line == 10


def test_the_part_that_holds_the_definition_has_the_name_even_if_comments_come_first() -> None:
    text = "# a long comment\n" * 4 + "def f():\n    return 1"
    block = Block(text, 1, 6, ("f",), "function", "f", alone=True, signature="def f()", defined_at=5)
    pieces = chunk(document(block), 60)
    assert [piece.name for piece in pieces] == ["", "f"]
    assert pieces[1].text.endswith("def f():\n    return 1")


@pytest.mark.parametrize("kind", ["text", "code"])
def test_little_that_would_be_left_over_is_shared_out(kind: str) -> None:
    text = "\n".join("word" for _ in range(22))  # 109 characters
    sizes = [len(piece.text) for piece in chunk(document(Block(text, 1, 22, kind=kind)), 100)]
    assert len(sizes) == 2 and min(sizes) > 25


def test_a_fence_that_fits_is_not_cut() -> None:
    fence = "```\n" + "x = 1\n" * 12 + "```"
    pieces = chunk(parse("a.md", "Some words first.\n\n" + fence), 90)
    assert contents(pieces) == ["Some words first.", fence]


def test_a_part_of_text_that_is_not_verbatim_names_the_whole_range() -> None:
    pieces = chunk(document(Block("aaaa bbbb cccc", 3, 9)), 10)
    assert [(piece.first_line, piece.last_line) for piece in pieces] == [(3, 9), (3, 9)]


@pytest.mark.parametrize("kind", ["text", "code"])
@pytest.mark.parametrize("unit", ["x", " ", "\n", ". ", "a\n", "x" * 99 + " ", "!'"])
def test_a_megabyte_is_cut_without_loss(unit: str, kind: str) -> None:
    text = unit * (1_000_000 // len(unit))
    pieces = chunk(document(Block(text, 1, 1 + text.count("\n"), kind=kind)), 1600)
    assert visible(contents(pieces)) == visible([text])


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_a_blank_document_has_no_pieces(text: str) -> None:
    assert chunk(parse("a.txt", text), 100) == []


def test_a_size_that_holds_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="chunk_chars is 0; it must be at least 1"):
        chunk(document(), 0)
