"""The rows of `vectors`: what is missing, what is added, what replaces what."""

from collections.abc import Sequence
from pathlib import Path

import apsw
import numpy as np

from quintet.errors import Conflict
from quintet.model.documents import embedding_text
from quintet.model.vector import Int16
from quintet.storage.sqlite.catalog import State, led_here, meta, state_of
from quintet.storage.vectors.matrix import origin_of

SPARE_VECTORS = 10_000  # dead matrix rows that are never worth a compaction
EPOCH = "UPDATE meta SET value = lower(hex(randomblob(8))) WHERE key = 'vector_epoch'"
TABLES = {False: "vectors", True: "next_vectors"}  # by whether new vectors are to replace the old


def count_pending(connection: apsw.Connection, replacing: bool) -> int:
    missing = f"text_hash NOT IN (SELECT text_hash FROM {TABLES[replacing]})"
    return int(connection.execute(f"SELECT count(*) FROM chunks WHERE {missing}").get)


def pending(
    connection: apsw.Connection, after: int, limit: int, replacing: bool
) -> list[tuple[int, bytes, str]]:
    rows = connection.execute(
        "SELECT c.row, c.text_hash, c.heading_path, x.content "
        "FROM chunks c JOIN contents x ON x.row = c.row WHERE c.row > ? "
        f"AND NOT EXISTS (SELECT 1 FROM {TABLES[replacing]} v WHERE v.text_hash = c.text_hash) "
        "ORDER BY c.row LIMIT ?",
        (after, limit),
    )
    return [(row, key, embedding_text(heading, content)) for row, key, heading, content in rows]


def put(connection: apsw.Connection, hashes: Sequence[bytes], vectors: Int16, replacing: bool) -> None:
    if not replacing:
        _check_dimensions(connection, vectors.shape[1])
    rows = zip(hashes, np.ascontiguousarray(vectors, "<i2"), strict=True)
    connection.executemany(
        f"INSERT OR IGNORE INTO {TABLES[replacing]} (text_hash, vector) VALUES (?, ?)",
        ((key, vector.tobytes()) for key, vector in rows),
    )


def _check_dimensions(connection: apsw.Connection, given: int) -> None:
    stored = connection.execute("SELECT value FROM meta WHERE key = 'dimensions'").get
    if stored is not None and int(stored) != given:
        raise Conflict(
            f"the embedder gives {given} dimensions, the vectors of this index have {stored}; "
            "make them anew: 'quintet index --reembed --embedder NAME'"
        )


def use_embedder(connection: apsw.Connection, identity: str, dimensions: int) -> None:
    values = (("embedder", identity), ("dimensions", str(dimensions)))
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)


def begin_replacement(connection: apsw.Connection, identity: str) -> None:
    """Go on with a replacement by the same embedder, or start one afresh."""
    if connection.execute("SELECT value FROM meta WHERE key = 'next_embedder'").get != identity:
        connection.execute("DELETE FROM next_vectors")
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('next_embedder', ?)", (identity,))


def finish_replacement(connection: apsw.Connection, identity: str, dimensions: int) -> None:
    _renumber(connection, "next_vectors", "text_hash")
    connection.execute("DELETE FROM next_vectors")
    connection.execute("DELETE FROM meta WHERE key = 'next_embedder'")
    use_embedder(connection, identity, dimensions)


def drop_unused(connection: apsw.Connection) -> None:
    """Forget vectors no chunk needs; once most matrix rows are dead, number them anew."""
    for table in TABLES.values():
        connection.execute(f"DELETE FROM {table} WHERE text_hash NOT IN (SELECT text_hash FROM chunks)")
    live = connection.execute("SELECT count(*) FROM vectors").get
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'vectors'").get or 0
    if last > 2 * live + SPARE_VECTORS:
        _renumber(connection, "vectors", "row")


def _renumber(connection: apsw.Connection, source: str, order: str) -> None:
    """Fill `vectors` from `source` with rows from 1 on: another epoch, so another matrix. An epoch is drawn,
    not counted: should a power cut take this one back, the next has another name than its matrix."""
    connection.execute(f"CREATE TEMP TABLE kept AS SELECT text_hash, vector FROM {source} ORDER BY {order}")
    connection.execute("DELETE FROM vectors")
    connection.execute("DELETE FROM sqlite_sequence WHERE name = 'vectors'")
    connection.execute(
        "INSERT INTO vectors (text_hash, vector) SELECT text_hash, vector FROM kept ORDER BY rowid"
    )
    connection.execute("DROP TABLE kept")
    connection.execute(EPOCH)


def matrix_of(connection: apsw.Connection, folder: Path) -> Path:
    """Where the matrix of these rows lies, for as long as nothing numbers them anew."""
    return folder / f"vectors-{meta(connection, 'index_id')}-{meta(connection, 'vector_epoch')}"


def is_from_here(connection: apsw.Connection, matrix: Path) -> bool:
    """Are the rows of a matrix from a state that this database went through? It may have been put back, or
    have lost its last commits."""
    origin, state = origin_of(matrix), state_of(connection)
    return origin is not None and led_here(connection, State(state.index_id, *origin), state)


def keep_apart(connection: apsw.Connection, folder: Path) -> None:
    """Before rows are added: what was made of others with the same numbers must not be taken for theirs."""
    matrix = matrix_of(connection, folder)
    if matrix.exists() and not is_from_here(connection, matrix):
        connection.execute(EPOCH)
