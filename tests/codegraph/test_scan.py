"""What extractors share: limits, broken source, consistent outlines."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegraph.languages.listing import mentions, read, symbols
from quintet.codegraph.scan import MAX_DOCSTRING, MAX_ITEMS, MAX_SIGNATURE, first_paragraph
from quintet.indexing.parse import parse
from quintet.model.symbols import Outline, node_ids

FILES = {"python": "a.py", "javascript": "a.js", "typescript": "a.ts", "tsx": "a.tsx"}
WORDS = re.split(
    r"[ ]",
    "def class import from as lambda global for in if try except match case async await with function const"
    " let var export default extends implements interface enum namespace new super this self a b f A"
    " module.exports require ( ) { } [ ] : ; , . = => := * @ # ' \" ` <A> </A> \n /** é \0 */",
)


def whole(outline: Outline) -> None:
    """Check that the parts of an outline fit together."""
    assert outline.symbols[0].kind == "module"
    assert len(set(node_ids("d", outline))) == len(outline.symbols)
    for number, symbol in enumerate(outline.symbols[1:], 1):
        assert symbol.parent is not None and symbol.parent < number
        assert symbol.path[:-1] == outline.symbols[symbol.parent].path
        assert 1 <= symbol.first_line <= symbol.last_line
        assert len(symbol.signature) <= MAX_SIGNATURE and "\n" not in symbol.signature
        assert len(symbol.docstring) <= MAX_DOCSTRING
    owners = {found.owner for found in outline.imports} | {found.owner for found in outline.mentions}
    assert owners <= set(range(len(outline.symbols)))
    assert all(mention.path and all(mention.path) for mention in outline.mentions)


@pytest.mark.parametrize("language", FILES)
@given(words=st.lists(st.sampled_from(WORDS), max_size=60))
def test_no_text_breaks_an_extractor(language: str, words: list[str]) -> None:
    whole(read(language, " ".join(words), FILES[language]))


@pytest.mark.parametrize("language", FILES)
def test_extraction_gives_the_same_outline_every_time(language: str) -> None:
    text = "import a\nclass A(B):\n  def f(self): self.g(a)\nfunction h() { return new A(); }\n"
    assert read(language, text, FILES[language]) == read(language, text, FILES[language])


def test_what_is_sound_of_a_broken_file_is_kept() -> None:
    text = """
    import json

    def fine():
        return json.loads("1")

    def broken(:
        return (

    class After:
        def method(self):
            return fine()
    """
    outline = read("python", text, "a.py")
    assert "3 function fine public" in symbols(outline)
    assert "4 fine: json.loads name" in mentions(outline, "calls")
    script = read(
        "javascript", "function ok() { go(); }\nclass { ] oops\nfunction later() { ok(); }\n", "a.js"
    )
    assert {"ok", "later"} <= {symbol.name for symbol in script.symbols}


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "a + " * 100_000 + "a",
        "a" + ".b" * 100_000 + "()",
        "a" + ".b()" * 50_000,
        "x = '" + "y" * 1_000_000 + "'",
        "y" * 1_000_000 + " = 1",
        "f(" + ", ".join(f"a{n}" for n in range(100_000)) + ")",
        "a" + " = a" * 30_000,
        "x = " + "lambda a: b if a else " * 20_000 + "1",
        "x = " + "a => b ? a : " * 20_000 + "1",
        "if a: pass\n" + "elif b: f()\n" * 20_000,
        "# é\n" * 1000 + "\ufeff\u2028x = 1",
    ],
    ids=[
        "sum",
        "chain",
        "calls",
        "string",
        "name",
        "arguments",
        "assignments",
        "lambdas",
        "arrows",
        "branches",
        "marks",
    ],
)
@pytest.mark.parametrize("name", ["a.py", "a.js"])
def test_long_lines_and_long_chains_are_read(name: str, text: str) -> None:
    found = parse(name, text).outline
    if found is not None:  # None: the grammar itself gave up within its time
        whole(found)


def test_deep_definitions_belong_to_the_last_that_is_named() -> None:
    text = "".join(f"{' ' * depth}def f{depth}():\n" for depth in range(90)) + " " * 90 + "f0()\n"
    outline = read("python", text, "a.py")
    whole(outline)
    assert max(len(symbol.path) for symbol in outline.symbols) == 30
    assert [mention.path for mention in outline.mentions] == [("f0",)]


def test_a_generated_file_gives_a_bounded_outline() -> None:
    text = "def f(): ...\n" + "f(); x = 1\n" * (MAX_ITEMS + 1000)
    outline = read("python", text, "a.py")
    assert len(outline.mentions) == MAX_ITEMS
    assert outline.symbols[0].last_line == MAX_ITEMS + 1001


def test_lines_are_counted_in_the_files_own_rows() -> None:
    outline = parse("a.py", "s = '''\r\né\r\n'''\r\n\r\ndef f():\r\n    s()\r\n").outline
    assert outline is not None
    assert symbols(outline) == ["1 variable s public", "5 function f public"]
    assert mentions(outline, "calls") == ["6 f: s name"]


def test_a_docstring_is_its_first_paragraph_on_one_line() -> None:
    assert first_paragraph("\n  One\n  two.\n\n  Three.") == "One two."
    assert len(first_paragraph("word " * 1000)) <= MAX_DOCSTRING


def test_code_that_is_parsed_carries_its_outline() -> None:
    found = parse("pkg/a.py", "def f(): ...\n").outline
    assert found is not None and found.language == "python"
    assert parse("a.txt", "def f(): ...\n").outline is None
