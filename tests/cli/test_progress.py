"""An index run says what it has done, and an interrupt keeps it: a real process and a real signal."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

import quintet
from cli.conftest import command, environment, on_terminal, words
from embed.server import Answer, Asked, running, vectors
from quintet.cli.progress import SECONDS_BETWEEN_LINES, PlainLines

CHUNKS = 300
PATIENCE = 120

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    lines = [json.dumps(f"The lantern of house {number} burns.") + "\n" for number in range(CHUNKS)]
    (tmp_path / "notes.jsonl").write_text("".join(lines), "utf-8")
    return tmp_path


@contextmanager
def stalling_server() -> Iterator[dict[str, str]]:
    """The environment of a remote embedder that answers queries and two batches, but not the third."""
    released = Event()
    batches = iter(range(CHUNKS))

    def answer(asked: Asked) -> Answer:
        if len(asked.body["input"]) > 1 and next(batches) >= 2:
            released.wait()
        return vectors(asked)

    with running() as server:
        server.usual = answer
        try:
            yield {
                "QUINTET_REMOTE_URL": server.url,
                "QUINTET_REMOTE_MODEL": "small",
                "QUINTET_REMOTE_DIMENSIONS": "3",
            }
        finally:
            released.set()


@contextmanager
def started(*arguments: str, cwd: Path, **changes: str) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        words(arguments),
        cwd=cwd,
        env=environment(**changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def next_line(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    return process.stderr.readline()


@posix
def test_while_embedding_goes_on_text_is_found_and_an_interrupt_keeps_what_is_embedded(notes: Path) -> None:
    with stalling_server() as remote:
        with started("index", "--embedder", "remote", cwd=notes, **remote) as process:
            announced = next_line(process)
            assert announced.startswith("text searchable after ")
            assert f"; embedding {CHUNKS} chunks; Ctrl-C is safe" in announced
            moving = next_line(process)
            assert moving.startswith(f"embed: 128 of {CHUNKS} chunks, ")
            assert "/s, about " in moving

            found = command("search", "lantern of house 299", "--limit", "1", "--json", cwd=notes, **remote)
            answer = json.loads(found.out)
            assert "house 299 burns" in answer["results"][0]["content"]
            assert [note["code"] for note in answer["notes"]] == ["partly_embedded"]

            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out) == (130, "")
        assert said == (
            f"quintet: interrupted; text is searchable, 128 of {CHUNKS} chunks are embedded, "
            "and the same command embeds the rest\n"
        )
    with running() as server:
        done = command("index", cwd=notes, **{**remote, "QUINTET_REMOTE_URL": server.url})
    assert done.code == 0, done.err
    assert f"{CHUNKS - 128} embedded, 0 pending" in done.out


@posix
def test_an_interrupt_of_all_processes_of_the_group_keeps_what_they_embedded(notes: Path) -> None:
    """As Ctrl-C on a terminal does: the signal reaches the embedding processes as well."""
    with started("index", "--embedder", "granite", cwd=notes, QUINTET_EMBED_BATCH="32") as process:
        assert next_line(process).startswith("text searchable after ")
        assert next_line(process).startswith("embed: ")
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert said.startswith("quintet: interrupted; text is searchable, ")
    kept = int(said.split(" of ")[0].rsplit(" ", 1)[1])
    with quintet.open(notes / ".quintet") as index:
        assert 64 <= kept == index.status().embedded < CHUNKS
        assert index.sync().embedded == CHUNKS - kept
        assert index.status().embedded == CHUNKS


def test_a_terminal_shows_the_same_with_a_bar(notes: Path) -> None:
    shown = on_terminal("index", "--embedder", "hashing", cwd=notes).out
    assert "text searchable after " in shown
    assert f"embedding {CHUNKS} chunks; Ctrl-C is safe, the rest goes on next time" in shown
    assert f"0/{CHUNKS}" in shown
    assert f"{CHUNKS}/{CHUNKS}" in shown


@pytest.mark.parametrize("arguments", [("--no-wait",), ("--json",), ("--embedder", "none")])
def test_nothing_is_announced_where_nothing_is_embedded_or_json_is_asked_for(
    notes: Path, arguments: tuple[str, ...]
) -> None:
    embedder = () if "--embedder" in arguments else ("--embedder", "hashing")
    done = command("index", *arguments, *embedder, cwd=notes)
    assert (done.code, done.err) == (0, "")


def test_a_run_of_a_few_chunks_says_nothing_on_standard_error(library: Path) -> None:
    assert command("index", "--embedder", "hashing", cwd=library).err == ""


Said = tuple[list[str], Callable[[float, str, int, int], None]]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def said(clock: Clock) -> Said:
    lines: list[str] = []
    listen = PlainLines(lines.append, clock)

    def report(seconds: float, stage: str, done: int, total: int) -> None:
        clock.now += seconds
        listen(stage, done, total)

    return lines, report


def test_the_speed_does_not_count_the_time_to_load_a_model(said: Said) -> None:
    lines, report = said
    report(0, "embed", 0, 1000)
    report(60, "embed", 64, 1000)
    assert lines == []
    report(2, "embed", 164, 1000)
    assert lines == ["embed: 164 of 1,000 chunks, 50/s, about 17 s left"]


def test_a_line_comes_every_ten_seconds_and_none_at_the_end(said: Said) -> None:
    lines, report = said
    report(0, "embed", 0, 100)
    for done in range(1, 101):
        report(SECONDS_BETWEEN_LINES / 10, "embed", done, 100)
    assert [line.split()[1] for line in lines] == [str(done) for done in range(2, 100, 10)]


def test_each_stage_has_a_speed_of_its_own(said: Said) -> None:
    lines, report = said
    report(0, "text", 256, 1024)
    report(1, "text", 512, 1024)
    report(100, "embed", 0, 100)
    report(1, "embed", 10, 100)
    report(1, "embed", 20, 100)
    assert lines == [
        "text: 512 of 1,024 files, 256/s, about 2.0 s left",
        "embed: 20 of 100 chunks, 10/s, about 8.0 s left",
    ]


def test_a_stage_that_does_not_move_has_no_time_left_to_tell(said: Said) -> None:
    lines, report = said
    report(0, "text", 256, 1024)
    report(1, "text", 256, 1024)
    assert lines == ["text: 256 of 1,024 files, 0/s"]
