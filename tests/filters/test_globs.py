"""Path globs: what they match, and that none can hang a search."""

import re
from fnmatch import translate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.errors import UsageError
from quintet.filters.globs import compiled_glob


def matches(pattern: str, path: str) -> bool:
    return compiled_glob(pattern).fullmatch(path) is not None


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("docs/**/*.md", "docs/a.md"),
        ("docs/**/*.md", "docs/x/y/a.md"),
        ("**a*b", "xa/ab"),
        ("a{b,c{d,e}}*", "acez"),
        ("{a,b}{c,d}", "bd"),
        ("docs/**/a/**/b.md", "docs/x/a/y/z/b.md"),
        ("a{b", "a{b"),
    ],
)
def test_a_glob_matches(pattern: str, path: str) -> None:
    assert matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"), [("*.md", "x/a.md"), ("**/x", "ax"), ("a*a", "a"), ("a?c", "a/c"), ("{a,b}", "c")]
)
def test_a_glob_does_not_match(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
def test_within_one_folder_it_agrees_with_the_standard_library(pattern: str, name: str) -> None:
    single = re.sub(r"\*+", "*", pattern)
    assert matches(single, name) == (re.fullmatch(translate(single), name) is not None)


@given(st.text("a/*", max_size=9), st.text("a/", max_size=9))
def test_it_agrees_with_the_plain_translation_that_may_backtrack(pattern: str, path: str) -> None:
    plain = re.sub(
        r"\*\*/|\*\*|\*", lambda star: {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}[star[0]], pattern
    )
    assert matches(pattern, path) == (re.fullmatch(plain, path) is not None)


def test_many_stars_cost_no_more_than_a_few() -> None:
    # A backtracking matcher would not come back from these.
    assert not matches("*a" * 40 + "b", "a" * 3000)
    assert not matches("**a" * 40 + "b", "a/" * 1500)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("{a,b}" * 9, "more than 256 alternatives"),
        ("{" * 30 + "}" * 30, "more than 20 deep"),
        ("x" * 1001, "longer than 1000"),
    ],
)
def test_a_glob_that_means_too_much_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        compiled_glob(pattern)
    assert caught.value.code == "invalid_filter"
