"""Names and contents come from strangers: nothing in them reaches a terminal as a command or as markup."""

import json
import os
from pathlib import Path

import pytest

from cli.conftest import Quintet, command, on_terminal
from quintet.cli.main import run
from quintet.cli.render import QueryWords, snippet
from quintet.cli.terminal import safe

EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31mred [bold]markup[/bold] :smile: [link=http://x]y[/link]\u202edrawkcab"


@pytest.fixture
def strange(library: Path) -> Path:
    (library / "evil.md").write_text(f"# Evil [red]heading[/red] \x1b[5m\n\nzeppelin {EVIL}\n", "utf-8")
    (library / "[bold]x \x07bell.md").write_text("# Bell\n\nzeppelin bell\n", "utf-8")
    (library / "[red] two.md").write_text("# Two\n\nzeppelin two\n", "utf-8")
    (library / "two\nlines.md").write_text("# Two\n\nzeppelin lines\n", "utf-8")
    (library / "\x1b[31mred.md").write_text("# Red\n\nzeppelin red\n", "utf-8")
    return library


def test_no_control_character_of_a_file_reaches_standard_output_or_error(
    strange: Path, quintet: Quintet
) -> None:
    indexed = quintet("index", "--embedder", "none")
    found = quintet("search", "zeppelin", "--mode", "lexical", "--explain")
    for text in (indexed.out, indexed.err, found.out, found.err, quintet("status").out):
        assert not set("\x1b\x07\u202e") & set(text)
    assert "\\x1b[31mred [bold]markup[/bold]" in found.out
    assert " [red] two.md:1-3  Two " in found.out


def test_a_name_with_a_line_end_stays_on_one_line(strange: Path, quintet: Quintet) -> None:
    indexed = quintet("index", "--embedder", "none")
    found = quintet("search", "zeppelin lines", "--mode", "lexical")
    for line in (indexed.err + found.out).splitlines():
        assert not line.startswith("lines.md")


def test_on_a_terminal_contents_are_spelt_out_and_markup_is_text(strange: Path) -> None:
    command("index", "--embedder", "none", cwd=strange)
    for arguments in (("search", "zeppelin", "--mode", "lexical"), ("get", "evil.md")):
        shown = on_terminal(*arguments, cwd=strange).out
        assert "\x1b]0;" not in shown
        assert "\x1b[2J" not in shown
        assert "\x07" not in shown
        assert "[bold]markup[/bold]" in shown
        assert ":smile:" in shown


def test_in_a_pipe_get_gives_the_text_as_it_is(strange: Path) -> None:
    command("index", "--embedder", "none", cwd=strange)
    assert "\x1b[31mred [bold]markup[/bold]" in command("get", "evil.md", cwd=strange).out


def test_json_carries_the_text_as_it_is(strange: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "none")
    done = quintet("search", "zeppelin", "--mode", "lexical", "--filter", "path:evil.md", "--json")
    assert EVIL in json.loads(done.out)["results"][0]["content"]
    assert "\x1b" not in done.out


def test_an_error_message_with_a_strange_argument_is_one_safe_line(indexed: Path, quintet: Quintet) -> None:
    for arguments in (("get", f"{EVIL}\nx"), ("search", "x", f"--{EVIL}\n"), ("index", f"{EVIL}\n")):
        done = quintet(*arguments)
        assert done.code in (2, 3)
        assert done.err.count("\n") == 1
        assert "\x1b" not in done.err


@pytest.mark.skipif(os.name == "nt", reason="arguments are bytes on POSIX only")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((b"search", b"caf\xff", b"--mode", b"lexical"), 1),
        ((b"search", b"cache", b"--filter", b"path:\xff"), 1),
        ((b"search", b"cache", b"--param", b"\xff=1"), 2),
        ((b"search", b"cache", b"--contract", b"\xff"), 2),
        ((b"search", b"cache", b"--\xff"), 2),
        ((b"search", b"cache", b"--db", b"\xff"), 3),
        ((b"get", b"\xff.md"), 3),
        ((b"forget", b"\xff.md"), 3),
        ((b"index", b"\xff"), 2),
    ],
)
def test_bytes_that_are_not_utf8_in_an_argument_do_not_end_in_a_fault(
    shelf: Path, arguments: tuple[bytes, ...], code: int
) -> None:
    done = command(*arguments, cwd=shelf)
    lines = 2 if "[nothing_passes]" in done.err else 1
    assert (done.code, done.err.count("\n")) == (code, lines)
    assert json.loads(command(b"search", b"cache \xff", b"--json", cwd=shelf).out)["query"] == "cache \ufffd"


def test_safe_text_is_printable_and_keeps_what_is_harmless() -> None:
    assert safe("Grüße, 世界 😀 [bold]") == "Grüße, 世界 😀 [bold]"
    assert safe("\x00\x9b\u2028\udcff\ud800") == "\\x00\\x9b\\u2028\\xff\\ud800"


def test_a_snippet_starts_where_the_query_is_and_is_cut_to_the_width() -> None:
    content = "\n".join(["filler"] * 50 + ["x" * 500 + " needle " + "y" * 500] + ["after"] * 50)
    lines = snippet(content, QueryWords("needle"), 60)
    assert len(lines) == 4
    assert "needle" in lines[0].plain
    assert all(line.cell_len <= 60 for line in lines)


def test_a_snippet_of_text_without_any_word_of_the_query_starts_at_its_beginning() -> None:
    assert [line.plain for line in snippet("\n\none\n\ntwo\n", QueryWords("?!"), 60)] == ["one", "two"]


def test_a_snippet_loses_the_indentation_its_lines_share() -> None:
    content = "class A:\n    def b(self):\n        return 1\n    c = 2\n    d = 3\n"
    assert [line.plain for line in snippet(content, QueryWords("self"), 60)] == [
        "def b(self):",
        "    return 1",
        "c = 2",
        "d = 3",
    ]


def test_half_of_a_pair_in_an_argument_is_a_strange_character_like_any_other(
    library: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(library)
    assert run(["index", "--embedder", "none"]) == 0
    for words in (["prove", "a\ud800"], ["map", "a\udfff"], ["why", "x", "b\ud800"]):
        assert run(words) == 3, words
        assert "\ufffd" in capsys.readouterr().err
