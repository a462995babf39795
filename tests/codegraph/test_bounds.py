"""Any text gives an outline that is consistent, in every language but Python and the scripts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegraph.languages.listing import mentions, read, symbols

LANGUAGES = ("rust", "go", "java", "c", "cpp", "csharp", "ruby", "php", "bash")
OUTLINED = ("swift", "kotlin", "scala", "elixir", "lua", "haskell", "zig")  # only their definitions are read
WORDS = ["class", "struct", "fn", "func", "def", "function", "impl", "namespace", "module", "use", "using"]
WORDS += ["import", "template", "enum", "interface", "trait", "let", "var", "new", "self", "this", "$this"]
WORDS += ["<?php", "package p", "#include", "#define", "private", "public", "super", "::", "->", ".", ":"]
WORDS += ["(", ")", "{", "}", "[", "]", "<", ">", "=", ";", ",", "\n", " ", "//", "/* a */", "#", "'", '"']
WORDS += ["fun", "object", "case", "extension", "val", "defmodule", "do", "local", "data", "where", "pub"]
WORDS += ["A", "B", "f", "x", "end", "@x", "é", "\x00", "\\", "1", "+", "|", "&", "*"]


@pytest.mark.parametrize("language", (*LANGUAGES, *OUTLINED))
@settings(max_examples=60)
@given(words=st.lists(st.sampled_from(WORDS), max_size=60))
def test_any_text_gives_an_outline_that_holds_together(language: str, words: list[str]) -> None:
    outline = read(language, " ".join(words), "a/b.x")
    count = len(outline.symbols)
    assert outline.symbols[0].path == ()
    for number, symbol in enumerate(outline.symbols[1:], start=1):
        assert all(symbol.path)
        assert symbol.parent is not None
        assert symbol.parent < number
        assert symbol.first_line <= symbol.last_line
    assert all(0 <= mention.owner < count and all(mention.path) for mention in outline.mentions)
    assert all(0 <= found.owner < count for found in outline.imports)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_long_chain_of_calls_is_read_to_its_end(language: str) -> None:
    joint = "->a()" if language == "php" else ".a()"
    chain = "x" + joint * 3000
    around = {
        "rust": "fn f() { %s; }",
        "go": "package p\nfunc f() { %s }",
        "java": "class A { void f() { %s; } }",
        "csharp": "class A { void F() { %s; } }",
        "php": "<?php $%s;",
        "c": "void f(void) { %s; }",
        "cpp": "void f() { %s; }",
        "bash": "f() { : %s; }",
    }.get(language, "%s")
    outline = read(language, around.replace("%s", chain), "a/b.x")
    calls = [line for line in mentions(outline, "calls") if line.endswith(" a unknown")]
    assert language == "bash" or len(calls) == 3000


@pytest.mark.parametrize("language", (*LANGUAGES, *OUTLINED))
def test_an_empty_file_is_a_module_alone(language: str) -> None:
    assert symbols(read(language, "", "a/b.x")) == []


def test_thousands_of_definitions_below_thousands_of_comments_share_them() -> None:
    outline = read("c", "// a\n" * 20_000 + "int a;" * 20_000 + "\n", "a/b.c")
    assert {symbol.above for symbol in outline.symbols[1:]} == {20_000}


@pytest.mark.parametrize(
    ("language", "unit"),
    [
        ("swift", "func f() {}\n"),
        ("kotlin", "fun f() {}\n"),
        ("scala", "def f = 1\n"),
        ("elixir", "def f(x), do: x\n"),
        ("lua", "function f() end\n"),
        ("haskell", "f x = x\n"),
        ("zig", "fn f() void {}\n"),
    ],
)
def test_thousands_of_clauses_and_functions_of_one_name_are_read(language: str, unit: str) -> None:
    found = symbols(read(language, unit * 4000, "a/b.x"))
    assert len(found) == (1 if language in ("elixir", "haskell") else 4000)
