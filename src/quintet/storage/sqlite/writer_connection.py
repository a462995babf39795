"""The writer's connection, which the parts of a writer share."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import apsw

from quintet.storage.sqlite import catalog
from quintet.storage.sqlite.database import Database

MAX_TAGS = 10_000  # generations whose tags are kept
# KiB of pages, while a run writes. Keys that are digests touch pages all over a tree: a writer that cannot
# keep them reads and writes them again and again (400,000 chunks take half as long again with 64 MiB).
CACHE = 262_144


class WriterConnection:
    """Writes inside a batch, which is one transaction, and reads at any time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._in_batch: apsw.Connection | None = None

    @contextmanager
    def batch(self) -> Iterator[None]:
        """One transaction. It makes the next generation if it changes anything."""
        with self._database.writing() as connection:
            connection.pragma("cache_size", -CACHE)
            before = connection.total_changes()
            self._in_batch = connection
            try:
                yield
                if connection.total_changes() != before:
                    _advance(connection)
            finally:
                self._in_batch = None

    @property
    def in_batch(self) -> apsw.Connection:
        assert self._in_batch is not None, "write inside `with writer.batch():`"
        return self._in_batch

    def reading(self) -> AbstractContextManager[apsw.Connection]:
        """Sees what the batch wrote so far."""
        return self._database.inspecting()


def _advance(connection: apsw.Connection) -> None:
    """The next generation, with a tag of its own."""
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
    generation = catalog.number(connection, "generation")
    connection.execute("INSERT INTO lineage VALUES (?, hex(randomblob(8)))", (generation,))
    connection.execute("DELETE FROM lineage WHERE generation <= ?", (generation - MAX_TAGS,))
