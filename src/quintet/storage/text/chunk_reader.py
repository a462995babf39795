"""The text of chunks as postings are made of it, and SQLite's own way to take it apart."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from quintet.storage.text.analysis import parts_of_each, plain
from quintet.storage.text.postings.build import ChunkText
from quintet.storage.text.postings.tokens import Tokenizer

STEMMED_AT_ONCE = 10_000
READ_AT_ONCE = 500  # chunks
FLAGS = apsw.FTS5_TOKENIZE_DOCUMENT

TEXTS = (
    "SELECT c.row, d.id, x.content, c.heading_path, d.title "
    "FROM chunks c JOIN documents d ON d.row = c.document JOIN contents x ON x.row = c.row"
)


def words(connection: apsw.Connection) -> Tokenizer:
    """SQLite's own tokenizers: that of the tables, and the Porter stemmer over its tokens."""
    unicode = connection.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
    porter = connection.fts5_tokenizer("porter", ["ascii"])  # ascii takes a term as it is

    def tokens(text: str) -> list[str]:
        found: Any = unicode(text.encode(), FLAGS, None, include_offsets=False, include_colocated=False)
        return list(found)

    def stems(terms: Sequence[bytes]) -> list[bytes]:
        found: list[str] = []
        for at in range(0, len(terms), STEMMED_AT_ONCE):
            text = b" ".join(terms[at : at + STEMMED_AT_ONCE])
            stemmed: Any = porter(text, FLAGS, None, include_offsets=False, include_colocated=False)
            found += stemmed
        return [one.encode() for one in found]

    return Tokenizer(tokens, stems)


def texts(connection: apsw.Connection, sql: str, values: "apsw.Bindings" = ()) -> Iterator[ChunkText]:
    found = connection.execute(f"{sql} ORDER BY c.row", values)
    while rows := list(islice(found, READ_AT_ONCE)):
        numbers, documents, *columns = zip(*rows, strict=True)
        text = [list(map(plain, column)) for column in columns]
        parts = map(parts_of_each, text)
        yield from map(
            ChunkText,
            numbers,
            map(bytes.fromhex, documents),
            zip(*text, strict=True),
            zip(*parts, strict=True),
        )


def texts_between(connection: apsw.Connection, after: int, to: int) -> Iterator[ChunkText]:
    """The chunks at the rows behind `after`, up to `to`."""
    return texts(connection, f"{TEXTS} WHERE c.row > ? AND c.row <= ?", (after, to))


def texts_at(connection: apsw.Connection, rows: npt.NDArray[np.int64]) -> Iterator[ChunkText]:
    """The chunks at these rows, one at least."""
    return texts(connection, f"{TEXTS} WHERE c.row IN (SELECT value FROM carray(?))", (apsw.carray(rows),))
