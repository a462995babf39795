"""Path globs and scopes as filters understand them."""

import re

import pytest

from quintet.stores.sqlite.filters import glob_match, in_package, is_module


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("a.md", "a.md"),
        ("*.md", "a.md"),
        ("docs/*.md", "docs/a.md"),
        ("docs/**", "docs/a/b.md"),
        ("docs/**/b.md", "docs/b.md"),
        ("docs/**/b.md", "docs/x/y/b.md"),
        ("**/b.md", "b.md"),
        ("**", "a/b/c"),
        ("a?c.md", "abc.md"),
        ("*.{md,txt}", "a.txt"),
        ("{docs,src}/**", "src/x/y"),
        ("{a,b{c,d}}.md", "bd.md"),
        ("a{b.md", "a{b.md"),
        ("a}b.md", "a}b.md"),
        ("a,b.md", "a,b.md"),
        ("[x].md", "[x].md"),
        ("a+b(c).md", "a+b(c).md"),
        ("*", ".hidden"),
        ("日本/*.md", "日本/語.md"),
        ("a\nb", "a\nb"),
        ("***", "a/b"),
    ],
)
def test_a_glob_matches(pattern: str, path: str) -> None:
    assert glob_match(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "docs/a.md"),
        ("docs/*", "docs/a/b.md"),
        ("docs/**", "docs"),
        ("docs/**", "mydocs/a"),
        ("a?c.md", "a/c.md"),
        ("a?c.md", "ac.md"),
        ("*.{md,txt}", "a.rst"),
        ("[ab].md", "a.md"),
        ("A.md", "a.md"),
        ("a.md", "a_md"),
        ("a", "a/b"),
        ("", "a"),
    ],
)
def test_a_glob_does_not_match(pattern: str, path: str) -> None:
    assert not glob_match(pattern, path)


def test_every_path_matches_itself_as_a_glob_unless_it_holds_a_wildcard() -> None:
    for path in ("a b.md", "x^y$.z|w", "a\\b", "π/√.md", "-", "~/.x", "%_", "'\""):
        assert not re.search(r"[*?{]", path)
        assert glob_match(path, path)


@pytest.mark.parametrize("package", ["src/app", "src.app", "/src/app/"])
def test_a_package_is_a_folder_and_all_below_it(package: str) -> None:
    assert in_package(package, "src/app/a.py")
    assert in_package(package, "src/app/deep/a.py")
    assert not in_package(package, "src/application/a.py")
    assert not in_package(package, "src/app.py")


@pytest.mark.parametrize("module", ["app.views", "app/views", "views", "src.app.views"])
def test_a_module_is_a_file_without_its_ending(module: str) -> None:
    assert is_module(module, "src/app/views.py")
    assert is_module(module, "src/app/views/__init__.py")
    assert is_module(module, "src/app/views/index.ts")
    assert not is_module(module, "src/app/reviews.py")
    assert not is_module(module, "src/app/views/detail.py")
