"""Writes the tables of documents, chunks and full text: many documents in a few statements, since a statement
costs more than the row it writes."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, repeat
from typing import Any

import apsw

from quintet.model.documents import Chunk, embedding_hash
from quintet.ports.writing import Entry
from quintet.storage.sqlite.checksums import COLUMNS, row_checksum
from quintet.storage.text.analysis import pairs, parts_of_each, plain

Row = tuple[Any, ...]
TEXT_TABLES = ("text", "parts", "cjk")
DOCUMENT = (
    f"INSERT INTO documents ({COLUMNS['documents']}, checksum) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
CHUNK = f"INSERT INTO chunks ({COLUMNS['chunks']}, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def put(connection: apsw.Connection, entries: Iterable[tuple[Entry, Sequence[str | None]]]) -> None:
    """Write new documents, each with the graph nodes of its chunks."""
    roots: dict[str, int] = dict(connection.execute("SELECT name, row FROM roots"))
    document_row, chunk_row = next_row(connection, "documents"), next_row(connection, "chunks")
    documents: list[Row] = []
    chunks: list[Row] = []
    contents, headings, titles = list[str](), list[str](), list[str]()
    for entry, nodes in entries:
        documents.append(_document(document_row, roots[entry.document.root], entry))
        first = chunk_row + len(chunks)
        context = entry.document.context
        chunks += map(_chunk, count(first), repeat(document_row), repeat(context), entry.chunks, nodes)
        contents += [chunk.content for chunk in entry.chunks]
        headings += [chunk.heading_path for chunk in entry.chunks]
        titles += [plain(entry.document.title)] * len(entry.chunks)
        document_row += 1
    connection.executemany(DOCUMENT, ((*row, row_checksum(*row)) for row in documents))
    connection.executemany(CHUNK, ((*row, row_checksum(*row)) for row in chunks))
    rows = range(chunk_row, chunk_row + len(chunks))
    connection.executemany("INSERT INTO contents VALUES (?, ?)", zip(rows, contents, strict=True))
    _put_text(connection, rows, (list(map(plain, contents)), list(map(plain, headings)), titles))


def next_row(connection: apsw.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT coalesce(max(row), 0) + 1 FROM {table}").get)


def _document(row: int, root: int, entry: Entry) -> Row:
    document = entry.document
    return (
        row,
        document.id,
        root,
        document.path,
        document.title,
        document.mime_type,
        document.language,
        document.size,
        document.modified_ns,
        entry.indexed_ns,
        document.content_hash,
        entry.shape,
        json.dumps(document.metadata, sort_keys=True) if document.metadata else "{}",
    )


def _chunk(row: int, document: int, context: str, chunk: Chunk, node: str | None) -> Row:
    chunk_id, _, sequence, content, heading, first, last, kind, name, page = chunk
    key = embedding_hash(context, heading, content)
    return row, chunk_id, document, sequence, first, last, kind, name, heading, key, page, node


def _put_text(connection: apsw.Connection, rows: range, fields: Sequence[Sequence[str]]) -> None:
    """Rows without identifier parts or without CJK are not written to the tables for those."""
    parts = zip(rows, *map(parts_of_each, fields), strict=True)
    cjk = zip(rows, *(map(pairs, texts) for texts in fields), strict=True)
    for table, some in zip(
        TEXT_TABLES, (zip(rows, *fields, strict=True), _not_empty(parts), _not_empty(cjk)), strict=True
    ):
        connection.executemany(
            f"INSERT INTO {table} (rowid, content, heading_path, title) VALUES (?, ?, ?, ?)", some
        )


def _not_empty(rows: Iterable[Row]) -> Iterator[Row]:
    return (row for row in rows if row[1] or row[2] or row[3])


def present(connection: apsw.Connection, document_ids: Sequence[str]) -> list[str]:
    """Which of these documents exist, in the order given."""
    if not document_ids:
        return []
    wanted = apsw.carray(tuple(document_ids))
    rows = connection.execute("SELECT id FROM documents WHERE id IN (SELECT value FROM carray(?))", (wanted,))
    stored = {document_id for (document_id,) in rows}
    return [document_id for document_id in document_ids if document_id in stored]


def remove(connection: apsw.Connection, document_ids: Sequence[str]) -> None:
    """Remove existing documents with their chunks and their text."""
    if not document_ids:
        return
    chunks = connection.execute(
        "SELECT c.row FROM documents d JOIN chunks c ON c.document = d.row "
        "WHERE d.id IN (SELECT value FROM carray(?))",
        (apsw.carray(tuple(document_ids)),),
    ).fetchall()
    for table in TEXT_TABLES:
        connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", chunks)
    connection.executemany("DELETE FROM contents WHERE row = ?", chunks)
    connection.executemany("DELETE FROM chunks WHERE row = ?", chunks)
    connection.executemany(
        "DELETE FROM documents WHERE id = ?", ((document_id,) for document_id in document_ids)
    )
