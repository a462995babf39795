"""The parent's side of a worker process, with real processes."""

import sys

import pytest

from quintet.processes.child import ChildProcess, NotStarted

ECHO = """
import sys
from quintet.processes.channel import receive, send
from quintet.processes.worker import open_answers
answers = open_answers()
print("a library prints this")
while (message := receive(sys.stdin.buffer)) is not None:
    send(answers, message[::-1])
"""
WAIT = """
import signal
from quintet.processes.worker import receive_in_background
receive_in_background()
signal.pause()
"""


def child(code: str) -> ChildProcess:
    return ChildProcess([sys.executable, "-P", "-c", code])


def test_a_worker_answers_until_its_input_is_closed() -> None:
    process = child(ECHO)
    process.send(b"abc")
    assert process.receive_greeting() == b"cba"
    process.send(b"xyz")
    assert process.receive() == b"zyx"
    assert process.is_alive
    process.close_input()
    assert process.wait(seconds=None) == 0
    assert not process.is_alive


def test_a_worker_that_is_busy_ends_when_its_input_is_closed() -> None:
    process = child(WAIT)
    process.close_input()
    assert process.wait(seconds=None) == 0


def test_a_message_to_a_dead_process_is_dropped_and_no_answer_comes() -> None:
    process = child("raise SystemExit(3)")
    assert process.receive() is None
    process.send(b"x" * 1_000_000)
    assert process.wait() == 3
    process.send(b"its pipe is closed")


def test_ending_a_process_kills_it() -> None:
    process = child(ECHO)
    assert process.end() < 0
    assert not process.is_alive


def test_a_process_that_does_not_exit_is_killed_after_a_while() -> None:
    process = child(ECHO)
    assert process.wait(seconds=0) < 0


def test_a_time_limit_kills_the_process_and_says_so() -> None:
    process = child(ECHO)
    with process.time_limit(0) as expired:
        assert process.receive() is None
    assert expired.is_set()
    process.end()


def test_a_time_limit_that_is_kept_does_nothing() -> None:
    process = child(ECHO)
    with process.time_limit(600) as expired:
        process.send(b"abc")
        assert process.receive() == b"cba"
    assert not expired.is_set()
    process.end()


def test_a_program_that_is_missing_is_not_started() -> None:
    with pytest.raises(NotStarted, match="cannot start no such program"):
        ChildProcess(["no such program"])
