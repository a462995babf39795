"""The postings of a large run, written by a process of its own while the run goes on to edges and vectors.

Nothing depends on it: what it did not write, because it was killed or never came up, the run writes itself.
"""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

from quintet.stores.sqlite.database import Database
from quintet.stores.sqlite.postings_view import PostingsViews

COMMAND = (sys.executable, "-P", "-m", "quintet.stores.sqlite.compacting")


class Compacting:
    """At most one process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def begin(self, database: Path, folder: Path) -> None:
        """With the database as it is now; `folder` is where the postings are."""
        self.stop()
        with suppress(OSError):
            self._process = subprocess.Popen(
                [*COMMAND, __file__, str(database), str(folder)],
                stdin=subprocess.PIPE,  # it ends with us
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def wait(self) -> None:
        if self._process is not None:
            with self._process:
                self._process.wait()
            self._process = None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
        self.wait()


def main(parent: str, database: Path, folder: Path) -> None:
    """`parent` is this file as the one who began it sees it: another Quintet must not write here."""
    if parent != __file__:
        return
    Thread(target=_end_with_parent, daemon=True).start()
    with Database(database).reading() as connection:
        PostingsViews(folder).compact(connection)


def _end_with_parent() -> None:
    os.read(0, 1)  # not `sys.stdin`, which Python could not close at the end while we wait for it
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
