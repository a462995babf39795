"""Reads the text of chunks from the database, as postings are built from it."""

from collections.abc import Iterator
from itertools import islice

import apsw
import numpy as np
import numpy.typing as npt

from quintet.model.documents import embedding_context, is_text_of
from quintet.storage.text.analysis import parts_of_each, path_words, plain
from quintet.storage.text.postings.build import ChunkText

READ_AT_ONCE = 500  # chunks
# The path of a record is its id, and no text. Records belong to a root that is not a folder.
FILE_PATH = "CASE WHEN r.location = r.name THEN '' ELSE d.path END"
TEXTS = (
    f"SELECT c.text_hash, d.language, d.path, c.row, d.id, x.content, c.heading_path, d.title, {FILE_PATH} "
    "FROM chunks c JOIN documents d ON d.row = c.document JOIN contents x ON x.row = c.row "
    "JOIN roots r ON r.row = d.root"
)


def texts(connection: apsw.Connection, sql: str, values: "apsw.Bindings" = ()) -> Iterator[ChunkText]:
    """Each text is compared with its hash: postings would keep a flipped bit long after it was repaired."""
    cursor = connection.execute(f"{sql} ORDER BY c.row", values)
    while rows := list(islice(cursor, READ_AT_ONCE)):
        for key, language, path, row, _, content, heading, *_ in rows:
            if not is_text_of(key, embedding_context(language, path), heading, content):
                raise apsw.CorruptError(f"the text of chunk {row} is not what was indexed")
        _, _, _, numbers, documents, *columns, paths = zip(*rows, strict=True)
        text = [list(map(plain, column)) for column in columns]
        parts = map(parts_of_each, text)
        yield from map(
            ChunkText,
            numbers,
            map(bytes.fromhex, documents),
            zip(*text, strict=True),
            zip(*parts, strict=True),
            map(path_words, paths),
        )


def texts_between(connection: apsw.Connection, after: int, to: int) -> Iterator[ChunkText]:
    """The chunks at the rows after `after`, up to and including `to`."""
    return texts(connection, f"{TEXTS} WHERE c.row > ? AND c.row <= ?", (after, to))


def texts_at(connection: apsw.Connection, rows: npt.NDArray[np.int64]) -> Iterator[ChunkText]:
    """The chunks at these rows, of which there is at least one."""
    return texts(connection, f"{TEXTS} WHERE c.row IN (SELECT value FROM carray(?))", (apsw.carray(rows),))
