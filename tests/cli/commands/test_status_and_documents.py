"""`quintet status`, `get`, `forget`, `doctor`, and the help that doubles as the manual."""

import json
from pathlib import Path

import apsw
import pytest

import quintet as package
from cli.conftest import Quintet

COMMANDS = ("index", "search", "status", "get", "forget", "doctor")


def test_status_for_programs_has_every_count_and_the_lag(library: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "hashing")
    (library / "new.md").write_text("# New\n", "utf-8")
    (library / "docs" / "keys.md").unlink()
    status = json.loads(quintet("status", "--json").out)
    assert (status["files"], status["embedder"]) == (4, "hash-384")
    assert status["embedded"] == status["chunks"]
    assert status["roots"] == [{"name": "library", "location": str(library), "only": None}]
    assert status["lag"] == {"added": 1, "changed": 0, "removed": 1, "missing_roots": [], "refused": 0}
    assert status["generation"] > 0
    assert len(status["state_root"]) == 64


def test_status_for_people_is_an_aligned_table(library: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "none")
    lines = quintet("status").out.splitlines()
    assert f"roots       library = {library}" in lines
    assert "disk        the index is up to date" in lines
    (library / "new.md").write_text("# New\n", "utf-8")
    lines = quintet("status").out.splitlines()
    assert "disk        1 added, 0 changed, 0 removed since; run 'quintet index'" in lines


def test_status_names_a_root_whose_folder_is_gone(
    library: Path, quintet: Quintet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    db = str(tmp_path / "db")
    quintet("index", "--db", db, "--embedder", "none")
    monkeypatch.chdir(tmp_path)
    library.rename(tmp_path / "moved")
    assert "the folder of root library is missing" in quintet("status", "--db", db).out


def test_get_prints_the_text_of_a_chunk_and_nothing_else_in_a_pipe(indexed: Path, quintet: Quintet) -> None:
    found = json.loads(quintet("search", "five minutes", "--json").out)["results"][0]
    done = quintet("get", found["chunk_id"])
    assert (done.code, done.err) == (0, "")
    assert done.out.rstrip("\n") == found["content"].rstrip("\n")


def test_get_takes_a_path_with_lines_as_search_shows_it(indexed: Path, quintet: Quintet) -> None:
    passages = json.loads(quintet("get", "docs/cache.md:6-7", "--json").out)["passages"]
    assert [(one["path"], one["lines"]) for one in passages] == [("docs/cache.md", [5, 7])]
    assert "bread and butter" in quintet("get", "notes with space.md").out


def test_get_of_lines_behind_the_end_finds_nothing(indexed: Path, quintet: Quintet) -> None:
    done = quintet("get", "docs/cache.md:900-901")
    assert (done.code, done.out, done.err) == (1, "", "no passage at docs/cache.md:900-901\n")


def test_forget_says_how_many_documents_went(library: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "none")
    assert quintet("forget", "docs").out == "forgot 2 documents\n"
    assert quintet("forget", "src/store.py").out == "forgot 1 document\n"
    assert (library / "docs" / "keys.md").exists()
    done = quintet("forget", "docs")
    assert (done.code, done.out) == (3, "")
    assert done.err.endswith("[document_not_found]\n")


def test_doctor_has_a_line_for_each_check(indexed: Path, quintet: Quintet) -> None:
    done = quintet("doctor")
    assert done.code == 0
    assert all(line.startswith("ok  ") for line in done.out.splitlines())
    report = json.loads(quintet("doctor", "--json").out)
    assert report["ok"] is True
    assert {"name", "ok", "message"} == set(report["checks"][0])


def test_doctor_fails_with_exit_code_six_when_chunks_cannot_be_searched(
    library: Path, quintet: Quintet
) -> None:
    quintet("index", "--embedder", "none")
    connection = apsw.Connection(str(library / ".quintet" / "index.db"))
    connection.execute("DELETE FROM text_docsize WHERE id = (SELECT max(id) FROM text_docsize)")
    connection.close()
    done = quintet("doctor")
    assert done.code == 6
    assert "!!  text " in done.out
    as_json = quintet("doctor", "--json")
    assert (as_json.code, json.loads(as_json.out)["ok"]) == (6, False)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself_with_an_example(quintet: Quintet, name: str) -> None:
    done = quintet(name, "--help")
    assert done.code == 0
    assert f"  Example:\n    quintet {name}" in done.out
    assert "--db DIR" in done.out


def test_help_lists_every_command_and_is_what_no_arguments_give(quintet: Quintet) -> None:
    done = quintet("--help")
    assert done.code == 0
    assert all(f"\n  {name} " in done.out for name in COMMANDS)
    assert quintet().out == done.out


def test_version_is_the_packages(quintet: Quintet) -> None:
    done = quintet("--version")
    assert (done.code, done.out) == (0, f"quintet {package.__version__}\n")


def test_lines_that_run_backwards_are_refused_with_the_way_to_write_them(
    indexed: Path, quintet: Quintet
) -> None:
    for arguments in (("get", "docs/cache.md:9-5"), ("remember", "x", "--about", "docs/cache.md:9-5")):
        done = quintet(*arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            "quintet: 'docs/cache.md:9-5' ends before it begins; "
            "write the lines as FIRST-LAST, such as 5-9 [invalid_parameter]\n"
        )
