"""Exit codes and error messages: one line or one JSON document, never a traceback."""

import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import apsw
import numpy as np
import pytest
from filelock import FileLock

import quintet as package
from cli.conftest import Done, Quintet, command


class Embedder:
    """Vectors that no name loads."""

    identity = "tests-own-4"
    dimensions = 4

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 4))

    def embed_query(self, text: str) -> np.ndarray:
        return np.ones(4)


def one_line(done: Done) -> str:
    assert done.out == ""
    assert done.err.startswith("quintet: ")
    assert done.err.count("\n") == 1
    return done.err


@pytest.mark.parametrize(
    "arguments", [("search", "x"), ("status",), ("get", "x"), ("forget", "x"), ("doctor",)]
)
def test_without_an_index_anywhere_above_the_exit_code_is_three_and_says_what_to_do(
    tmp_path: Path, quintet: Quintet, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = quintet(*arguments)
    assert done.code == 3
    assert "'quintet index'" in one_line(done)
    named = quintet(*arguments, "--db", str(tmp_path / "nowhere"))
    assert named.code == 3
    assert "'quintet index'" in one_line(named)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("search",),
        ("search", "x", "--colour"),
        ("get", "x", "y"),
        ("serch", "x"),
        ("--colour",),
        ("get",),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_two(
    quintet: Quintet, arguments: tuple[str, ...]
) -> None:
    done = quintet(*arguments)
    assert done.code == 2
    assert "--help'" in one_line(done)
    assert done.err.endswith("[invalid_parameter]\n")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (("search", "--json"), 2, "invalid_parameter"),
        (("search", " ", "--json"), 2, "bad_query"),
        (("get", "no/such.md", "--json"), 3, "document_not_found"),
        (("search", "x", "--contract", "knowledge", "--param", "index=none", "--json"), 3, "unknown_index"),
        (("index", "no/such/folder", "--json"), 2, "invalid_path"),
    ],
)
def test_with_json_an_error_is_one_document_on_standard_output(
    indexed: Path, quintet: Quintet, arguments: tuple[str, ...], exit_code: int, code: str
) -> None:
    done = quintet(*arguments)
    error = json.loads(done.out)["error"]
    assert (done.code, done.err) == (exit_code, "")
    assert error["code"] == code
    assert set(error) == {"code", "message", "details"}


def test_another_embedder_than_the_indexs_own_is_exit_code_four(library: Path, quintet: Quintet) -> None:
    with package.open(library / ".quintet", embedder=Embedder()) as index:
        index.sync([library])
    for arguments in (("index", "--embedder", "hashing"), ("index",)):
        done = quintet(*arguments)
        assert done.code == 4
        assert "tests-own-4" in one_line(done)
        assert done.err.endswith("[index_mismatch]\n")


def test_a_writer_that_is_busy_is_exit_code_four(
    library: Path, quintet: Quintet, monkeypatch: pytest.MonkeyPatch
) -> None:
    quintet("index", "--embedder", "none")
    monkeypatch.setenv("QUINTET_WRITER_TIMEOUT", "0")
    with FileLock(library / ".quintet" / "writer.lock"):
        done = quintet("index", "--embedder", "none")
    assert done.code == 4
    assert one_line(done).endswith("[busy_writer]\n")


@pytest.mark.parametrize(
    "arguments", [("search", "x"), ("status",), ("doctor",), ("index", "--embedder", "none")]
)
def test_a_file_that_is_no_database_is_exit_code_six(
    library: Path, quintet: Quintet, arguments: tuple[str, ...]
) -> None:
    (library / ".quintet").mkdir()
    (library / ".quintet" / "index.db").write_bytes(b"this is no database at all" * 100)
    done = quintet(*arguments)
    assert done.code == 6
    assert one_line(done).endswith("[store_failed]\n")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
def test_ctrl_c_is_exit_code_130_and_says_what_is_kept(
    library: Path, quintet: Quintet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run waits for a lock that is never freed, so the interrupt always finds it at work."""
    quintet("index", "--embedder", "none")
    monkeypatch.setenv("QUINTET_WRITER_TIMEOUT", "3600")

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with FileLock(library / ".quintet" / "writer.lock"):
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            done = quintet("index", "--embedder", "none")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert done.code == 130
    kept = "what was committed is kept, and the same command goes on from there"
    assert one_line(done) == f"quintet: interrupted; {kept}\n"


def test_a_fault_of_ours_asks_to_be_reported_and_shows_its_trace_only_when_asked(
    indexed: Path, quintet: Quintet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("the moon\nis full")

    monkeypatch.setattr(apsw, "Connection", broken)
    done = quintet("search", "x")
    assert done.code == 70
    assert "unexpected RuntimeError: the moon\\nis full; please report this" in one_line(done)
    assert json.loads(quintet("search", "x", "--json").out)["error"]["code"] == "internal_error"
    monkeypatch.setenv("QUINTET_DEBUG", "1")
    assert "Traceback (most recent call last)" in quintet("search", "x").err


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the current folder")
def test_a_current_folder_that_is_gone_is_one_line(
    tmp_path: Path, quintet: Quintet, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for arguments in (("search", "x"), ("index",)):
        done = quintet(*arguments)
        assert done.code == 2
        assert one_line(done).endswith("[invalid_path]\n")


def test_exit_codes_reach_the_shell(shelf: Path, tmp_path: Path) -> None:
    assert command("search", "cache", cwd=shelf).code == 0
    assert command("search", "zeppelin", "--mode", "lexical", cwd=shelf).code == 1
    assert command("search", cwd=shelf).code == 2
    assert command("search", "cache", cwd=tmp_path).code == 3


def test_a_query_that_begins_with_a_dash_is_told_how_to_be_asked(library: Path, quintet: Quintet) -> None:
    done = quintet("search", "-cache")
    assert done.code == 2
    assert "put -- before text that begins with -" in done.err
    assert "put --" not in quintet("search", "cache", "--limt", "3").err
