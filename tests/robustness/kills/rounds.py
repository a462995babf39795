"""One round: a forked process works on a copy, until it is killed."""

import os
import random
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NoReturn, Protocol

import apsw

COUNTED = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate"})


class Work(Protocol):
    """Something that writes. `before` in the base folder is what it starts from."""

    name: str

    def prepare(self, base: Path) -> None: ...

    def do(self, base: Path, place: Path, acknowledge: Callable[[str], None]) -> None:
        """In a process of its own. What is acknowledged must outlive it."""
        ...

    def check(self, base: Path, place: Path, acknowledged: list[str]) -> None:
        """Fails if something is lost, half or not ready, or cannot be completed."""
        ...


@dataclass(frozen=True)
class Ended:
    acknowledged: list[str]
    moments: int  # of an undisturbed process: statements of SQLite and changes of files
    seconds: float


def run(work: Work, base: Path, place: Path, moment: int = 0, after: float | None = None) -> Ended:
    """Work until the end, until the `moment`-th statement or change of a file, or for `after` seconds."""
    shutil.copytree(base / "before", place)
    reading, writing = os.pipe()
    start = time.monotonic()
    pid = os.fork()
    if not pid:
        os.close(reading)
        _work(work, base, place, moment, writing)
    os.close(writing)
    lines = _read(reading, pid, None if after is None else start + after)
    seconds = time.monotonic() - start
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, -signal.SIGKILL):
        raise AssertionError(f"the process failed: {lines[-1:]}")
    moments = int(lines.pop()) if os.waitstatus_to_exitcode(status) == 0 else 0
    return Ended(lines, moments, seconds)


def kill_once(work: Work, base: Path, place: Path, whole: Ended, chance: random.Random) -> Ended:
    """By turns at a counted moment and after a while, which reaches the code that is not Python."""
    if chance.random() < 0.5:
        return run(work, base, place, moment=chance.randint(1, whole.moments))
    return run(work, base, place, after=chance.random() * whole.seconds)


def _read(pipe: int, pid: int, deadline: float | None) -> list[str]:
    text = b""
    with os.fdopen(pipe, "rb", buffering=0) as lines:
        while True:
            left = None if deadline is None else max(deadline - time.monotonic(), 0)
            if deadline is not None and not select.select([lines], [], [], left)[0]:
                os.kill(pid, signal.SIGKILL)
                deadline = None
            data = lines.read(65_536)
            if not data:
                return text.decode().splitlines()
            text += data


def _work(work: Work, base: Path, place: Path, moment: int, pipe: int) -> NoReturn:
    moments = count(1)
    seen = 0

    def step(*_: object) -> bool:
        nonlocal seen
        seen = next(moments)
        if seen == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def trace(connection: apsw.Connection) -> None:
        connection.exec_trace = step

    apsw.connection_hooks.append(trace)
    sys.addaudithook(lambda event, _: step() and None if event in COUNTED else None)
    try:
        work.do(base, place, lambda line: os.write(pipe, f"{line}\n".encode()) and None)
        os.write(pipe, f"{seen}\n".encode())
    except BaseException as error:
        os.write(pipe, f"{error!r}\n".encode())
        os._exit(1)
    os._exit(0)
