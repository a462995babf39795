"""Connections to one SQLite file: a pool of readers, the one writer, and SQLite's errors turned into ours."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

import apsw

from quintet.errors import Conflict, NotFound, QuintetError, StoreError
from quintet.processes import private
from quintet.processes.lock import disk_error
from quintet.storage.sqlite import checksums, read_only_disk
from quintet.storage.sqlite.filters import register
from quintet.storage.sqlite.migrations import is_current, migrate, use_wal
from quintet.storage.sqlite.read_only_disk import FileFingerprint

BUSY_MS = 10_000
CACHE = 65_536  # KiB of pages
PAGES_AT_ONCE = 4096  # of a copy, so that it can be interrupted
SMALLEST = 512  # bytes; SQLite takes a few bytes that are not its own for an empty file
THERE = apsw.SQLITE_OPEN_READWRITE
OR_MADE = THERE | apsw.SQLITE_OPEN_CREATE
REBUILT = "move it away and run 'quintet index' to build a new one"
RESTORED = "move it away and import the last export, or add its documents again"
FileId = tuple[int, int]  # device and number, which no other file gets while a connection is open


def file_id(file: Path) -> FileId | None:
    """Identifies a file even if another takes its name; None if there is no file."""
    try:
        about = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return about.st_dev, about.st_ino


class ReaderPool:
    """Idle connections, each with the file it was opened on. The last one returned is taken first: its pages
    are the most likely to be in memory. Safe to use from many threads."""

    def __init__(self) -> None:
        self._waiting: queue.LifoQueue[tuple[FileId | None, apsw.Connection]] = queue.LifoQueue()

    def put(self, place: FileId | None, connection: apsw.Connection) -> None:
        self._waiting.put((place, connection))

    def take(self, place: FileId | None) -> apsw.Connection | None:
        """A connection to this file, if there is one. Connections to replaced files are closed."""
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


@contextmanager
def translate_errors(file: Path, advice: str = REBUILT) -> Iterator[None]:
    """Turn every error of SQLite or the disk into one of ours. `advice` is what to do about damage."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError) as error:
        raise StoreError(f"{file} is not a Quintet index or is damaged ({error}); {advice}") from error
    except apsw.FullError as error:
        raise StoreError(
            f"the disk that holds {file} is full; free some space and run the command again: "
            "what was committed is kept"
        ) from error
    except apsw.IOError as error:
        raise StoreError(
            f"the disk that holds {file} could not be read or written ({error}); if it is full, or the "
            "size of files is limited, make room and run the command again: what was committed is kept"
        ) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise StoreError(
            f"{file} cannot be opened for writing ({error}); "
            "check the permissions of the folder, or choose another with --db"
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Conflict(
            f"{file} is in use by another process; try again when it has finished", code="busy_writer"
        ) from error
    except apsw.Error as error:
        raise StoreError(f"SQLite failed on {file}: {error}; if it happens again, {advice}") from error
    except OSError as error:
        raise disk_error(error, file) from error


def copy_database(connection: apsw.Connection, file: Path) -> None:
    """Copy the database, as this connection sees it, into a new file."""
    with translate_errors(file):
        private.open_existing_or_new(file).close()
        other = apsw.Connection(str(file))
        try:
            with other.backup("main", connection, "main") as backup:
                while not backup.done:
                    backup.step(PAGES_AT_ONCE)
        finally:
            other.close()


class Database:
    """One SQLite file: a pool of readers, each in its own snapshot, and one writer."""

    def __init__(self, file: Path, *, precious: bool = False, may_be_missing: bool = False) -> None:
        self.file = file
        self._may_be_missing = may_be_missing  # then the first write creates it
        self._synchronous = "full" if precious else "normal"
        self._advice = RESTORED if precious else REBUILT
        self._idle = ReaderPool()
        self._place: FileId | None = None  # of the file when it was last looked at
        self._writer: apsw.Connection | None = None
        self._written: FileId | None = None  # of the file the writer's connection was opened on
        self._owning = threading.Lock()  # held by whoever uses the writer's connection
        self._fixed: FileFingerprint | None = (
            None  # what it must go on looking like, on a disk that is read only
        )
        self.closed = False
        self.resting = False

    def create(self) -> None:
        """Create the database, or upgrade its schema."""
        with translate_errors(self.file, self._advice):
            self.file.parent.mkdir(private.FOLDER, parents=True, exist_ok=True)
            self._prepare(OR_MADE)

    def upgrade(self) -> None:
        """Upgrade the schema. The file must exist."""
        with translate_errors(self.file, self._advice):
            if not self.file.exists():
                raise self._missing()
            self._prepare(THERE)

    def _missing(self) -> QuintetError:
        """The error that opening the database now would give."""
        if self._synchronous == "full" and not self._may_be_missing:
            return StoreError(f"{self.file} is missing; {self._advice}")
        return NotFound(f"there is no index in {self.file.parent}; make one with 'quintet index'")

    def _prepare(self, flags: int) -> None:
        self.check_file()
        connection = self._open(flags)
        try:
            if not is_current(connection, self.file):
                self._migrate(connection)
        finally:
            connection.close()
        self._place = file_id(self.file)

    def look(self) -> FileId | None:
        """The file that now has the database's name. If it replaced another, check and upgrade it first."""
        now = file_id(self.file)
        if self._place is None:
            self._place = now
        if now != self._place:
            if now is None and not (self._may_be_missing and self.file.parent.is_dir()):
                raise self._missing()
            self._prepare(OR_MADE if self._may_be_missing else THERE)
        return self._place

    def check_file(self) -> None:
        """Refuse what SQLite would take for a missing permission or for an empty database."""
        if self.file.is_dir():
            raise StoreError(f"{self.file} is a folder where a database should be; {self._advice}")
        with translate_errors(self.file, self._advice):
            if self.file.exists() and 0 < self.file.stat().st_size < SMALLEST:
                raise apsw.NotADBError("it is shorter than any database")

    def _migrate(self, connection: apsw.Connection) -> None:
        if self._is_read_only and self.file.exists():
            raise StoreError(
                f"{self.file} was made by an older Quintet, and is on a read-only disk; "
                "run 'quintet status' once where it is writable"
            )
        use_wal(connection, BUSY_MS)
        migrate(connection, self.file)

    @cached_property
    def _is_read_only(self) -> bool:
        return read_only_disk.is_read_only(self.file.parent)

    def _open(self, flags: int = THERE) -> apsw.Connection:
        if self._is_read_only and self.file.exists():
            connection, fixed = read_only_disk.connect_read_only(self.file)
            self._fixed = self._fixed or fixed
        elif self._is_read_only and self._may_be_missing:
            connection = self._empty()
        else:
            if flags == OR_MADE:  # SQLite gives its -wal and -shm files the mode of the database
                private.open_existing_or_new(self.file).close()
            connection = apsw.Connection(str(self.file), flags=flags)
        connection.set_busy_timeout(BUSY_MS)
        connection.transaction_mode = "IMMEDIATE"
        connection.pragma("synchronous", self._synchronous)
        connection.pragma("fullfsync", self._synchronous == "full")  # for macOS
        connection.pragma("cache_size", -CACHE)
        connection.pragma("temp_store", "memory")
        connection.pragma("foreign_keys", True)
        checksums.register(connection)
        register(connection)  # once: it makes SQLite compile its statements again
        return connection

    def _empty(self) -> apsw.Connection:
        connection = apsw.Connection(":memory:")
        migrate(connection, self.file)
        connection.pragma("query_only", True)
        return connection

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """A connection inside one read transaction: a consistent view that takes no lock."""
        with translate_errors(self.file, self._advice):
            place, connection = self._reader()
            try:
                connection.execute("BEGIN")
                yield connection
            except Exception:
                self._check_fixed()  # first: a changed file looks like damage
                raise
            finally:
                with suppress(apsw.Error):
                    connection.execute("ROLLBACK")
                if self.closed or self.resting or place != self._place:
                    connection.close()
                else:
                    self._idle.put(place, connection)
            self._check_fixed()

    def _check_fixed(self) -> None:
        if self._fixed is not None:
            read_only_disk.check_unchanged(self.file, self._fixed)

    def _reader(self) -> tuple[FileId | None, apsw.Connection]:
        self._check_open()
        self._check_fixed()
        place = self.look()  # before opening: a file that replaces it meanwhile counts as the old one
        connection = self._idle.take(place)
        if connection is None:
            connection = self._open()
            connection.pragma("query_only", True)
        return place, connection

    def _check_open(self) -> None:
        if self.closed:
            raise StoreError(f"the index {self.file} was closed; open it again")

    @contextmanager
    def owned(self) -> Iterator[None]:
        """While this is held, nobody else uses or closes the writer's connection."""
        try:
            with self._owning:
                with translate_errors(self.file, self._advice):
                    if self._written != self.look():
                        self.drop_writer()
                yield
        finally:
            self._retire()

    def _retire(self) -> None:
        """Close the writer's connection once it is idle, if the database is closed or resting."""
        if (self.closed or self.resting) and self._owning.acquire(blocking=False):
            try:
                self.drop_writer()
            finally:
                self._owning.release()

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One write transaction: committed whole, or rolled back."""
        with translate_errors(self.file, self._advice), self._own() as connection:
            checksums.check_seal(connection)  # or this transaction would seal what is damaged
            yield connection
            checksums.seal(connection)

    @contextmanager
    def inspecting(self) -> Iterator[apsw.Connection]:
        """The writer's connection outside a transaction, to plan a run."""
        with translate_errors(self.file, self._advice):
            yield self._own()

    def _own(self) -> apsw.Connection:
        """The writer's connection."""
        self._check_open()
        now = self.look()
        if self._writer is None:
            self._written, self._writer = now, self._open()
        if self._written != now:
            raise StoreError(f"{self.file} was replaced while it was being written; run the command again")
        return self._writer

    def wait_for_disk(self, always: bool) -> None:
        """Choose whether every commit waits for the disk, or only a checkpoint, as usual."""
        if self._writer is not None:
            self._writer.pragma("synchronous", "full" if always else self._synchronous)

    def checkpoint(self) -> None:
        """Move what is in the log into the database itself."""
        if self._writer is not None:
            with translate_errors(self.file, self._advice):
                self._writer.wal_checkpoint()

    def shrink(self) -> None:
        """Release the extra memory of the writer's cache."""
        if self._writer is not None:
            self._writer.pragma("cache_size", -CACHE)

    def close(self) -> None:
        self.closed = True
        self._idle.clear()
        self._retire()

    def rest(self) -> None:
        """From now on, close every connection as soon as nobody uses it."""
        self.resting = True
        self._idle.clear()
        self._retire()

    def drop_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
