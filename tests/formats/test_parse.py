"""Any name, any text: the right parser, and never an exception."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintet.formats.blocks import ParsedFile
from quintet.indexing.parse import parse

VERBATIM = ["a.txt", "a.md", "a.rst", "a.sql", "a.py", "a.js", "a.ts", "a.tsx", "a.rs", "a.go"]
VERBATIM += ["a.java", "a.c", "a.h", "a.cpp", "a.cs", "a.rb", "a.php", "a.sh"]
OTHER = ["a.csv", "a.html", "a.json", "a.jsonl"]
MARKS = "ab1 \n\t#-=*>`|:.[](){}<>/\\\"'&;@,!+_~\0\r\u00a0\u2028é字\ud800"
SNIPPETS = [
    "class A {\n",
    "def f(\n",
    "fn f() {\n",
    "}\n",
    "/* ",
    "<p>",
    "<pre>",
    "</",
    "<!--",
    "---\n",
    "+++\n",
]
SNIPPETS += [
    "a: 1\n",
    "```\n",
    "- x\n",
    "| a |\n|---|\n",
    '{"text": "',
    "::\n\n  x\n",
    "====\n",
    "#if X\n",
    "?>",
]
texts = st.lists(st.one_of(st.sampled_from(SNIPPETS), st.text(MARKS, max_size=12)), max_size=25).map("".join)


def check_cover(parsed: ParsedFile, text: str, skipped: int = 0) -> None:
    """Blocks are the source's own lines, in order, without overlap, and hold all that is visible. Lists of
    members are extra."""
    lines = text.replace("\ud800", "\ufffd").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    row = skipped
    for block in parsed.blocks:
        if block.text.startswith("…\n") and block.tight:
            continue
        assert not "".join(lines[row : block.first_line - 1]).strip()
        assert block.text == "\n".join(lines[block.first_line - 1 : block.last_line])
        assert block.first_line - 1 >= row
        row = block.last_line
    assert not "".join(lines[row:]).strip()


@pytest.mark.parametrize("path", VERBATIM)
@settings(deadline=None)  # the first example loads the parser
@given(text=texts)
def test_every_visible_line_is_in_exactly_one_block(path: str, text: str) -> None:
    # A rule at the top could open front matter, which is not text.
    check_cover(parse(path, "x\n" + text), "x\n" + text)


@pytest.mark.parametrize("path", ["a.md", *OTHER])
@settings(deadline=None)  # the first example loads the parser
@given(text=texts)
def test_no_text_makes_a_parser_raise_and_blocks_can_be_stored(path: str, text: str) -> None:
    parsed = parse(path, text)
    for block in parsed.blocks:
        assert block.text.strip()
        assert 1 <= block.first_line <= block.last_line <= len(text.replace("\r\n", "\n").splitlines()) + 1
        block.text.encode()
    assert parsed.title.encode()


@settings(deadline=None)  # the first example loads the parser
@given(st.lists(st.text("abc", min_size=1), min_size=1))
def test_html_without_tags_keeps_every_word(words: list[str]) -> None:
    assert [
        word for block in parse("a.html", "\n".join(words)).blocks for word in block.text.split()
    ] == words


@pytest.mark.parametrize(
    ("path", "mime_type", "language"),
    [
        ("docs/A.MD", "text/markdown", None),
        ("NOTES", "text/plain", None),
        ("a.unknown", "text/plain", None),
        ("x/a.jsonl", "application/x-ndjson", None),
        ("a.rst", "text/x-rst", None),
        ("a.pyi", "text/x-python", "python"),
        ("a.tsx", "text/x-typescript", "tsx"),
        ("a.kt", "text/x-kotlin", "kotlin"),
        ("Makefile", "text/x-makefile", "make"),
        ("a.yml", "application/yaml", None),
    ],
)
def test_the_name_decides_type_and_language(path: str, mime_type: str, language: str | None) -> None:
    parsed = parse(path, "x")
    assert (parsed.mime_type, parsed.language) == (mime_type, language)


def test_plain_text_is_split_at_blank_lines() -> None:
    parsed = parse("notes/read me.txt", "\ufeffone\r\ntwo\r\n\r\n\r\nthree\r\n")
    assert parsed.title == "read me"
    assert [(b.text, b.first_line, b.last_line) for b in parsed.blocks] == [
        ("one\ntwo", 1, 2),
        ("three", 5, 5),
    ]


def test_source_without_a_grammar_is_cut_at_lines() -> None:
    parsed = parse("db/schema.sql", "CREATE TABLE a;\n\nDROP TABLE b;\n")
    assert (parsed.title, {block.kind for block in parsed.blocks}) == ("schema.sql", {"code"})
    assert len(parsed.blocks) == 2


def test_importing_the_package_loads_no_parser() -> None:
    code = (
        "import sys, quintet.indexing.parse; print({'yaml', 'markdown_it', 'tree_sitter'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
