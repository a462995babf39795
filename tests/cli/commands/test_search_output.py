"""What `quintet search` prints for people in a hurry and for other programs."""

import json
from pathlib import Path

import pytest

from cli.conftest import Quintet, command

FILES = {
    "git/merge.md": "# Merge\n\nHow to merge a branch.\n\n## More\n\nMerge again.\n",
    "code/m.py": "merge = 1\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two roots, one of them outside the current folder."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "git" / ".quintet").mkdir()
    monkeypatch.chdir(tmp_path / "git")
    return tmp_path


@pytest.fixture
def indexed(project: Path, quintet: Quintet) -> Path:
    assert quintet("index", ".", "../code", "--embedder", "hashing").code == 0
    return project


def test_several_words_need_no_quotes(indexed: Path, quintet: Quintet) -> None:
    assert quintet("search", "how", "to", "merge", "-n", "1") == quintet(
        "search", "how to merge", "--limit", "1"
    )
    assert "How to merge a branch." in quintet("search", "how", "to", "merge").out
    assert quintet("context", "how", "to", "merge") == quintet("context", "how to merge")
    assert quintet("search-all", "how", "to", "merge", "-n", "1").code == 0
    quintet("remember", "merge with care")
    assert "merge with care" in quintet("recall", "merge", "care", "-n", "1").out


def test_files_are_printed_once_each_as_a_shell_opens_them(indexed: Path, quintet: Quintet) -> None:
    paths = quintet("search", "merge", "--files").out.splitlines()
    assert sorted(paths) == sorted(["merge.md", str(indexed / "code" / "m.py")])
    assert all(Path(path).is_file() for path in paths)


@pytest.mark.parametrize("contract", ["quintet", "knowledge", "harness"])
def test_each_result_is_a_line_of_json(indexed: Path, quintet: Quintet, contract: str) -> None:
    whole = json.loads(quintet("search", "merge", "--contract", contract, "--json").out)
    (call,) = whole.get("retrieval_calls", [whole])
    lines = quintet("search", "merge", "--contract", contract, "--jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == call["results"]


def test_two_forms_at_once_are_refused(indexed: Path, quintet: Quintet) -> None:
    done = quintet("search", "merge", "--files", "--jsonl")
    assert (done.code, done.out) == (2, "")
    assert "--files and --jsonl were given; choose one of them" in done.err


def test_a_shell_completes_commands(project: Path) -> None:
    asked = {"_QUINTET_COMPLETE": "complete_bash", "COMP_WORDS": "quintet sea", "COMP_CWORD": "1"}
    assert command(cwd=project, **asked).out.split() == ["search", "search-all"]
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # no matter which shell runs the tests
    assert "complete" in command("--show-completion", "bash", cwd=project, **named).out


def test_a_document_whose_library_is_missing_is_a_problem_of_the_run(project: Path, tmp_path: Path) -> None:
    (tmp_path / "without" / "docx").mkdir(parents=True)
    (tmp_path / "without" / "docx" / "__init__.py").write_text(
        "raise ModuleNotFoundError('no docx', name='docx')\n", "utf-8"
    )
    (project / "git" / "letter.docx").write_bytes(b"PK\3\4")
    done = command("index", "--embedder", "none", cwd=project / "git", PYTHONPATH=str(tmp_path / "without"))
    assert ", 1 with problems in " in done.out
    assert "warning: letter.docx: needs the library docx" in done.err
    assert "pip install 'quintet[documents]'" in done.err


def test_watch_fails_before_it_says_that_it_watches(indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "watchfiles.py").write_text("raise ImportError('none')\n", "utf-8")
    for words in (["watch"], ["mcp", "--watch"]):
        done = command(*words, cwd=indexed / "git", PYTHONPATH=str(tmp_path / "without"))
        assert done.code != 0
        assert "watching needs watchfiles" in done.err
        assert "watching /" not in done.err
