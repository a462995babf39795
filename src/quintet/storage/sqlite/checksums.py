"""Checksums of rows: SQLite notices no flipped bit in a path, a time or a vector, and results would move.

A row is compared when a process first reads it for an answer, and all rows of a table when something is built
from them. The few values of `meta` and `roots` are sealed together by every write transaction.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from zlib import crc32

import apsw

COLUMNS: Mapping[str, str] = {
    "documents": "row, id, root, path, title, mime_type, language, size, modified_ns, indexed_ns, "
    "content_hash, shape, metadata",
    "chunks": "row, id, document, sequence, first_line, last_line, kind, name, heading_path, text_hash, "
    "page, node",
    "symbols": "id, outline, number, parent, kind, name, qualified_name, signature, docstring, first_line, "
    "last_line, visibility, is_test",
    "edges": "source, target, relation, confidence, line",
}
CATALOG, GRAPH = ("documents", "chunks"), ("symbols", "edges")
SEAL = "seal"
UNSEALED = (SEAL, "sketch", "refused")  # the other two may be long, and no search reads them
REMEMBERED = 200_000  # rows of a table


def row_checksum(*values: Any) -> int:
    """Of all values of a row, in the order of `COLUMNS`."""
    return crc32("\x1f".join(map(str, values)).encode())


def vector_checksum(text_hash: bytes, vector: bytes) -> int:
    """Of a vector and the text that it belongs to."""
    return crc32(vector, crc32(text_hash))


def register(connection: apsw.Connection) -> None:
    """As functions of SQL."""
    functions: tuple[Any, ...] = row_checksum, vector_checksum
    for function in functions:
        connection.create_scalar_function(function.__name__, function, -1, deterministic=True)


class CheckedRows:
    """The rows that this process has compared. Safe to use from many threads."""

    def __init__(self) -> None:
        self.chunks: set[int] = set()
        self.documents: set[int] = set()
        self._last = 0  # the documents up to this row were compared before a filter

    def check_chunks(self, connection: apsw.Connection, rows: Iterable[int]) -> None:
        """Compare chunks and the documents they belong to."""
        chunks = self._check(connection, "chunks", self.chunks, rows)
        self.check_documents(connection, {chunk[2] for chunk in chunks})

    def check_documents(self, connection: apsw.Connection, rows: Iterable[int]) -> None:
        self._check(connection, "documents", self.documents, rows)

    def check_all_documents(self, connection: apsw.Connection) -> None:
        """Before a filter, which leaves out what it should not without a trace."""
        last = int(connection.execute("SELECT coalesce(max(row), 0) FROM documents").get)
        if last > self._last:
            for _ in _compared(connection, "documents", "WHERE row > ?", (self._last,)):
                pass
            self._last = last

    def _check(
        self, connection: apsw.Connection, table: str, seen: set[int], rows: Iterable[int]
    ) -> list[Any]:
        """Compare the rows that were not seen yet, and return them."""
        new = array("q", [row for row in rows if row not in seen])
        if not new:
            return []
        where = "WHERE row IN (SELECT value FROM carray(?))"
        found = list(_compared(connection, table, where, (apsw.carray(new),)))
        if len(seen) > REMEMBERED:
            seen.clear()
        seen.update(new)
        return found


def check_tables(connection: apsw.Connection, tables: Iterable[str]) -> None:
    """Compare all rows of these tables, before something is built from them."""
    for table in tables:
        for _ in _compared(connection, table):
            pass


def _compared(
    connection: apsw.Connection, table: str, where: str = "", values: tuple[Any, ...] = ()
) -> Iterator[list[Any]]:
    rows: Any = connection.execute(f"SELECT checksum, {COLUMNS[table]} FROM {table} {where}", values)
    for checksum, *row in rows:
        if row_checksum(*row) != checksum:
            raise apsw.CorruptError(f"row {row[0]} of {table} is not what was stored")
        yield row


def check_vectors(connection: apsw.Connection) -> None:
    rows = connection.execute("SELECT row FROM vectors WHERE checksum <> vector_checksum(text_hash, vector)")
    for (row,) in rows:
        raise apsw.CorruptError(f"vector {row} is not what was stored")


def check_seal(connection: apsw.Connection) -> None:
    stored = connection.execute("SELECT value FROM meta WHERE key = ?", (SEAL,)).get
    if stored != _sealed(connection):
        raise apsw.CorruptError("its settings or its roots are not what was stored")


def seal(connection: apsw.Connection) -> None:
    """At the end of every write transaction."""
    value = _sealed(connection)
    if connection.execute("SELECT value FROM meta WHERE key = ?", (SEAL,)).get != value:
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (SEAL, value))


def _sealed(connection: apsw.Connection) -> str:
    kept: Collection[Any] = connection.execute(
        "SELECT key, value FROM meta WHERE key NOT IN (?, ?, ?) ORDER BY key", UNSEALED
    ).fetchall()
    roots: Collection[Any] = connection.execute(
        "SELECT row, name, location, only_files FROM roots ORDER BY row"
    ).fetchall()
    return str(row_checksum(*(value for row in (*kept, *roots) for value in row)))
