"""`quintet index`: what it takes, what it says, where it puts the index."""

import json
from pathlib import Path

import pytest

from cli.conftest import Quintet


def test_the_first_run_indexes_the_current_folder_and_says_what_it_did(
    library: Path, quintet: Quintet
) -> None:
    done = quintet("index", "--embedder", "hashing")
    assert done.code == 0
    assert done.out.startswith("4 indexed, 0 skipped, 0 removed, ")
    assert done.out.endswith(" s\n")
    assert done.err == ""
    assert (library / ".quintet" / "index.db").is_file()


def test_the_index_folder_keeps_itself_out_of_git(library: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "none")
    assert (library / ".quintet" / ".gitignore").read_text("utf-8") == "*\n"


def test_json_holds_the_counts_the_problems_and_the_folder(library: Path, quintet: Quintet) -> None:
    (library / "broken.md").write_bytes(b"\x00\x01\x02 not text \xff\xfe\x00")
    done = quintet("index", "--embedder", "hashing", "--json")
    report = json.loads(done.out)
    counts = ["indexed", "skipped", "removed", "embedded", "pending"]
    assert list(report) == [*counts, "problems", "notes", "seconds", "index"]
    assert report["indexed"] == 4
    assert [problem["path"] for problem in report["problems"]] == ["broken.md"]
    assert report["problems"][0]["reason"]
    assert report["index"] == str(library / ".quintet")
    assert (done.code, done.err) == (0, "")


def test_a_file_that_cannot_be_read_is_a_warning_with_its_reason(library: Path, quintet: Quintet) -> None:
    (library / "broken.md").write_bytes(b"\x00\x01\x02 not text \xff\xfe\x00")
    done = quintet("index", "--embedder", "none")
    assert done.code == 0
    assert done.err.startswith("warning: broken.md: ")
    assert "warning" not in done.out


def test_more_than_twenty_problems_are_counted_not_listed(library: Path, quintet: Quintet) -> None:
    for number in range(23):
        (library / f"broken{number:02}.md").write_bytes(b"\x00\xff\x00")
    lines = quintet("index", "--embedder", "none").err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "warning: and 3 more"


def test_a_second_run_skips_what_did_not_change_and_force_does_not(library: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "none")
    assert json.loads(quintet("index", "--json").out)["indexed"] == 0
    assert json.loads(quintet("index", "--force", "--json").out)["indexed"] == 4


def test_a_removed_file_leaves_the_index(library: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "none")
    (library / "docs" / "keys.md").unlink()
    assert json.loads(quintet("index", "--embedder", "none", "--json").out)["removed"] == 1


def test_include_and_exclude_choose_files(library: Path, quintet: Quintet) -> None:
    arguments = ("--include", "docs/**", "--include", "src/**", "--exclude", "**/keys.md")
    assert json.loads(quintet("index", "--embedder", "none", *arguments, "--json").out)["indexed"] == 2


def test_paths_may_be_named(library: Path, quintet: Quintet) -> None:
    quintet("index", "manual=docs", "src/store.py", "--embedder", "none")
    roots = json.loads(quintet("status", "--json").out)["roots"]
    assert {(root["name"], root["location"]) for root in roots} == {
        ("manual", str(library / "docs")),
        ("src", str(library / "src")),
    }
    assert [root["only"] for root in roots if root["name"] == "src"] == [["store.py"]]


def test_an_index_above_is_used_from_a_folder_below(
    library: Path, quintet: Quintet, monkeypatch: pytest.MonkeyPatch
) -> None:
    quintet("index", "--embedder", "none")
    monkeypatch.chdir(library / "docs")
    assert json.loads(quintet("index", "--embedder", "none", "--json").out)["index"] == str(
        library / ".quintet"
    )
    assert not (library / "docs" / ".quintet").exists()
    assert quintet("search", "bread", "--mode", "lexical").code == 0


def test_a_new_index_above_means_the_folder_that_holds_it(
    library: Path, quintet: Quintet, monkeypatch: pytest.MonkeyPatch
) -> None:
    (library / ".quintet").mkdir()
    monkeypatch.chdir(library / "docs")
    assert json.loads(quintet("index", "--embedder", "none", "--json").out)["indexed"] == 4


def test_db_names_the_index_folder_and_the_current_folder_is_still_what_is_indexed(
    library: Path, quintet: Quintet, tmp_path: Path
) -> None:
    elsewhere = str(tmp_path / "elsewhere")
    assert json.loads(quintet("index", "--db", elsewhere, "--embedder", "none", "--json").out)["indexed"] == 4
    assert not (library / ".quintet").exists()
    assert quintet("search", "bread", "--mode", "lexical", "--db", elsewhere).code == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("docs",), "PATHS"),
        (("--force",), "--force"),
        (("--include", "docs/**"), "--include"),
        (("--exclude", "*.py"), "--exclude"),
        (("--no-wait",), "--no-wait"),
        (("docs", "--force", "--no-wait"), "PATHS, --force, --no-wait"),
    ],
)
def test_reembed_refuses_what_chooses_files_and_touches_nothing(
    library: Path, quintet: Quintet, arguments: tuple[str, ...], named: str
) -> None:
    done = quintet("index", *arguments, "--reembed", "--embedder", "hashing")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"quintet: --reembed reads no files, so {named} cannot go with it; ")
    assert done.err.endswith(" [invalid_parameter]\n")
    assert done.err.count("\n") == 1
    assert not (library / ".quintet").exists()


def test_reembed_goes_with_wait_which_is_what_it_does(library: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "hashing")
    done = quintet("index", "--reembed", "--wait", "--embedder", "hashing", "--json")
    report = json.loads(done.out)
    assert (done.code, report["indexed"], report["pending"]) == (0, 0, 0)
    assert report["embedded"] > 0
