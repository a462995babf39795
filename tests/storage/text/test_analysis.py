"""What the text tables are fed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.storage.text.analysis import (
    HUMP,
    MANY,
    PART,
    identifier_parts,
    pair_phrase,
    pairs,
    parts_of_each,
    plain,
    quoted,
    runs,
)


def test_plain_sets_cjk_apart_from_the_letters_it_touches() -> None:
    assert plain("Python検索engine") == "Python 検索 engine"
    assert plain("no CJK here") == "no CJK here"


def test_plain_composes_and_drops_nul() -> None:
    assert plain("e\u0301\0x") == "\u00e9 x"
    assert plain("a\0b") == "a b"


@pytest.mark.parametrize(
    "script", ["漢字", "ひらがな", "カタカナ", "ｶﾅ", "한국어", "ㄅㄆ", "々〇", "\U00020000"]
)
def test_scripts_written_without_spaces_make_runs(script: str) -> None:
    assert runs(f"a {script}, b") == [script]


@pytest.mark.parametrize(
    "text", ["", "latin", "كتاب", "שלום", "поиск", "ελλάδα", "ไทย", "\U0001f50d", "、。"]
)
def test_other_scripts_and_punctuation_make_none(text: str) -> None:
    assert runs(text) == []
    assert pairs(text) == ""


def test_a_run_is_its_pairs_and_its_last_character() -> None:
    assert pairs("東京都") == "東京 京都 都"


def test_runs_are_kept_apart() -> None:
    assert pairs("東 京") == "東 zzcjk 京"


def test_one_character_is_looked_up_as_the_beginning_of_a_pair() -> None:
    assert pair_phrase("東") == '"東"*'
    assert pair_phrase("東京") == '"東京"'
    assert pair_phrase("東京都") == '"東京 京都"'


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getUserName", "get User Name"),
        ("HTTPServer", "HTTP Server"),
        ("parseHTML2Text", "parse HTML 2 Text"),
        ("_fooBar", "foo Bar"),
        ("3rdView", "rd View"),
        *(
            (word, "")
            for word in ("plain", "Plain", "PLAIN", "snake_case", "kebab-case", "a1b2", "", "Ä Ö", "x")
        ),
    ],
)
def test_camel_case_falls_into_its_parts(text: str, parts: str) -> None:
    assert identifier_parts(text) == parts


def test_a_word_of_a_million_letters_is_read_in_one_go() -> None:
    """A pattern that steps back would take hours; this test would not end."""
    assert identifier_parts("a" * 1_000_000) == ""
    assert identifier_parts("A" * 1_000_000) == ""
    assert identifier_parts("aB" * 500_000).startswith("a B")


@given(st.text())
def test_quoted_text_holds_no_quote_that_ends_it(text: str) -> None:
    inside = quoted(text)[1:-1]
    assert '"' not in inside.replace('""', "")


@given(st.text())
def test_every_pair_of_neighbours_is_among_the_pairs(text: str) -> None:
    found = pairs(text).split()
    for run in runs(text):
        assert all(run[at : at + 2] in found for at in range(len(run)))


@given(st.text("aBC1_ é", max_size=12))
def test_the_parts_of_a_text_are_those_of_its_words_with_humps(text: str) -> None:
    words = [word.lstrip("0123456789") for word in re.findall("[A-Za-z0-9]+", text)]
    humped = [word for word in words if HUMP.search(word)]
    assert identifier_parts(text) == " ".join(part for word in humped for part in PART.findall(word))


@given(st.lists(st.text("aBC1_ é\ud800", max_size=12), max_size=8), st.integers(0, 20))
def test_texts_searched_together_have_the_parts_of_each(texts: list[str], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("quintet.storage.text.analysis.MANY", 0)
        patch.setattr("quintet.storage.text.analysis.AT_ONCE", at_once)
        assert parts_of_each(texts) == [identifier_parts(text) for text in texts]


def test_many_words_in_one_of_many_texts_take_no_longer_than_alone() -> None:
    """Putting its parts together one by one would take minutes; this test would not end."""
    long = "aB " * 300_000
    assert parts_of_each([long, *["plain"] * MANY]) == [identifier_parts(long), *[""] * MANY]
