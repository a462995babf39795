"""A path filter takes paths as they are printed: with several roots, the name of one is in front."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import quintet

Found = Callable[..., set[tuple[str, str]]]


@pytest.fixture
def found(tmp_path: Path) -> Found:
    """Indexes these files, with their first folder as root, and returns what a path filter leaves."""

    def ask(pattern: str, *names: str) -> set[tuple[str, str]]:
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("a word\n", "utf-8")
        with quintet.open(tmp_path / ".quintet", embedder=None) as index:
            index.sync([tmp_path / root for root in sorted({name.split("/")[0] for name in names})])
            results: Any = index.search("word", mode="lexical", filters={"path": pattern}).body["results"]
        return {(item["root"], item["path"]) for item in results}

    return ask


TWO = ("docs/git/x.html", "docs/a.html", "code/git/y.py", "code/docs/z.py")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("docs/git/x.html", {("docs", "git/x.html")}),
        ("docs/git/**", {("docs", "git/x.html")}),
        ("docs/*.html", {("docs", "a.html")}),
        ("docs/**", {("docs", "git/x.html"), ("docs", "a.html"), ("code", "docs/z.py")}),
        ("{docs,code}/git/*", {("docs", "git/x.html"), ("code", "git/y.py")}),
        ("git/**", {("docs", "git/x.html"), ("code", "git/y.py")}),
        ("doc*/git/**", set()),
    ],
)
def test_with_several_roots_a_glob_may_begin_with_the_name_of_one(
    found: Found, pattern: str, expected: set[tuple[str, str]]
) -> None:
    assert found(pattern, *TWO) == expected


def test_a_negated_printed_path_leaves_only_that_out(tmp_path: Path, found: Found) -> None:
    found("**", *TWO)
    with quintet.open(tmp_path / ".quintet", embedder=None) as index:
        left: Any = index.search("word", mode="lexical", filters="-path:docs/git/**").body["results"]
    assert {item["path"] for item in left} == {"a.html", "git/y.py", "docs/z.py"}


def test_with_one_root_its_name_may_stand_in_front(found: Found) -> None:
    assert found("docs/git/**", "docs/git/x.html", "docs/a.html") == {("docs", "git/x.html")}


def test_in_a_single_root_a_folder_of_the_same_name_is_meant(found: Found) -> None:
    assert found("app/**", "app/app/main.py", "app/setup.py") == {("app", "app/main.py")}
