"""Examine files in several processes. Results come in the order of the files.

Messages are pickles in both directions: these processes run our own code, on the same files. Binary formats
are parsed in a sandbox below each of them, which answers in JSON.
"""

import pickle
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import cast

from quintet.errors import QuintetError
from quintet.indexing.batches import batches
from quintet.indexing.examine import Examination, Refusal, Task, identity
from quintet.indexing.files import DiskFile
from quintet.processes.child import (
    ChildProcess,
    NotStarted,
    can_start_processes,
    cores,
    describe_exit,
)
from quintet.settings import Settings

COMMAND = (sys.executable, "-P", "-m", "quintet.indexing.worker")
MAX_PROCESSES = 8  # on any machine: a single process writes what they all read
LARGE_BYTES = 4_000_000  # to read: it pays to start processes for so much, or
MANY_FILES = 2_000  # for so many files
GROUP_BYTES, GROUP_FILES = 256_000, 64
GROUPS_AHEAD = 32  # groups being examined or waiting for the writer: what one transaction takes


def process_count(settings: Settings, files: Sequence[DiskFile]) -> int:
    """How many processes to use for these files: the setting, otherwise by the amount of work and the
    cores."""
    if not can_start_processes():
        return 1
    if settings.processes:
        return max(1, min(settings.processes, len(files)))
    large = len(files) >= MANY_FILES or sum(file.size for file in files) >= LARGE_BYTES
    return min(cores(), MAX_PROCESSES) if large else 1


class ExaminerPool:
    """Use as a context manager; entering it may raise `NotStarted`. `command` is for tests."""

    def __init__(self, count: int, settings: Settings, force: bool, command: Sequence[str] = COMMAND) -> None:
        configuration = pickle.dumps((settings, force))
        self._examiners = [_ExaminerProcess(command, configuration) for _ in range(count)]
        self._idle: SimpleQueue[_ExaminerProcess] = SimpleQueue()
        self._threads = ThreadPoolExecutor(count)  # each waits for one process
        self._closed = False

    def __enter__(self) -> "ExaminerPool":
        try:
            for examiner in self._examiners:
                examiner.start()
            for examiner in self._examiners:
                examiner.greet()
                self._idle.put(examiner)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        self._closed = True
        for examiner in self._examiners:
            examiner.close_input()  # ends the wait of its thread
        self._threads.shutdown(cancel_futures=True)
        for examiner in self._examiners:
            examiner.wait()

    def each(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Examination]]:
        """Every task with its result, in the order of the tasks."""
        pending: deque[tuple[list[Task], Future[list[Examination]]]] = deque()
        for group in batches(tasks, lambda task: task.file.size, GROUP_FILES, GROUP_BYTES):
            pending.append((group, self._threads.submit(self._examine, group)))
            if len(pending) >= GROUPS_AHEAD:
                yield from _pairs(*pending.popleft())
        while pending:
            yield from _pairs(*pending.popleft())

    def _examine(self, tasks: Sequence[Task], *, again: bool = False) -> list[Examination]:
        """Give the tasks to any idle process. If it dies, repeat them one by one: one file may have crashed
        it, or somebody killed it for another reason."""
        if self._closed:
            return []
        examiner = self._idle.get()
        try:
            answer = examiner.ask(tasks)
            exit_reason = "" if answer is not None else examiner.wait()
        except NotStarted as error:  # it died before and could not be restarted
            raise QuintetError(str(error)) from error
        finally:
            self._idle.put(examiner)
        if isinstance(answer, str):
            raise QuintetError(f"a process that examines files failed; this is a bug in Quintet:\n{answer}")
        if answer is not None or self._closed:
            return answer or []
        if again:
            return [Refusal(f"made its parser crash ({exit_reason}): it is damaged or hostile")]
        return [result for task in tasks for result in self._examine([task], again=True)]


def _pairs(tasks: Sequence[Task], results: "Future[list[Examination]]") -> Iterator[tuple[Task, Examination]]:
    return zip(tasks, results.result(), strict=True)


class _ExaminerProcess:
    """One process of the pool. If it died, the next question starts it again."""

    def __init__(self, command: Sequence[str], configuration: bytes) -> None:
        self._command = command
        self._configuration = configuration
        self._process: ChildProcess | None = None

    def start(self) -> None:
        self._process = ChildProcess(self._command)

    def greet(self) -> None:
        """Send the configuration, and wait until the process has started."""
        process = cast(ChildProcess, self._process)
        process.send(self._configuration)
        greeting = process.receive_greeting()
        if greeting != identity():
            self.close_input()
            reason = self.wait() if greeting is None else f"{self.wait()}, another version of Quintet"
            raise NotStarted(f"a worker process does not start ({reason}): {' '.join(self._command)}")

    def ask(self, tasks: Sequence[Task]) -> list[Examination] | str | None:
        """The results, or the traceback of a bug; None if the process died."""
        if self._process is None:
            self.start()
            self.greet()
        process = cast(ChildProcess, self._process)
        process.send(pickle.dumps(tasks))
        answer = process.receive()
        return None if answer is None else cast("list[Examination] | str", pickle.loads(answer))

    def close_input(self) -> None:
        """Ends the process, whatever it is doing."""
        if self._process is not None:
            self._process.close_input()

    def wait(self) -> str:
        """Wait for the exit of the process; returns how it ended."""
        process, self._process = self._process, None
        return "" if process is None else describe_exit(process.wait())
