"""Embedding processes: the same bytes, no process left behind, whatever happens to them."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from quintet.embed.local import PARALLEL_TEXTS, LocalEmbedder
from quintet.processes.child import ChildProcess

TEXTS = [f"Sentence number {n} of a text about {'tides ' * (n % 7)}" for n in range(PARALLEL_TEXTS)]

PARENT = """
import sys
from quintet.embed.models import local_embedder
embedder = local_embedder("granite", processes=2)
embedder.embed_documents(["a short text"] * 64)
print(*(process.pid for process in embedder._pool._processes), flush=True)
sys.stdin.read()
"""


def processes(embedder: LocalEmbedder) -> list[ChildProcess]:
    assert embedder._pool is not None
    return embedder._pool._processes


def test_a_few_texts_start_no_process(two_processes: LocalEmbedder) -> None:
    two_processes.embed_documents(["one", "two"])
    assert two_processes._pool is None


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
    assert not any(process.is_alive for process in started)
    two_processes.close()


def test_an_interrupted_call_leaves_no_stale_answer(
    granite: LocalEmbedder, two_processes: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("quintet.processes.child.receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            two_processes.embed_documents(TEXTS)
    other = [text[::-1] for text in TEXTS]
    assert two_processes.embed_documents(other).tobytes() == granite.embed_here(other).tobytes()


def test_batches_are_answered_in_order_while_later_ones_are_begun(
    granite: LocalEmbedder, two_processes: LocalEmbedder
) -> None:
    batches = [TEXTS[start : start + 16] * 2 for start in range(0, len(TEXTS), 16)]
    read: list[int] = []

    def reading() -> Iterator[list[str]]:
        for number, batch in enumerate(batches):
            read.append(number)
            yield batch

    answers = two_processes.embed_batches(reading())
    first = next(answers)
    assert len(read) > 1
    expected = [granite.embed_here(batch).tobytes() for batch in batches]
    assert [first.tobytes(), *(answer.tobytes() for answer in answers)] == expected


def test_batches_that_nobody_waits_for_leave_the_processes_usable(
    granite: LocalEmbedder, two_processes: LocalEmbedder
) -> None:
    answers = two_processes.embed_batches([TEXTS] * 5)
    next(answers)
    answers.close()
    started = processes(two_processes)
    other = [text[::-1] for text in TEXTS]
    assert two_processes.embed_documents(other).tobytes() == granite.embed_here(other).tobytes()
    assert all(process.is_alive for process in started)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process by its descriptor")
def test_processes_end_when_their_parent_is_killed() -> None:
    command = [sys.executable, "-c", PARENT]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdin is not None and parent.stdout is not None
    with parent.stdin, parent.stdout:
        children = [os.pidfd_open(int(number)) for number in parent.stdout.readline().split()]
        assert len(children) == 2
        assert not any(ended(child, within=0) for child in children)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    assert all(ended(child, within=60) for child in children)


def ended(process: int, within: float) -> bool:
    """A process's descriptor becomes readable when it ends."""
    return bool(select.select([process], [], [], within)[0])
