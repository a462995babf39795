"""The postings of a large run, written by a process of its own while the run goes on to edges and vectors.

Nothing depends on it: what it did not write, because it was killed or never came up, the run writes itself.
"""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from quintet.stores.sqlite.database import Database
from quintet.stores.sqlite.postings_view import PostingsViews

COMMAND = (sys.executable, "-P", "-m", "quintet.stores.sqlite.compacting")


class Compacting:
    """At most one process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, database: Path, folder: Path) -> None:
        """With the database as it is now; `folder` is where the postings are."""
        self.stop()
        nowhere = subprocess.DEVNULL
        with suppress(OSError):
            self._process = subprocess.Popen(
                [*COMMAND, str(database), str(folder)], stdin=nowhere, stdout=nowhere, stderr=nowhere
            )

    def wait(self) -> None:
        if self._process is not None:
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
        self.wait()


def main(database: Path, folder: Path) -> None:
    with Database(database).reading() as connection:
        PostingsViews(folder).compact(connection)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
