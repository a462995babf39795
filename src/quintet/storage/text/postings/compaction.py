"""Builds the postings of a large run in a separate process. If the index was empty, this happens while text
is written; otherwise while the run continues with edges and vectors.

Nothing depends on it: if it is killed or never starts, the run writes the postings itself.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from quintet.processes.channel import code_version
from quintet.processes.child import ChildProcess, NotStarted
from quintet.processes.garbage import collect_garbage_rarely
from quintet.processes.worker import open_answers, receive_in_background
from quintet.storage.sqlite.database import Database
from quintet.storage.text.analysis import tokenizer
from quintet.storage.text.chunk_reader import texts_between
from quintet.storage.text.postings.build import ChunkText, segments
from quintet.storage.text.postings.cache import PostingsCache
from quintet.storage.text.postings.file import Spill
from quintet.storage.text.postings.merge import SegmentPart

COMMAND = (sys.executable, "-P", "-m", "quintet.storage.text.postings.compaction")
CODE = code_version(__file__)
END = b"end"


class CompactionProcess:
    """At most one process."""

    def __init__(self) -> None:
        self._process: ChildProcess | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.is_alive

    def begin(self, database: Path, folder: Path) -> None:
        """`folder` is where the postings are."""
        self.stop()
        with suppress(NotStarted):
            self._process = ChildProcess([*COMMAND, CODE, str(database), str(folder)])

    def tell(self, row: int) -> None:
        """All chunks up to this row are committed and will not change."""
        self._send(b"%d" % row)

    def finish(self) -> None:
        """No more text follows."""
        self._send(END)

    def _send(self, message: bytes) -> None:
        if self._process is not None:
            self._process.send(message)

    def wait(self) -> None:
        if self._process is not None:
            self._process.wait(seconds=None)
            self._process = None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
        self.wait()


def main(parent: str, database: Path, folder: Path) -> None:
    """`parent` is the code of the one who began it: another Quintet must not write here."""
    if parent != CODE:
        return
    open_answers()
    messages = receive_in_background()
    opened = Database(database)
    with collect_garbage_rarely(), Spill(folder) as spill:
        parts = _followed(opened, messages, spill)
        with opened.reading() as connection:
            PostingsCache(folder).compact(connection, parts)


def _followed(database: Database, messages: "SimpleQueue[bytes]", spill: Spill) -> list[SegmentPart]:
    """What could be analysed while it was written."""
    with database.reading() as connection:
        how = tokenizer(connection)
    return [spill.put(segment) for segment in segments(_told(database, messages), how)]


def _told(database: Database, messages: "SimpleQueue[bytes]") -> Iterator[ChunkText]:
    """The chunks that our parent tells of, in short transactions."""
    after = 0
    while (message := messages.get()) != END:
        with database.reading() as connection:
            texts = list(texts_between(connection, after, int(message)))
        yield from texts
        after = int(message)


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
    os._exit(0)  # Python would wait for the thread that listens, and then complain
