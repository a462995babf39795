"""Writes the code graph: symbols change with their document, edges when a run has seen all files.

A row of `outlines` and of `symbols` lives as long as its id, through any number of edits, so edges from other
documents stay. The transaction that changes a document stores in `unlinked` the outline from which its edges
were made. The linker then sees which names came and went.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import apsw

from quintet.model.symbols import Edge, FileOutline, Outline, node_ids
from quintet.ports.writing import Entry, Unlinked
from quintet.storage.graph.codec import decoded, encoded
from quintet.storage.graph.names import names, nodes_of_chunks, outline_of
from quintet.storage.sqlite.catalog import meta
from quintet.storage.sqlite.checksums import COLUMNS, row_checksum
from quintet.storage.sqlite.document_tables import next_row
from quintet.storage.sqlite.writer_connection import WriterConnection

SHORT = 100  # characters of an outline without symbols
# Drawn, not counted: a restored database would count to the same numbers again.
EPOCH = "INSERT OR REPLACE INTO meta VALUES ('graph_epoch', lower(hex(randomblob(8))))"
LOST = "UPDATE unlinked SET lost = 1 WHERE document = ?"
OUT_EDGES = "DELETE FROM edges WHERE source IN (SELECT row FROM symbols WHERE outline = ?)"
OUT_OF_DOCUMENT = (
    "DELETE FROM edges WHERE source IN (SELECT s.row FROM outlines o JOIN symbols s ON s.outline = o.row "
    "WHERE o.document = ?)"
)
PUT_SYMBOL = (
    f"INSERT INTO symbols ({COLUMNS['symbols']}, checksum) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (id) DO UPDATE SET number = excluded.number, parent = excluded.parent, "
    "kind = excluded.kind, name = excluded.name, qualified_name = excluded.qualified_name, "
    "signature = excluded.signature, docstring = excluded.docstring, "
    "first_line = excluded.first_line, last_line = excluded.last_line, "
    "visibility = excluded.visibility, is_test = excluded.is_test, checksum = excluded.checksum"
)


class SqliteGraphWriter:
    """Writes symbols with their documents, and edges when a run has seen all files."""

    def __init__(self, connection: WriterConnection) -> None:
        self._connection = connection

    def put(self, entries: Sequence[Entry]) -> list[list[str | None]]:
        """Replace the symbols of these documents, and return the nodes of each one's chunks. Edges stay until
        the graph is linked."""
        connection = self._connection.in_batch
        outlines = [outline_of(entry) for entry in entries]
        ids = [node_ids(entry.document.id, outline) for entry, outline in zip(entries, outlines, strict=True)]
        before = _stored_outlines(connection, entries)
        rows = _put_outlines(connection, entries, list(map(encoded, outlines)), before)
        gone, changed = False, list[tuple[Any, ...]]()
        for entry, outline, nodes, row in zip(entries, outlines, ids, rows, strict=True):
            wanted = dict(_symbol_rows(entry, outline, nodes))
            stored = _stored_symbols(connection, row) if entry.document.id in before else {}
            if lost := [node for node in stored if node not in wanted]:
                _drop_symbols(connection, entry.document.id, lost)
                gone = True
            changed += [(node, row, *values) for node, values in wanted.items() if stored.get(node) != values]
        connection.executemany(PUT_SYMBOL, ((*row, row_checksum(*row)) for row in changed))
        if gone or changed:
            connection.execute(EPOCH)
        return [
            nodes_of_chunks(entry.document, outline, nodes, entry.chunks)
            for entry, outline, nodes in zip(entries, outlines, ids, strict=True)
        ]

    def remove(self, document: str, root: str, path: str) -> None:
        connection = self._connection.in_batch
        outlines = connection.execute("SELECT row, body FROM outlines WHERE document = ?", (document,))
        for row, body in cast("list[tuple[int, str]]", outlines.fetchall()):
            _mark(connection, [(document, root, path, body)])
            connection.execute(LOST, (document,))
            connection.execute(OUT_EDGES, (row,))
            connection.execute(
                "DELETE FROM edges WHERE target IN (SELECT row FROM symbols WHERE outline = ?)", (row,)
            )
            connection.execute("DELETE FROM symbols WHERE outline = ?", (row,))
            connection.execute("DELETE FROM outlines WHERE row = ?", (row,))
            connection.execute(EPOCH)

    def drop_root(self, root: str) -> None:
        """Edges stay within a root, so with its documents gone nothing is left to link."""
        self._connection.in_batch.execute("DELETE FROM unlinked WHERE root = ?", (root,))

    def unlinked(self, root: str) -> list[Unlinked]:
        with self._connection.reading() as connection:
            rows = connection.execute(
                "SELECT document, path, before, lost FROM unlinked WHERE root = ? ORDER BY path", (root,)
            )
            return [
                Unlinked(document, path, decoded(body) if body else None, bool(lost))
                for document, path, body, lost in rows
            ]

    def outlines(self, root: str) -> list[FileOutline]:
        with self._connection.reading() as connection:
            rows = connection.execute(
                "SELECT o.document, d.path, o.body FROM roots r JOIN documents d ON d.root = r.row "
                "JOIN outlines o ON o.document = d.id WHERE r.name = ? ORDER BY d.path",
                (root,),
            )
            return list(_file_outlines(rows))

    def link(self, root: str, edges: Mapping[str, Sequence[Edge]]) -> None:
        connection = self._connection.in_batch
        if connection.execute("SELECT EXISTS (SELECT 1 FROM edges)").get:
            connection.executemany(OUT_OF_DOCUMENT, ((document,) for document in edges))
        row_of = _symbol_rows_of(connection, root) if any(edges.values()) else {}
        rows = [
            (row_of.get(edge.source), row_of.get(edge.target), edge.relation, edge.confidence, edge.line)
            for document_edges in edges.values()
            for edge in document_edges
        ]
        rows.sort(key=lambda row: row[0] or 0)  # in the order of the table, to fill its pages in turn
        connection.executemany(
            "INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            ((*row, row_checksum(*row)) for row in rows),
        )
        connection.execute("DELETE FROM unlinked WHERE root = ?", (root,))
        if edges:
            connection.execute(EPOCH)

    def linker(self) -> str | None:
        with self._connection.reading() as connection:
            return meta(connection, "linker")

    def use_linker(self, linker: str) -> None:
        self._connection.in_batch.execute("INSERT OR REPLACE INTO meta VALUES ('linker', ?)", (linker,))


def _file_outlines(rows: Iterable[Any]) -> Iterator[FileOutline]:
    """Short outlines are decoded once: those of most prose are equal."""
    short: dict[str, Outline] = {}
    for document, path, body in rows:
        outline = short.get(body)
        if outline is None:
            outline = decoded(body)
            if len(body) <= SHORT:
                short[body] = outline
        yield FileOutline(document, path, outline)


def _stored_outlines(connection: apsw.Connection, entries: Sequence[Entry]) -> dict[str, tuple[int, str]]:
    """Row and body by document."""
    if not entries:
        return {}
    rows: Any = connection.execute(
        "SELECT document, row, body FROM outlines WHERE document IN (SELECT value FROM carray(?))",
        (apsw.carray(tuple(entry.document.id for entry in entries)),),
    )
    return {document: (row, body) for document, row, body in rows}


def _put_outlines(
    connection: apsw.Connection,
    entries: Sequence[Entry],
    bodies: Sequence[str],
    before: Mapping[str, tuple[int, str]],
) -> list[int]:
    """The row of each outline. A document whose outline changed is marked as unlinked."""
    rows, new, changed = list[int](), list[tuple[int, str, str]](), list[tuple[str, str]]()
    unused = next_row(connection, "outlines")
    marks = []
    for entry, body in zip(entries, bodies, strict=True):
        document = entry.document
        row, old = before.get(document.id, (unused + len(new), None))
        rows.append(row)
        if old != body:
            marks.append((document.id, document.root, document.path, old))
        if old is None:
            new.append((row, document.id, body))
        elif old != body:
            changed.append((body, document.id))
    _mark(connection, marks)
    connection.executemany("INSERT INTO outlines (row, document, body) VALUES (?, ?, ?)", new)
    connection.executemany("UPDATE outlines SET body = ? WHERE document = ?", changed)
    return rows


def _mark(connection: apsw.Connection, marks: Iterable[tuple[str, str, str, str | None]]) -> None:
    """The first mark counts: its outline is the one that the stored edges were made from."""
    connection.executemany("INSERT OR IGNORE INTO unlinked VALUES (?, ?, ?, ?, 0)", marks)


def _stored_symbols(connection: apsw.Connection, outline: int) -> dict[str, list[Any]]:
    rows: Any = connection.execute(
        "SELECT id, number, parent, kind, name, qualified_name, signature, docstring, first_line, last_line, "
        "visibility, is_test FROM symbols WHERE outline = ?",
        (outline,),
    )
    return {node: values for node, *values in rows}


def _drop_symbols(connection: apsw.Connection, document: str, nodes: Iterable[str]) -> None:
    gone = [(node,) for node in nodes]
    for statement in (
        "DELETE FROM edges WHERE source = (SELECT row FROM symbols WHERE id = ?)",
        "DELETE FROM edges WHERE target = (SELECT row FROM symbols WHERE id = ?)",
        "DELETE FROM symbols WHERE id = ?",
    ):
        connection.executemany(statement, gone)
    connection.execute(LOST, (document,))


def _symbol_rows(entry: Entry, outline: Outline, ids: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    called = names(entry.document, outline)
    for number, (node, symbol, (name, qualified)) in enumerate(
        zip(ids, outline.symbols, called, strict=True)
    ):
        prose = not symbol.path and entry.document.language is None
        yield (
            node,
            [
                number,
                symbol.parent,
                "document" if prose else symbol.kind,
                name,
                qualified,
                symbol.signature,
                symbol.docstring,
                symbol.first_line,
                symbol.last_line,
                symbol.visibility,
                int(symbol.is_test),
            ],
        )


def _symbol_rows_of(connection: apsw.Connection, root: str) -> dict[str, int]:
    """By node id. Edges stay within a root."""
    rows: Any = connection.execute(
        "SELECT s.id, s.row FROM roots r JOIN documents d ON d.root = r.row "
        "JOIN outlines o ON o.document = d.id JOIN symbols s ON s.outline = o.row WHERE r.name = ?",
        (root,),
    )
    return dict(rows)
