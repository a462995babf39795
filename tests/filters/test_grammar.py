"""The filter language: what it means, that it can be written back, and where it says no."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.errors import UsageError
from quintet.filters.grammar import MAX_CHARS, MAX_DEPTH, all_of, any_of, parse, render
from quintet.model.filters import AllOf, AnyOf, Comparison, Condition, Expression, Not


def read(text: str) -> Expression:
    """Every name is a field here."""
    return parse(text, Condition)


def is_(name: str, value: str) -> Condition:
    return Condition(name, value)


A, B, C = is_("a", "1"), is_("b", "2"), is_("c", "3")


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a:1", A),
        ("  a:1  ", A),
        ("a:1 b:2", AllOf((A, B))),
        ("a:1 AND b:2", AllOf((A, B))),
        ("a:1 OR b:2", AnyOf((A, B))),
        ("a:1 b:2 OR c:3", AnyOf((AllOf((A, B)), C))),
        ("a:1 (b:2 OR c:3)", AllOf((A, AnyOf((B, C))))),
        ("-a:1", Not(A)),
        ("NOT a:1", Not(A)),
        ("NOT(a:1 OR b:2)", Not(AnyOf((A, B)))),
        ("-(a:1 b:2) c:3", AllOf((Not(AllOf((A, B))), C))),
        ("NOT NOT a:1", Not(Not(A))),
        ("((a:1))", A),
        ("(a:1 b:2) c:3", AllOf((A, B, C))),
        ('title:"two words"', is_("title", "two words")),
        (r'title:"a \"b\" \\"', is_("title", 'a "b" \\')),
        ('(title:"x" OR a:1)', AnyOf((is_("title", "x"), A))),
        ("path:docs/{a,b}/**/*.md", is_("path", "docs/{a,b}/**/*.md")),
        ("path:a(b).md", is_("path", "a(b).md")),
        ("(path:a(b).md)", is_("path", "a(b).md")),
        ("contains:a:b", is_("contains", "a:b")),
        ("contains:-x", is_("contains", "-x")),
        ("contains:OR", is_("contains", "OR")),
        ('contains:a"b', is_("contains", 'a"b')),
        ("meta.naïve-key:x", is_("meta.naïve-key", "x")),
        ("a:1\n\tb:2", AllOf((A, B))),
        ("a<1", Condition("a", "1", "<")),
        ("a <= 1", Condition("a", "1", "<=")),
        ("a> 1 b>=2", AllOf((Condition("a", "1", ">"), Condition("b", "2", ">=")))),
        ("-a<1 OR (b:2)", AnyOf((Not(Condition("a", "1", "<")), B))),
        ('a>"2026-01-01 12:00"', Condition("a", "2026-01-01 12:00", ">")),
        ("a:<1", is_("a", "<1")),
    ],
)
def test_what_is_written_is_what_is_meant(text: str, meaning: Expression) -> None:
    assert read(text) == meaning


VALUES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)
NAMES = st.sampled_from(["a", "path", "meta.x", "NOT.x"])
CONDITIONS = st.builds(Condition, NAMES, VALUES, st.sampled_from(get_args(Comparison)))
EXPRESSIONS = st.recursive(
    CONDITIONS,
    lambda part: st.one_of(
        st.builds(Not, part),
        st.lists(part, min_size=2, max_size=3).map(all_of),
        st.lists(part, min_size=2, max_size=3).map(any_of),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
def test_every_expression_is_read_back_as_it_was_written(expression: Expression) -> None:
    assert read(render(expression)) == expression


@given(st.text('ab:"()- \\\nORNT<>=', max_size=40))
def test_any_text_means_something_or_is_refused_at_a_place_in_it(text: str) -> None:
    try:
        meaning = read(text)
    except UsageError as error:
        assert error.code == "invalid_filter"
        position = error.details["position"]
        assert isinstance(position, int)
        assert 0 <= position <= len(text)
        assert len(error.message.split("\n")) == 3
    else:
        assert read(render(meaning)) == meaning


@pytest.mark.parametrize(
    ("text", "position", "why"),
    [
        ("", 0, "a condition is missing"),
        ("   ", 3, "a condition is missing"),
        ("a", 0, "'a' is not a condition; write name:value"),
        ("a:1 word", 4, "'word' is not a condition"),
        ("a:1 or b:2", 4, "or must be in capitals"),
        ("a:1 OR", 6, "a condition is missing"),
        ("OR a:1", 0, "OR must be"),
        ("a:1 AND AND b:2", 8, "AND must be"),
        ("a:", 2, "a has no value"),
        ("a: 1", 2, "a has no value"),
        ("a <", 3, "a has no value; write it after <"),
        ("<1", 0, "'<' is not a condition"),
        ("a=1", 0, "'a=1' is not a condition"),
        ("(a:)", 3, "a has no value"),
        (":x", 0, "':' is not a condition"),
        ('a:"x', 2, "this quote is never closed"),
        (r'a:"\x"', 2, "this quote is never closed"),
        ('a:"x"y', 5, "a quoted value ends here"),
        ("(a:1", 0, "this bracket is never closed"),
        ("b:2 (a:1", 4, "this bracket is never closed"),
        ("a:1)", 3, "this closing bracket has no opening one"),
        ("()", 1, "')' is not a condition"),
        ("-", 1, "a condition is missing"),
    ],
)
def test_what_cannot_be_read_is_pointed_at(text: str, position: int, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(text)
    first, line, caret = caught.value.message.split("\n")
    assert why in first
    assert caught.value.details == {"position": position}
    assert caret.index("^") == 2 + position
    assert line == "  " + text


def test_a_refusal_in_a_long_filter_shows_the_place_and_not_all_of_it() -> None:
    text = "a:1 " * 100 + "word " + "a:1 " * 100
    with pytest.raises(UsageError) as caught:
        read(text)
    _, line, caret = caught.value.message.split("\n")
    assert len(line) <= 62
    assert line[caret.index("^") :].startswith("word")


def test_control_characters_are_not_shown_back() -> None:
    with pytest.raises(UsageError) as caught:
        read("a:1 \x1b[31m word\u2028")
    assert "\x1b" not in caught.value.message.split("\n")[1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a:1 " * MAX_CHARS, "at most 4000"),
        ("(" * 2000, "more than 32 levels deep"),
        ("-" * 2000 + "a:1", "more than 32 levels deep"),
        ("NOT " * 500 + "a:1", "more than 32 levels deep"),
        ('a:"' + "\\" * 3000, "never closed"),
    ],
)
def test_hostile_filters_are_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read(text)


def test_thirty_two_levels_are_taken() -> None:
    assert read("(" * MAX_DEPTH + "a:1" + ")" * MAX_DEPTH) == A


def test_values_that_are_no_text_are_written_as_json_writes_them() -> None:
    assert render(Condition("meta.draft", True)) == "meta.draft:true"
    assert render(Condition("meta.year", 2026)) == "meta.year:2026"
