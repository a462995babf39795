"""Examine files in several processes. What comes out comes in the order of the files, whoever was first.

Pickles go both ways: these processes run what
would otherwise run here, on the same files. What parses binary formats is below them, and answers in JSON.
"""

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType
from typing import cast

from quintet.errors import QuintetError
from quintet.indexing.examine import Examination, Refusal, Task, identity
from quintet.indexing.files import DiskFile
from quintet.processes.channel import (
    START_SECONDS,
    ended,
    in_words,
    input_of,
    killed_after,
    output_of,
    receive,
    send,
)
from quintet.settings import Settings

COMMAND = (sys.executable, "-P", "-m", "quintet.indexing.worker")
MOST = 8  # processes, however many processors there are: one writes what they all find
MUCH = 4_000_000  # bytes to read for which it pays to start processes, or
MANY = 2_000  # files
GROUP_BYTES, GROUP_FILES = 256_000, 64
AHEAD = 32  # groups that are examined or wait to be taken: what one transaction takes


def process_count(settings: Settings, files: Sequence[DiskFile]) -> int:
    """Processes for these files: as many as was said, else by what there is to do and to do it with."""
    if not can_start_processes():
        return 1
    if settings.processes:
        return max(1, min(settings.processes, len(files)))
    much = len(files) >= MANY or sum(file.size for file in files) >= MUCH
    return min(_processors(), MOST) if much else 1


def can_start_processes() -> bool:
    """Not from a program that was frozen into one file: that would start itself."""
    return bool(sys.executable) and not hasattr(sys, "frozen")


def _processors() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class NotStarted(Exception):  # noqa: N818
    """There are no further processes to be had."""


class ExaminerPool:
    """Use as a context manager; entering may raise `NotStarted`. `command` is for tests."""

    def __init__(self, count: int, settings: Settings, force: bool, command: Sequence[str] = COMMAND) -> None:
        about = pickle.dumps((settings, force))
        self._processes = [_Process(command, about) for _ in range(count)]
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._threads = ThreadPoolExecutor(count)  # each waits for one process
        self._closed = False

    def __enter__(self) -> "ExaminerPool":
        try:
            for process in self._processes:
                process.start()
            for process in self._processes:
                process.greet()
                self._idle.put(process)
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
        for process in self._processes:
            process.leave()  # so that a thread which waits for it goes on
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.buried()

    def each(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Examination]]:
        """Every task with its outcome, in the order of the tasks."""
        waiting: deque[tuple[list[Task], Future[list[Examination]]]] = deque()
        for group in _groups(tasks):
            waiting.append((group, self._threads.submit(self._examined, group)))
            if len(waiting) >= AHEAD:
                yield from _paired(*waiting.popleft())
        while waiting:
            yield from _paired(*waiting.popleft())

    def _examined(self, tasks: Sequence[Task], *, again: bool = False) -> list[Examination]:
        """By any of the processes. If it dies, the files are given again, one by one: it may have been killed
        for something else."""
        if self._closed:
            return []
        process = self._idle.get()
        try:
            answer = process.ask(tasks)
            how = "" if answer is not None else process.buried()
        except NotStarted as error:  # it had to be started anew
            raise QuintetError(str(error)) from error
        finally:
            self._idle.put(process)
        if isinstance(answer, str):
            raise QuintetError(f"a process that examines files failed, which is our fault:\n{answer}")
        if answer is not None or self._closed:
            return answer or []
        if again:
            return [Refusal(f"made its parser crash ({how}): it is damaged or hostile")]
        return [outcome for task in tasks for outcome in self._examined([task], again=True)]


def _groups(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    group: list[Task] = []
    size = 0
    for task in tasks:
        group.append(task)
        size += task.file.size
        if len(group) >= GROUP_FILES or size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _paired(tasks: Sequence[Task], found: "Future[list[Examination]]") -> Iterator[tuple[Task, Examination]]:
    return zip(tasks, found.result(), strict=True)


class _Process:
    """One of them. It is started anew if it is asked after it died."""

    def __init__(self, command: Sequence[str], about: bytes) -> None:
        self._command = command
        self._about = about
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise NotStarted(f"cannot start {' '.join(self._command)}: {error}") from error

    def greet(self) -> None:
        """Wait until it is there."""
        process = cast("subprocess.Popen[bytes]", self._process)
        with killed_after(START_SECONDS, process):
            with suppress(OSError):  # it is gone: so is its answer
                send(input_of(process), self._about)
            name = receive(output_of(process))
        if name != identity():
            self.leave()
            how = self.buried() if name is None else f"{self.buried()}, another Quintet"
            raise NotStarted(f"this does not start ({how}): {' '.join(self._command)}")

    def ask(self, tasks: Sequence[Task]) -> list[Examination] | str | None:
        """The outcomes, or what went wrong apart from the files; None if it died."""
        if self._process is None:
            self.start()
            self.greet()
        process = cast("subprocess.Popen[bytes]", self._process)
        with suppress(OSError, ValueError):
            send(input_of(process), pickle.dumps(tasks))
        answer = receive(output_of(process))
        return None if answer is None else cast("list[Examination] | str", pickle.loads(answer))

    def leave(self) -> None:
        """Close its input, which ends it, whatever it is doing."""
        process = self._process
        if process is not None:
            with suppress(OSError):
                input_of(process).close()

    def buried(self) -> str:
        """How it ended."""
        process, self._process = self._process, None
        return "" if process is None else in_words(ended(process))
