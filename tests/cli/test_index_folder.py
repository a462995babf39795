"""Commands that make an index where there is none say so; those that cannot want that refuse."""

from pathlib import Path

import pytest

from cli.conftest import Quintet
from quintet.cli.commands.serve import open_shared_index

MADE = "there was no index in {}, so an empty one was created\n"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place without an index, in the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "typo"


def test_a_command_that_makes_an_index_says_where(nowhere: Path, quintet: Quintet) -> None:
    (nowhere.parent / "none.jsonl").touch()
    for said in (MADE.format(nowhere), ""):
        done = quintet("memory", "import", "none.jsonl", "--db", str(nowhere))
        assert (done.code, done.err) == (0, said)
    made = quintet("kb", "create", "faq", "--db", str(nowhere.parent / "other"))
    assert (made.code, made.err) == (0, MADE.format(nowhere.parent / "other"))


def test_a_server_that_makes_an_index_says_where(nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for said in (MADE.format(nowhere), ""):
        with open_shared_index(nowhere, None) as service:
            assert service.folder == nowhere
        assert capsys.readouterr().err == said


def test_reembedding_where_there_is_no_index_makes_none(nowhere: Path, quintet: Quintet) -> None:
    done = quintet("index", "--reembed", "--embedder", "hashing", "--db", str(nowhere))
    assert (done.code, done.out) == (3, "")
    assert "there is no index" in done.err
    assert not nowhere.exists()


def test_keys_are_not_put_into_a_folder_that_is_no_index(nowhere: Path, quintet: Quintet) -> None:
    nowhere.mkdir()
    done = quintet("keys", "add", "laptop", "--db", str(nowhere))
    assert (done.code, done.out) == (3, "")
    assert list(nowhere.iterdir()) == []


def test_lists_that_are_empty_say_so(library: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "none")
    for arguments in (("kb", "list"), ("keys", "list")):
        done = quintet(*arguments)
        assert (done.code, done.out) == (0, "")
        assert done.err.startswith("there are no k")
    quintet("kb", "create", "faq")
    done = quintet("kb", "documents", "faq")
    assert (done.code, done.out, done.err) == (0, "", "there are no documents\n")
