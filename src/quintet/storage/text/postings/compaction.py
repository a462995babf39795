"""The postings of a large run, made by a process of its own: while text is written, if it is the first of an
index, else while the run goes on to edges and vectors.

Nothing depends on it: what it did not write, because it was killed or never came up, the run writes itself.
"""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from quintet.processes.channel import COLLECTED, input_of, leave_signals, stamp
from quintet.storage.sqlite.database import Database
from quintet.storage.text.chunk_reader import texts_between, words
from quintet.storage.text.postings.build import ChunkText, segments
from quintet.storage.text.postings.cache import PostingsCache
from quintet.storage.text.postings.file import Spill
from quintet.storage.text.postings.merge import SegmentPart

COMMAND = (sys.executable, "-P", "-m", "quintet.storage.text.postings.compaction")
CODE = stamp(__file__)
END = b"end"


class CompactionProcess:
    """At most one process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def begin(self, database: Path, folder: Path) -> None:
        """`folder` is where the postings are."""
        self.stop()
        with suppress(OSError):
            self._process = subprocess.Popen(
                [*COMMAND, CODE, str(database), str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # others would wait busily for products
            )

    def tell(self, row: int) -> None:
        """All chunks up to this one are committed, and will stay as they are."""
        self._say(b"%d" % row)

    def finish(self) -> None:
        """That was all the text."""
        self._say(END)

    def _say(self, line: bytes) -> None:
        if self._process is not None:
            said = input_of(self._process)
            with suppress(OSError):  # it is gone, and will not be missed
                said.write(line + b"\n")
                said.flush()

    def wait(self) -> None:
        if self._process is not None:
            with suppress(OSError), self._process:
                self._process.wait()
            self._process = None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
        self.wait()


def main(parent: str, database: Path, folder: Path) -> None:
    """`parent` is the code of the one who began it: another Quintet must not write here."""
    if parent != CODE:
        return
    gc.set_threshold(COLLECTED)
    leave_signals()
    lines: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(lines,), daemon=True).start()
    opened = Database(database)
    with Spill(folder) as spill:
        parts = _followed(opened, lines, spill)
        with opened.reading() as connection:
            PostingsCache(folder).compact(connection, parts)


def _listen(lines: "SimpleQueue[bytes]") -> None:
    """Until the input ends: then our parent is gone."""
    for line in sys.stdin.buffer:
        lines.put(line.rstrip())
    os._exit(1)


def _followed(database: Database, lines: "SimpleQueue[bytes]", spill: Spill) -> list[SegmentPart]:
    """What could be analysed while it was written."""
    with database.reading() as connection:
        how = words(connection)
    return [spill.put(one) for one in segments(_told(database, lines), how)]


def _told(database: Database, lines: "SimpleQueue[bytes]") -> Iterator[ChunkText]:
    """The chunks that our parent tells of, in short transactions."""
    after = 0
    while (line := lines.get()) != END:
        with database.reading() as connection:
            texts = list(texts_between(connection, after, int(line)))
        yield from texts
        after = int(line)


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
    os._exit(0)  # Python would wait for the thread that listens, and then complain
