"""Copies of databases, made while others write, and checks that a copy is sound."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from quintet.errors import StoreError
from quintet.storage.sqlite import checksums, read_only_disk
from quintet.storage.sqlite.database import Database, copy_database, translate_errors
from quintet.storage.sqlite.doctor import check_pages, examine
from quintet.storage.sqlite.filters import register
from quintet.storage.sqlite.migrations import MIGRATIONS, schema_version

NO_FAULT = {"vectors"}  # chunks that wait for their vectors


def copy_in_use(file: Path, target: Path) -> None:
    """Copy a database as it is at one moment. Takes no lock, and changes nothing: not even its schema."""
    with closing(Database(file)) as database, database.reading() as connection:
        copy_database(connection, target)


def check_copy(file: Path, original: Path) -> int:
    """How many documents are in a copy that nobody else uses. StoreError if it is not sound."""
    with _opened(file) as connection:
        version = schema_version(connection, file)
        checks = examine(connection) if version == len(MIGRATIONS) else [check_pages(connection)]
        for check in checks:
            if not check.ok and check.name not in NO_FAULT:
                problem = check.message.partition("; ")[0]
                raise StoreError(f"{original} is damaged: {problem}; 'quintet doctor' says what to do")
        return int(connection.execute("SELECT count(*) FROM documents").get) if version else 0


def check_schema(file: Path) -> None:
    """Refuse a file that is no database of ours, or that a newer Quintet made."""
    with _opened(file) as connection:
        schema_version(connection, file)


def content_hashes(file: Path, root: str) -> set[str]:
    """Of the documents of a root, in a copy."""
    with _opened(file) as connection:
        rows = connection.execute(
            "SELECT d.content_hash FROM documents d JOIN roots r ON r.row = d.root WHERE r.name = ?", (root,)
        )
        return {str(content_hash) for (content_hash,) in rows}


@contextmanager
def _opened(file: Path) -> Iterator[apsw.Connection]:
    """As immutable, so that SQLite leaves no files beside it."""
    with translate_errors(file):
        connection, _ = read_only_disk.connect_read_only(file)
        with closing(connection):
            checksums.register(connection)
            register(connection)
            yield connection
