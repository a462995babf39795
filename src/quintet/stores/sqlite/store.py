"""The SQLite store as the engine sees it: snapshots to read, one writer to write."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
from filelock import FileLock, Timeout

from quintet.contracts.contract import Expansion
from quintet.errors import Conflict
from quintet.model import Hit
from quintet.ports import Counts
from quintet.stores.sqlite import filters
from quintet.stores.sqlite.catalog import SqliteCatalog, count
from quintet.stores.sqlite.database import Database, translated
from quintet.stores.sqlite.doctor import Check, examine
from quintet.stores.sqlite.fts5 import Fts5TextIndex
from quintet.stores.sqlite.vectors import SqliteVectorIndex, VectorViews
from quintet.stores.sqlite.writer import SqliteWriter

FILE = "index.db"


class NoCodeGraph:
    """Stands where a code graph would: every chunk is its own node and has no neighbours."""

    available = False

    def node_ids(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        return {}

    def expand(self, seeds: Sequence[str], expansion: Expansion, depth: int) -> list[Hit]:
        return []


class SqliteSnapshot:
    """Everything a search reads, as of one moment."""

    def __init__(self, connection: apsw.Connection, views: VectorViews, counts: Counts | None) -> None:
        self.graph = NoCodeGraph()
        self.catalog = SqliteCatalog(connection, self.graph, counts)
        self.text = Fts5TextIndex(connection)
        self.vectors = SqliteVectorIndex(connection, views)


class SqliteStore:
    """An index folder: the database, the matrix derived from it, the writer's lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._database = Database(folder / FILE)
        self._views = VectorViews(folder)
        self._counts: tuple[int, Counts] | None = None
        self._counting = threading.Lock()

    def create(self) -> None:
        """Make the folder and the database; an ignore file keeps both out of git and of any index."""
        self._database.create()
        ignore = self.folder / ".gitignore"
        with suppress(OSError):
            if not ignore.exists():
                ignore.write_text("*\n", "utf-8")

    @contextmanager
    def snapshot(self) -> Iterator[SqliteSnapshot]:
        with self._database.reading() as connection:
            filters.register(connection)
            yield SqliteSnapshot(connection, self._views, self._count(connection))

    def _count(self, connection: apsw.Connection) -> Counts:
        """Counted once a generation: a search should not pay for it."""
        generation = SqliteCatalog(connection, NoCodeGraph()).generation
        with self._counting:
            if self._counts is None or self._counts[0] != generation:
                self._counts = generation, count(connection)
            return self._counts[1]

    @contextmanager
    def writer(self, timeout: float) -> Iterator[SqliteWriter]:
        """The writer, once no other process or thread holds it."""
        lock = FileLock(self.folder / "writer.lock", timeout=timeout, thread_local=False)
        with translated(self._database.file):
            try:
                lock.acquire()
            except Timeout:  # an OSError, which `translated` would take for a broken disk
                raise Conflict(
                    f"another process is writing to {self.folder} and did not finish within {timeout:g} s; "
                    "try again, or raise writer_timeout",
                    code="busy_writer",
                ) from None
        try:
            yield SqliteWriter(self._database)
        finally:
            lock.release()

    def examine(self) -> list[Check]:
        with self._database.reading() as connection:
            return examine(connection)

    def close(self) -> None:
        self._database.close()
