"""Writes the table `vectors`: lists texts without a vector, adds vectors, replaces them all."""

from collections.abc import Sequence
from pathlib import Path

import apsw
import numpy as np

from quintet.errors import Conflict
from quintet.model.documents import embedding_context, embedding_text
from quintet.model.vector import Int16
from quintet.storage.sqlite import state_tree
from quintet.storage.sqlite.catalog import TEXT_ONLY
from quintet.storage.sqlite.checksums import vector_checksum
from quintet.storage.sqlite.writer_connection import WriterConnection
from quintet.storage.vectors.index import is_from_here, matrix_folder

SPARE_VECTORS = 10_000  # dead matrix rows that are never worth a compaction
NEW_EPOCH = "UPDATE meta SET value = lower(hex(randomblob(8))) WHERE key = 'vector_epoch'"
COLUMNS = "text_hash, vector, checksum"
TABLES = {False: "vectors", True: "next_vectors"}  # by whether new vectors are to replace the old
# Pages in the log before a checkpoint. Vectors are dear, and commits of them few: a power cut takes one
# at most, and whoever opens the matrix counts on it.
CHECKPOINT_PAGES = 1


class SqliteVectorWriter:
    """`folder` is where the matrix of the vectors lies."""

    def __init__(self, connection: WriterConnection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._matrix_is_ours = False  # not checked yet

    def use_embedder(self, identity: str, dimensions: int) -> None:
        values = (("embedder", identity), ("dimensions", str(dimensions)))
        self._connection.in_batch.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)

    def count_pending(self, *, replacing: bool = False) -> int:
        missing = f"text_hash NOT IN (SELECT text_hash FROM {TABLES[replacing]})"
        with self._connection.reading() as connection:
            sql = f"SELECT count(*) FROM chunks WHERE {missing} AND document NOT IN ({TEXT_ONLY})"
            return int(connection.execute(sql).get)

    def pending(self, after: int, limit: int, *, replacing: bool = False) -> list[tuple[int, bytes, str]]:
        with self._connection.reading() as connection:
            rows = connection.execute(
                "SELECT c.row, c.text_hash, d.language, d.path, c.heading_path, x.content "
                "FROM chunks c JOIN contents x ON x.row = c.row JOIN documents d ON d.row = c.document "
                "WHERE c.row > ? "
                "AND is_embedded(d.language, d.path) "
                f"AND NOT EXISTS (SELECT 1 FROM {TABLES[replacing]} v WHERE v.text_hash = c.text_hash) "
                "ORDER BY c.row LIMIT ?",
                (after, limit),
            )
            return [
                (row, key, embedding_text(embedding_context(language, path), heading, content))
                for row, key, language, path, heading, content in rows
            ]

    def put(self, hashes: Sequence[bytes], vectors: Int16, *, replacing: bool = False) -> None:
        connection = self._connection.in_batch
        connection.wal_autocheckpoint(CHECKPOINT_PAGES)
        if not self._matrix_is_ours:
            self._leave_foreign_matrix(connection)
            self._matrix_is_ours = True
        if not replacing:
            _check_dimensions(connection, vectors.shape[1])
        rows = zip(hashes, np.ascontiguousarray(vectors, "<i2"), strict=True)
        connection.executemany(
            f"INSERT OR IGNORE INTO {TABLES[replacing]} (text_hash, vector, checksum) VALUES (?, ?, ?)",
            ((key, data, vector_checksum(key, data)) for key, vector in rows for data in [vector.tobytes()]),
        )
        if not replacing:
            state_tree.mark_texts(connection, hashes)

    def _leave_foreign_matrix(self, connection: apsw.Connection) -> None:
        """Begin a new epoch if the matrix on disk holds other vectors under the same row numbers."""
        matrix = matrix_folder(connection, self._folder)
        if matrix.exists() and not is_from_here(connection, matrix):
            connection.execute(NEW_EPOCH)

    def begin_replacement(self, identity: str) -> None:
        connection = self._connection.in_batch
        if connection.execute("SELECT value FROM meta WHERE key = 'next_embedder'").get != identity:
            connection.execute("DELETE FROM next_vectors")
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('next_embedder', ?)", (identity,))

    def finish_replacement(self, identity: str, dimensions: int) -> None:
        connection = self._connection.in_batch
        _renumber(connection, "next_vectors", "text_hash")
        connection.execute("DELETE FROM next_vectors")
        connection.execute("DELETE FROM meta WHERE key = 'next_embedder'")
        self.use_embedder(identity, dimensions)
        state_tree.mark_all(connection)

    def drop_unused(self) -> None:
        """Delete vectors no chunk needs; once most matrix rows are dead, renumber them."""
        connection = self._connection.in_batch
        for table in TABLES.values():
            connection.execute(f"DELETE FROM {table} WHERE text_hash NOT IN (SELECT text_hash FROM chunks)")
        live = connection.execute("SELECT count(*) FROM vectors").get
        last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'vectors'").get or 0
        if last > 2 * live + SPARE_VECTORS:
            _renumber(connection, "vectors", "row")


def _check_dimensions(connection: apsw.Connection, dimensions: int) -> None:
    stored = connection.execute("SELECT value FROM meta WHERE key = 'dimensions'").get
    if stored is not None and int(stored) != dimensions:
        raise Conflict(
            f"the embedder gives {dimensions} dimensions, the vectors of this index have {stored}; "
            "replace all vectors: 'quintet index --reembed --embedder NAME'"
        )


def _renumber(connection: apsw.Connection, source: str, order: str) -> None:
    """Fill `vectors` from `source`, with rows from 1 on. Other rows need another matrix, hence a new epoch.

    An epoch is drawn, not counted: if a power cut undoes this one, the next has another name than its matrix.
    """
    connection.execute(f"CREATE TEMP TABLE kept AS SELECT {COLUMNS} FROM {source} ORDER BY {order}")
    connection.execute("DELETE FROM vectors")
    connection.execute("DELETE FROM sqlite_sequence WHERE name = 'vectors'")
    connection.execute(f"INSERT INTO vectors ({COLUMNS}) SELECT {COLUMNS} FROM kept ORDER BY rowid")
    connection.execute("DROP TABLE kept")
    connection.execute(NEW_EPOCH)
