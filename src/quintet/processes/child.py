"""The parent's side of a worker process: start it, exchange messages with it, end it.

This is not `multiprocessing`, which runs the caller's main module again; a plain script does not expect that.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Timer
from typing import IO, cast

from quintet.processes.channel import MAX_BYTES, receive, send

START_SECONDS = 60.0  # for an interpreter to start on a busy machine
EXIT_SECONDS = 5.0  # between the end of a process's output and its exit
# The processes are the parallelism. Threads would also reserve address space, which the sandbox limits.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def can_start_processes() -> bool:
    """False in a program that was frozen into one file: it would start itself again."""
    return bool(sys.executable) and not hasattr(sys, "frozen")


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class NotStarted(Exception):  # noqa: N818
    """A worker process could not be started. The message says which, and why."""


class ChildProcess:
    """A worker process with a pipe to its standard input and one from its standard output.

    What it writes to standard error is dropped, unless it `logs`.
    """

    def __init__(self, command: Sequence[str], *, logs: bool = False) -> None:
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if logs else subprocess.DEVNULL,
                env={**os.environ, **ONE_THREAD},
            )
        except OSError as error:
            raise NotStarted(f"cannot start {' '.join(command)}: {error}") from error
        self._input = cast(IO[bytes], self._process.stdin)
        self._output = cast(IO[bytes], self._process.stdout)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def send(self, message: bytes) -> None:
        """Does nothing if the process is gone: then no answer comes either."""
        with suppress(OSError, ValueError):
            send(self._input, message)

    def receive(self, max_bytes: int = MAX_BYTES) -> bytes | None:
        """The next message; None if the process is gone."""
        return receive(self._output, max_bytes)

    def receive_greeting(self) -> bytes | None:
        """The first message, which says that the process has started."""
        with self.time_limit(START_SECONDS):
            return self.receive()

    @contextmanager
    def time_limit(self, seconds: float) -> Iterator[Event]:
        """Kill the process after `seconds`. The event is set if that happened."""
        expired = Event()

        def expire() -> None:
            expired.set()
            self.kill()

        timer = Timer(seconds, expire)
        timer.daemon = True
        timer.start()
        try:
            yield expired
        finally:
            timer.cancel()
            timer.join()

    def close_input(self) -> None:
        """Tells the process to exit."""
        with suppress(OSError):
            self._input.close()

    def kill(self) -> None:
        self._process.kill()

    def wait(self, seconds: float | None = EXIT_SECONDS) -> int:
        """Wait for the exit of the process, and kill it after `seconds`; returns its exit code."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self.end()

    def end(self) -> int:
        """Kill the process if it is alive, and close its pipes; returns its exit code."""
        self.close_input()
        if self.is_alive:
            self.kill()
        code = self._process.wait()
        self._output.close()
        return code


def describe_exit(code: int) -> str:
    """
    >>> describe_exit(3), describe_exit(-9)
    ('exit code 3', 'signal SIGKILL')
    """
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
