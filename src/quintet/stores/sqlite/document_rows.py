"""The rows of documents, their chunks and their full text: many documents in a few statements, since a
statement costs more than the row it writes."""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import apsw

from quintet.model import Chunk, embedding_text
from quintet.stores.sqlite.analyse import identifier_parts, pairs, plain
from quintet.writing import Entry

Row = tuple[Any, ...]
TEXT_TABLES = ("text", "parts", "cjk")
DOCUMENT = (
    "INSERT INTO documents (row, id, root, path, title, mime_type, language, size, modified_ns, indexed_ns, "
    "content_hash, shape, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
CHUNK = (
    "INSERT INTO chunks (row, id, document, sequence, first_line, last_line, kind, name, heading_path, "
    "text_hash, page, node) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def put(connection: apsw.Connection, entries: Iterable[tuple[Entry, Sequence[str | None]]]) -> None:
    """Write new documents, each with the graph's node of each of its chunks."""
    roots: dict[str, int] = dict(connection.execute("SELECT name, row FROM roots"))
    document_row, chunk_row = next_row(connection, "documents"), next_row(connection, "chunks")
    documents: list[Row] = []
    chunks: list[Row] = []
    contents: list[Row] = []
    fields: list[Row] = []
    for entry, nodes in entries:
        documents.append(_document(document_row, roots[entry.document.root], entry))
        title = plain(entry.document.title)
        for chunk, node in zip(entry.chunks, nodes, strict=True):
            chunks.append(_chunk(chunk_row, document_row, chunk, node))
            contents.append((chunk_row, chunk.content))
            fields.append((chunk_row, plain(chunk.content), plain(chunk.heading_path), title))
            chunk_row += 1
        document_row += 1
    connection.executemany(DOCUMENT, documents)
    connection.executemany(CHUNK, chunks)
    connection.executemany("INSERT INTO contents VALUES (?, ?)", contents)
    _put_text(connection, fields)


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


def _chunk(row: int, document: int, chunk: Chunk, node: str | None) -> Row:
    return (
        row,
        chunk.id,
        document,
        chunk.sequence,
        chunk.first_line,
        chunk.last_line,
        chunk.kind,
        chunk.name,
        chunk.heading_path,
        text_hash(chunk),
        chunk.page,
        node,
    )


def text_hash(chunk: Chunk) -> bytes:
    """What a vector goes by: the very text that is embedded."""
    return sha256(embedding_text(chunk.heading_path, chunk.content).encode()).digest()


def _put_text(connection: apsw.Connection, fields: Sequence[Row]) -> None:
    """Of the parts of identifiers and of CJK only what there is any of."""
    parts = ((row, *map(identifier_parts, texts)) for row, *texts in fields)
    cjk = ((row, *map(pairs, texts)) for row, *texts in fields)
    for table, rows in zip(TEXT_TABLES, (fields, _said(parts), _said(cjk)), strict=True):
        connection.executemany(
            f"INSERT INTO {table} (rowid, content, heading_path, title) VALUES (?, ?, ?, ?)", rows
        )


def _said(rows: Iterable[Row]) -> Iterator[Row]:
    return (row for row in rows if any(row[1:]))


def present(connection: apsw.Connection, document_ids: Sequence[str]) -> list[str]:
    """Those of these documents that are there, in the order given."""
    if not document_ids:
        return []
    wanted = apsw.carray(tuple(document_ids))
    rows = connection.execute("SELECT id FROM documents WHERE id IN (SELECT value FROM carray(?))", (wanted,))
    found = {document_id for (document_id,) in rows}
    return [document_id for document_id in document_ids if document_id in found]


def remove(connection: apsw.Connection, document_ids: Sequence[str]) -> None:
    """Documents that are there, with their chunks and their text."""
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
    connection.executemany("DELETE FROM documents WHERE id = ?", ((one,) for one in document_ids))
