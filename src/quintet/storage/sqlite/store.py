"""The SQLite store as the engine sees it: snapshots to read, one writer to write."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import apsw

from quintet.errors import QuintetError, StoreError, UsageError
from quintet.model.text_query import TextQuery
from quintet.ports.health import HealthCheck
from quintet.ports.reading import Counts, TextIndex
from quintet.ports.store_files import INDEX_FILE, INDEX_FILES, StoreFiles
from quintet.processes import private
from quintet.processes.lock import hold_lock
from quintet.storage.graph.index import SqliteCodeGraph
from quintet.storage.graph.view import GraphCache
from quintet.storage.sqlite import relocation
from quintet.storage.sqlite.catalog import ChunkIds, SqliteCatalog, State, counts, state_of
from quintet.storage.sqlite.checksums import CheckedRows, check_seal
from quintet.storage.sqlite.database import Database, copy_database, translate_errors
from quintet.storage.sqlite.doctor import (
    MATRIX,
    POSTINGS,
    examine,
    examine_matrix,
    examine_postings,
    run_check,
)
from quintet.storage.sqlite.documents import SqliteDocuments
from quintet.storage.sqlite.memories import SqliteMemos
from quintet.storage.sqlite.migrations import UNICODE
from quintet.storage.sqlite.state_tree import SqliteStateTree
from quintet.storage.sqlite.writer import SqliteWriter
from quintet.storage.text.index import SqliteTextIndex
from quintet.storage.text.postings.cache import PostingsCache
from quintet.storage.text.tantivy import fields as tantivy_fields
from quintet.storage.text.tantivy.cache import TantivyCache
from quintet.storage.text.tantivy.doctor import examine_speed, examine_tantivy
from quintet.storage.text.tantivy.files import remove_others
from quintet.storage.text.tantivy.index import TantivyTextIndex
from quintet.storage.vectors.index import SqliteVectorIndex, VectorCache

IGNORE, ALL = ".gitignore", b"*\n"
SYMPTOMS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
STRAY = {"lost+found", ".DS_Store"}  # what systems put into folders by themselves


@dataclass(frozen=True, slots=True)
class Caches:
    """What a store derives from its database. All its snapshots share it."""

    postings: PostingsCache
    vectors: VectorCache
    graph: GraphCache
    tantivy: TantivyCache | None
    rows: CheckedRows


class SqliteSnapshot:
    """Everything a search reads, as of one moment. Each part is made when it is first used."""

    def __init__(self, connection: apsw.Connection, caches: Caches, counts: Counts) -> None:
        self._connection = connection
        self._caches = caches
        self.catalog = SqliteCatalog(connection, counts, caches.rows)
        self._ids = ChunkIds(connection)

    @cached_property
    def text(self) -> TextIndex:
        text = SqliteTextIndex(self._connection, self._caches.postings, self._ids)
        tantivy = self._caches.tantivy
        return text if tantivy is None else TantivyTextIndex(self._connection, tantivy, text)

    @cached_property
    def vectors(self) -> SqliteVectorIndex:
        return SqliteVectorIndex(self._connection, self._caches.vectors, self._ids)

    @cached_property
    def graph(self) -> SqliteCodeGraph:
        return SqliteCodeGraph(self._connection, self._caches.graph)

    @cached_property
    def tree(self) -> SqliteStateTree:
        return SqliteStateTree(self._connection)

    @cached_property
    def memos(self) -> SqliteMemos:
        return SqliteMemos(self._connection, self._caches.rows)

    @cached_property
    def documents(self) -> SqliteDocuments:
        return SqliteDocuments(self._connection, self._caches.rows)


class SqliteStore:
    """A database in a folder, the files derived from it, and the writer's lock."""

    def __init__(self, folder: Path, files: StoreFiles = INDEX_FILES, text_index: str = "fts5") -> None:
        self.folder = folder
        self._files = files
        self._database = Database(
            folder / files.database, precious=files.precious, may_be_missing=files.may_be_missing
        )
        self._derived = folder / files.derived
        self._uses_tantivy = text_index == "tantivy"
        self._caches = self._new_caches(GraphCache())
        self._counts: tuple[State, Counts] | None = None
        self._counting = threading.Lock()

    def _new_caches(self, graph: GraphCache) -> Caches:
        tantivy = TantivyCache(self._derived) if self._uses_tantivy else None
        return Caches(PostingsCache(self._derived), VectorCache(self._derived), graph, tantivy, CheckedRows())

    def create(self) -> None:
        """Make the folder and the database; an ignore file keeps both out of git and of any index."""
        self._check_own()
        is_new = not (self.folder / INDEX_FILE).exists()
        self._database.create()
        if is_new:  # the folder may have been there, empty
            with suppress(OSError):  # it may belong to another account; the doctor tells
                private.close_to_others(self.folder)
        with suppress(OSError):  # on a read-only disk, derived data stays in memory
            private.make_folder(self._derived)
        ignore = self.folder / IGNORE
        with suppress(OSError):
            if not ignore.exists():
                private.write_new(ignore, ALL)
        if self._files == INDEX_FILES:
            self._settle()

    def upgrade(self) -> None:
        """Open an existing store. Creates nothing, not even a folder that was deleted a moment ago."""
        self._database.upgrade()

    def _settle(self) -> None:
        """Note where the index lies. Skipped while another process writes, and on a read-only disk."""
        place = self.folder.resolve().parent
        with self._database.reading() as connection:
            if relocation.is_at(connection, place):
                return
        with suppress(QuintetError), self._database.writing() as connection:
            relocation.settle(connection, place)
        self._database.drop_writer()

    def _check_own(self) -> None:
        """Refuse a folder with files of others: our ignore file would hide them from git."""
        if not self.folder.is_dir():
            return
        with translate_errors(self.folder):
            theirs = sorted({entry.name for entry in self.folder.iterdir()} - STRAY)
            is_ours = (self.folder / IGNORE).is_file() and (self.folder / IGNORE).read_bytes() == ALL
        # Last, since another process may create the index meanwhile; it writes the ignore file after it.
        has_index = (self.folder / INDEX_FILE).exists() or self._database.file.exists()
        if theirs and not is_ours and not has_index:
            raise UsageError(
                f"{self.folder} contains other files ({theirs[0]!r}) but no index; an index needs its own "
                f"folder, such as {self.folder / '.quintet'}"
            )

    def exists(self) -> bool:
        return self._database.file.exists()

    @contextmanager
    def snapshot(self) -> Iterator[SqliteSnapshot]:
        with self._database.reading() as connection:
            try:
                yield SqliteSnapshot(connection, self._caches, self._count(connection))
            except SYMPTOMS as error:
                self._check_sound(connection, error)
                raise

    def _check_sound(self, connection: apsw.Connection, error: Exception) -> None:
        """Tell a mistake of ours from damage: what damage leads to surprises the code that reads it."""
        for check in examine(connection):
            if not check.ok and check.name != "vectors":  # which may just be missing
                raise StoreError(f"{self._database.file} is damaged: {check.message}") from error

    def _count(self, connection: apsw.Connection) -> Counts:
        """Count once for each state of the index, not in every search."""
        state = state_of(connection)
        with self._counting:
            if self._counts is None or self._counts[0] != state:
                check_seal(connection)
                self._counts = state, counts(connection)
            return self._counts[1]

    @contextmanager
    def writer(self, timeout: float) -> Iterator[SqliteWriter]:
        """The writer, as soon as no other process or thread has it."""
        with translate_errors(self._database.file):
            self._database.look()  # or the lock would bring a deleted folder back
        busy = (
            f"another process is writing to {self.folder} and did not finish within {timeout:g} s; "
            "try again, or raise writer_timeout"
        )
        with hold_lock(self.folder / self._files.lock, timeout, busy), self._database.owned():
            writer = SqliteWriter(self._database, self._caches.postings)
            try:
                yield writer
                self._renew_tantivy()
            finally:
                writer.close()

    def _renew_tantivy(self) -> None:
        """Bring the tantivy index up to date, or delete it if it is not in use."""
        if self._caches.tantivy is None:
            remove_others(self._derived)
        else:
            with self._database.reading() as connection:
                self._caches.tantivy.renew(connection)

    def tokenizer(self, query: TextQuery | None) -> str:
        """Which tokenizer reads this query: that of FTS5, followed by tantivy where tantivy scores it."""
        if self._caches.tantivy is None or query is None or query.needs_fts5:
            return UNICODE
        return f"{UNICODE}, {tantivy_fields.engine().__version__}"

    def copy(self, folder: Path, files: StoreFiles) -> None:
        """Copy the database into another folder."""
        with self._database.reading() as connection:
            copy_database(connection, folder / files.database)

    def examine(self) -> list[HealthCheck]:
        caches = self._caches
        with self._database.reading() as connection:
            return [
                *examine(connection),
                run_check("matrix", lambda: examine_matrix(caches.vectors.differing(connection)), MATRIX),
                run_check(
                    "postings", lambda: examine_postings(caches.postings.is_right(connection)), POSTINGS
                ),
                run_check(
                    "tantivy" if self._uses_tantivy else "speed", lambda: self._examine_text(connection)
                ),
            ]

    def _examine_text(self, connection: apsw.Connection) -> HealthCheck:
        if self._caches.tantivy is None:
            return examine_speed(
                connection, SqliteTextIndex(connection, self._caches.postings, ChunkIds(connection))
            )
        return examine_tantivy(connection, self._caches.tantivy)

    def rest(self) -> None:
        """Close the connections that nobody is using. From now on, each is opened when it is needed."""
        self._database.rest()
        self._let_go()

    def _let_go(self) -> None:
        """Drop mapped files, which Windows would neither move nor delete. Open snapshots keep theirs."""
        self._caches = self._new_caches(self._caches.graph)

    def close(self) -> None:
        self._caches.vectors.close()
        self._database.close()
        self._let_go()
