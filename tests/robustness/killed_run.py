"""An index run that kills its own process at a chosen moment. Run as a script by `test_kill.py`.

Moments are counted: calls of the progress callback, commits of SQLite, or statements it executes.
"""

import os
import signal
import sys
from itertools import count
from pathlib import Path

import apsw

import quintet

SETTINGS = {"batch_files": 3, "embed_batch": 7}


class Countdown:
    """Dies at the n-th call; a count of 0 never comes, and the total is printed at the end."""

    def __init__(self, moment: int) -> None:
        self._moment = moment
        self._calls = count(1)
        self.seen = 0

    def step(self, *_: object) -> bool:
        self.seen = next(self._calls)
        if self.seen == self._moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    def statement(self, *_: object) -> bool:
        self.step()
        return True


def main(kind: str, moment: int, folder: Path, roots: list[str]) -> None:
    countdown = Countdown(moment)

    def watched(connection: apsw.Connection) -> None:
        if kind == "commit":
            connection.set_commit_hook(countdown.step)
        if kind == "statement":
            connection.exec_trace = countdown.statement

    apsw.connection_hooks.append(watched)
    with quintet.open(folder, "hashing", **SETTINGS) as index:
        index.sync(roots, progress=countdown.step if kind == "progress" else None)
        index.search("chapter", mode="semantic")
    print(countdown.seen)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
