"""CSV: every row says what its cells are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.indexing.parse import parse


def _rows(path: str, text: str) -> list[tuple[int, int, str]]:
    return [(block.first_line, block.last_line, block.text) for block in parse(path, text).blocks]


@pytest.mark.parametrize(("path", "mark"), [("a.csv", ","), ("a.csv", ";"), ("a.csv", "|"), ("a.tsv", "\t")])
def test_names_of_columns_are_repeated_in_every_row(path: str, mark: str) -> None:
    text = "item,price\nlamp,12\n\nrope,\n".replace(",", mark)
    assert _rows(path, text) == [(2, 2, "item: lamp | price: 12"), (4, 4, "item: rope")]


def test_a_quoted_cell_may_hold_marks_and_lines() -> None:
    text = 'name,what\n"Brest, France","a\nharbour"\nnext,"say ""hi"""\n'
    assert _rows("a.csv", text) == [
        (2, 3, "name: Brest, France | what: a harbour"),
        (4, 4, 'name: next | what: say "hi"'),
    ]


def test_cells_beyond_the_names_are_kept() -> None:
    assert _rows("a.csv", "a,b\n1,2,3\n") == [(2, 2, "a: 1 | b: 2 | 3")]


@pytest.mark.parametrize(
    "text",
    [
        "1,2\n3,4\n",  # no names
        "a,a\nx,y\n",  # the same name twice
        "only\none\n",  # one column
        "name,what\n",  # names and nothing else
        "x" * 200 + "," + "y" * 201 + "\n1,2\n",  # names that would outweigh the data
        'a,b\n1,"' + "x" * 200_000 + '"\n',  # a cell that the reader refuses
    ],
)
def test_what_has_no_names_stays_as_its_lines_are(text: str) -> None:
    (block,) = parse("a.csv", text).blocks
    assert (block.text, block.kind) == (text.strip("\n"), "table")


@given(st.text("a1,;\"\n\t |'x", max_size=60))
def test_no_text_makes_it_raise_and_lines_are_those_of_the_file(text: str) -> None:
    last = 0
    for block in parse("a.csv", text).blocks:
        assert last < block.first_line <= block.last_line <= text.count("\n") + 1
        last = block.last_line
