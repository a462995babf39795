"""Connections that wait for the next reader, each with the file it was opened on."""

import queue
from contextlib import suppress
from pathlib import Path

import apsw

FileId = tuple[int, int]  # device and number, which no other file gets while a connection is open


def file_id(file: Path) -> FileId | None:
    """What tells a file from another that takes its name; None where there is none."""
    try:
        about = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return about.st_dev, about.st_ino


class ReaderPool:
    """The last one first: its pages are the most likely to be in memory. Safe to use from many threads."""

    def __init__(self) -> None:
        self._waiting: queue.LifoQueue[tuple[FileId | None, apsw.Connection]] = queue.LifoQueue()

    def put(self, place: FileId | None, connection: apsw.Connection) -> None:
        self._waiting.put((place, connection))

    def take(self, place: FileId | None) -> apsw.Connection | None:
        """One to this very file, if any waits. Those to a file that was there before are closed."""
        with suppress(queue.Empty):
            while True:
                opened_on, connection = self._waiting.get_nowait()
                if opened_on == place:
                    return connection
                connection.close()
        return None

    def clear(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._waiting.get_nowait()[1].close()
