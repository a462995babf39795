"""Embedding processes: the same bytes, no process left behind, whatever happens to them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from quintet.embed.local import WORTH_PROCESSES, LocalEmbedder

TEXTS = [f"Sentence number {n} of a text about {'tides ' * (n % 7)}" for n in range(WORTH_PROCESSES)]

PARENT = """
import sys, time
from quintet.embed.models import local_embedder
embedder = local_embedder("granite", processes=2)
embedder.embed_documents(["a short text"] * 64)
print(*(process.pid for process in embedder._workers._processes), flush=True)
time.sleep(60)
"""


def processes(embedder: LocalEmbedder) -> "list[subprocess.Popen[bytes]]":
    assert embedder._workers is not None
    return embedder._workers._processes


def test_a_few_texts_start_no_process(two_processes: LocalEmbedder) -> None:
    two_processes.embed_documents(["one", "two"])
    assert two_processes._workers is None


def test_a_killed_process_changes_nothing_and_closing_leaves_none(
    granite: LocalEmbedder, two_processes: LocalEmbedder
) -> None:
    expected = granite.embed_here(TEXTS).tobytes()
    assert two_processes.embed_documents(TEXTS).tobytes() == expected
    started = processes(two_processes)
    assert len(started) == 2
    started[0].kill()
    assert two_processes.embed_documents(TEXTS).tobytes() == expected
    assert processes(two_processes) is started
    two_processes.close()
    assert all(process.returncode is not None for process in started)
    two_processes.close()


def test_an_interrupted_call_leaves_no_stale_answer(
    granite: LocalEmbedder, two_processes: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quintet.embed import workers

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(workers, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            two_processes.embed_documents(TEXTS)
    other = [text[::-1] for text in TEXTS]
    assert two_processes.embed_documents(other).tobytes() == granite.embed_here(other).tobytes()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="asks /proc whether a process lives")
def test_processes_end_when_their_parent_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        children = [int(number) for number in parent.stdout.readline().split()]
    assert len(children) == 2
    assert all(alive(child) for child in children)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 20
    while any(alive(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(alive(child) for child in children)


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"
