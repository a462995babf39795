"""Worker processes end with their parent, however it ends and however busy they are."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import quintet
from processes.waiting import children, gone

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process by its descriptor")

# Each parent keeps its workers busy for many minutes, and names them once they have their work.
EMBEDDING = """
from quintet.embed.models import local_embedder
from quintet.processes.child import ChildProcess
embedder = local_embedder("granite", processes=2)
workers = embedder._start_pool()._processes
wait_for_answer = ChildProcess.receive
def receive(process):
    print(*(worker.pid for worker in workers), flush=True)
    return wait_for_answer(process)
ChildProcess.receive = receive
embedder.embed_documents(["a long text about tides " * 20_000] * 64)
"""
PARSING = """
import sys
from quintet.formats.sandbox.parent import ParseLimits, Sandbox
from quintet.processes.child import ChildProcess
code = '''
import sys
from quintet.formats.sandbox.child import main
def busy(path, data, pages):
    while True:
        pass
main(int(sys.argv[1]), busy)
'''
sandbox = Sandbox(ParseLimits(3600, 0, 10), [sys.executable, "-P", "-c", code])
sandbox._process = sandbox._start()
wait_for_answer = ChildProcess.receive
def receive(process, max_bytes):
    print(process.pid, flush=True)
    return wait_for_answer(process, max_bytes)
ChildProcess.receive = receive
sandbox.parse("a.pdf", b"data")
"""
SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGKILL]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("code", [EMBEDDING, PARSING], ids=["embedding", "parsing"])
def test_busy_workers_end_when_their_parent_is_ended(code: str, number: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert parent.stdout is not None
    with parent.stdout:
        workers = [int(pid) for pid in parent.stdout.readline().split()]
        assert workers
        parent.send_signal(number)
        parent.wait()
    assert all(gone(pid) for pid in workers)


def embedded(folder: Path) -> int:
    connection = apsw.Connection(str(folder / "index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(60_000)
    try:
        return int(connection.execute("SELECT count(*) FROM vectors").get)
    finally:
        connection.close()


def make_notes(folder: Path) -> Path:
    """Notes that are embedded in many batches."""
    (folder / "notes").mkdir()
    (folder / "quintet.toml").write_text("embed_batch = 64\n", "utf-8")
    for number in range(1_000):
        words = " ".join(f"word{number}x{place} of the tide" for place in range(8))
        (folder / "notes" / f"{number}.md").write_text(f"# Note {number}\n\n{words}\n", "utf-8")
    return folder / "notes"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_run_that_is_ended_while_it_embeds_keeps_what_was_embedded_and_leaves_no_process(
    tmp_path: Path, number: signal.Signals
) -> None:
    notes = make_notes(tmp_path)
    command = [sys.executable, "-m", "quintet", "index", str(notes), "--db", str(tmp_path / "index")]
    run = subprocess.Popen([*command, "--embedder", "granite"], stderr=subprocess.PIPE)
    assert run.stderr is not None
    with run.stderr:
        while not (tmp_path / "index/index.db").exists() or not _has_vectors(tmp_path / "index"):
            assert run.poll() is None
        workers = children(run.pid)
        before = embedded(tmp_path / "index")
        run.send_signal(number)
        said = run.stderr.read().decode()
    assert run.wait() == 128 + number, said
    assert (
        "what was committed is kept" if number == signal.SIGTERM else "of 1,000 chunks are embedded"
    ) in said
    assert len(workers) >= 2
    assert all(gone(pid) for pid in workers)
    with quintet.open(tmp_path / "index", create=False) as index:
        counts = index.status()
        assert before <= counts.embedded < counts.chunks
        assert all(check.ok for check in index.doctor() if check.name != "vectors")


def _has_vectors(folder: Path) -> bool:
    try:
        return embedded(folder) > 0
    except apsw.Error:  # not made yet
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_server_that_embeds_stops_at_the_first_signal_and_keeps_what_was_embedded(
    tmp_path: Path, number: signal.Signals
) -> None:
    notes = make_notes(tmp_path)
    with quintet.open(tmp_path / ".quintet", "granite") as index:
        index.sync([notes], embed=False)
    server = subprocess.Popen(
        [sys.executable, "-m", "quintet", "serve", "--port", "0", "--watch"],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
    )
    while not embedded(tmp_path / ".quintet"):
        assert server.poll() is None
    workers, before = children(server.pid), embedded(tmp_path / ".quintet")
    server.send_signal(number)
    assert server.wait(60) == 0
    assert len(workers) >= 2
    assert all(gone(pid) for pid in workers)
    with quintet.open(tmp_path / ".quintet", create=False) as index:
        counts = index.status()
        assert before <= counts.embedded < counts.chunks
