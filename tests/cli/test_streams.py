"""Pipes and terminals: what goes where, and what never does."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quintet
from cli.conftest import Quintet, command, environment, on_terminal, words
from formats.papers import lines, paper

LINK = re.compile(r"\x1b\]8;[^;]*;(?P<address>[^\x1b]+)\x1b\\(?P<text>[^\x1b]*)")
COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-7]|9[0-7])m")


def test_on_a_terminal_the_place_links_to_the_line_of_the_file(shelf: Path) -> None:
    done = on_terminal("search", "five minutes", cwd=shelf)
    link = LINK.search(done.out)
    assert done.code == 0
    assert link is not None
    assert link["address"] == (shelf / "docs" / "cache.md").as_uri() + "#5"
    assert "docs/cache.md:5-7" in done.out


def test_a_result_of_a_knowledge_base_links_to_no_file_of_a_folder_that_looks_like_it(tmp_path: Path) -> None:
    file = tmp_path / "uploads" / "parking.md"
    file.parent.mkdir()
    file.write_text("Cars are parked behind the house.\n", "utf-8")
    with quintet.open(tmp_path / ".quintet", "hashing") as index:
        index.sync([file.parent])
        index.knowledge.create("faq").put_file(file, id="parking.md")
    asked = ("search", "cars", "--contract", "knowledge", "--mode", "keyword")
    assert "file://" in on_terminal(*asked, cwd=tmp_path).out
    in_base = on_terminal(*asked, "--param", "index=kb_faq", cwd=tmp_path).out
    assert "parking.md:1-1" in in_base
    assert "file://" not in in_base


def test_a_passage_of_a_pdf_is_shown_with_its_page_and_links_to_it(tmp_path: Path) -> None:
    manual = tmp_path / "manual.pdf"
    manual.write_bytes(paper(lines("On this page is nothing."), lines("On this page is a zeppelin.")))
    assert command("index", "--embedder", "none", cwd=tmp_path).code == 0
    found = on_terminal("search", "zeppelin", cwd=tmp_path).out
    link = LINK.search(found)
    assert link is not None
    assert link["address"] == f"{manual.as_uri()}#page=2"
    assert "manual.pdf:1-1 (page 2)" in found
    assert "manual.pdf:1-1 (page 2)" in on_terminal("get", "manual.pdf", cwd=tmp_path).out


def test_on_a_terminal_the_words_of_the_query_stand_out(shelf: Path) -> None:
    shown = on_terminal("search", "five minutes", cwd=shelf).out
    assert re.search(r"\x1b\[1;33mminutes\x1b\[0m", shown)


def test_no_color_keeps_colours_away(shelf: Path) -> None:
    done = on_terminal("search", "five minutes", "--explain", cwd=shelf, NO_COLOR="1")
    assert done.code == 0
    assert COLOUR.search(done.out) is None


@pytest.mark.parametrize("forced", [{}, {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1", "GITHUB_ACTIONS": "1"}])
@pytest.mark.parametrize(
    "arguments",
    [("search", "cache", "--explain"), ("status",), ("doctor",), ("--help",), ("search", "--help")],
)
def test_in_a_pipe_there_is_no_escape_code(
    shelf: Path, arguments: tuple[str, ...], forced: dict[str, str]
) -> None:
    done = command(*arguments, cwd=shelf, **forced)
    assert done.code == 0
    assert "\x1b" not in done.out + done.err


def test_json_is_pure_on_a_terminal_too(shelf: Path) -> None:
    shown = on_terminal("search", "cache", "--json", cwd=shelf).out
    assert "\x1b" not in shown
    assert shown.startswith("{")
    assert shown.endswith("}\n")
    assert shown.count("\n") == 1


def test_progress_is_drawn_on_a_terminal_and_not_in_a_pipe(library: Path) -> None:
    shown = on_terminal("index", "--embedder", "hashing", cwd=library).out
    assert "text" in shown
    assert "4/4" in shown
    assert "4 indexed" in shown
    assert command("index", "--force", cwd=library).err == ""


def test_get_names_the_place_on_a_terminal(shelf: Path) -> None:
    shown = on_terminal("get", "docs/cache.md:7", cwd=shelf).out
    assert "docs/cache.md:5-7" in shown
    assert "The cache keeps answers for five minutes." in shown


def test_a_reader_that_leaves_early_is_no_error(library: Path) -> None:
    long = "\n\n".join(f"# Part {number}\n\n" + "cache words " * 100 for number in range(400))
    (library / "long.md").write_text(long, "utf-8")
    command("index", "--embedder", "none", cwd=library)
    for arguments in (("get", "long.md"), ("search", "cache", "--limit", "300"), ("status", "--json")):
        reading, writing = os.pipe()
        os.close(reading)  # gone before the first byte: what `head` does, without the race
        process = subprocess.Popen(
            words(arguments), cwd=library, stdout=writing, stderr=subprocess.PIPE, env=environment()
        )
        os.close(writing)
        _, said = process.communicate()
        complaints = [line for line in said.decode().splitlines() if not line.startswith("note: ")]
        assert (process.returncode, complaints) == (0, [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("flag", [(), ("--json",)])
def test_a_full_disk_behind_standard_output_is_one_line(shelf: Path, flag: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            words(("search", "cache", *flag)),
            cwd=shelf,
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
        )
    assert done.returncode == 6
    assert done.stderr.decode().startswith("quintet: standard output cannot be written: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_closed_streams_do_not_end_in_a_traceback(shelf: Path) -> None:
    line = f"'{sys.executable}' -m quintet search cache >&- 2>&-"
    assert subprocess.run(["sh", "-c", line], cwd=shelf, check=False).returncode == 0


def test_output_is_utf8_whatever_the_locale_says(library: Path) -> None:
    (library / "grüße.md").write_text("# Grüße\n\nSchöne Grüße 世界\n", "utf-8")
    command("index", "--embedder", "none", cwd=library)
    plain = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = command("search", "世界", "--mode", "lexical", cwd=library, **plain)
    assert "grüße.md" in done.out
    assert "世界" in done.out


def test_the_quintet_script_and_the_module_are_the_same(quintet: Quintet, shelf: Path) -> None:
    script = Path(sys.executable).parent / "quintet"
    if not script.exists():
        pytest.skip("the script is not installed beside this Python")
    done = subprocess.run([str(script), "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == quintet("--version").out
