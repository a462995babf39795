"""The rows of the code graph: symbols change with their document, edges when a run has seen all files.

A row of `outlines` and of `symbols` lives as long as its id does, through any number of edits, so that edges
from other documents stay. `unlinked` remembers, in the transaction that changed a document, what it was
when edges were last made: whoever makes them anew sees which names came and went.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import apsw

from quintet.model.symbols import Edge, FileOutline, Outline, node_ids
from quintet.ports.writing import Entry, Unlinked
from quintet.storage.graph.codec import decoded, encoded
from quintet.storage.graph.names import names, nodes_of_chunks, outline_of
from quintet.storage.sqlite.document_tables import next_row

SHORT = 100  # characters of an outline that names nothing
# Drawn, not counted: a database that was put back would count to the same numbers again.
EPOCH = "INSERT OR REPLACE INTO meta VALUES ('graph_epoch', lower(hex(randomblob(8))))"
LOST = "UPDATE unlinked SET lost = 1 WHERE document = ?"
OUT_EDGES = "DELETE FROM edges WHERE source IN (SELECT row FROM symbols WHERE outline = ?)"
OUT_OF_DOCUMENT = (
    "DELETE FROM edges WHERE source IN (SELECT s.row FROM outlines o JOIN symbols s ON s.outline = o.row "
    "WHERE o.document = ?)"
)
PUT_SYMBOL = (
    "INSERT INTO symbols (id, outline, number, parent, kind, name, qualified_name, signature, docstring, "
    "first_line, last_line, visibility, is_test) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (id) DO UPDATE SET number = excluded.number, parent = excluded.parent, "
    "kind = excluded.kind, name = excluded.name, qualified_name = excluded.qualified_name, "
    "signature = excluded.signature, docstring = excluded.docstring, "
    "first_line = excluded.first_line, last_line = excluded.last_line, "
    "visibility = excluded.visibility, is_test = excluded.is_test"
)


def put(connection: apsw.Connection, entries: Sequence[Entry]) -> list[list[str | None]]:
    """Replace the symbols of these documents; of each the nodes of its chunks. Edges stay until the graph
    is linked."""
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
    connection.executemany(PUT_SYMBOL, changed)
    if gone or changed:
        connection.execute(EPOCH)
    return [
        nodes_of_chunks(entry.document, outline, nodes, entry.chunks)
        for entry, outline, nodes in zip(entries, outlines, ids, strict=True)
    ]


def _stored_outlines(connection: apsw.Connection, entries: Sequence[Entry]) -> dict[str, tuple[int, str]]:
    """Row and body by document."""
    if not entries:
        return {}
    found: Any = connection.execute(
        "SELECT document, row, body FROM outlines WHERE document IN (SELECT value FROM carray(?))",
        (apsw.carray(tuple(entry.document.id for entry in entries)),),
    )
    return {document: (row, body) for document, row, body in found}


def _put_outlines(
    connection: apsw.Connection,
    entries: Sequence[Entry],
    bodies: Sequence[str],
    before: Mapping[str, tuple[int, str]],
) -> list[int]:
    """The row of each; a document whose outline is another than before is marked."""
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
    """The first mark counts: it tells what the edges in the table were made of."""
    connection.executemany("INSERT OR IGNORE INTO unlinked VALUES (?, ?, ?, ?, 0)", marks)


def _stored_symbols(connection: apsw.Connection, outline: int) -> dict[str, list[Any]]:
    found: Any = connection.execute(
        "SELECT id, number, parent, kind, name, qualified_name, signature, docstring, first_line, last_line, "
        "visibility, is_test FROM symbols WHERE outline = ?",
        (outline,),
    )
    return {node: values for node, *values in found}


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


def remove(connection: apsw.Connection, document: str, root: str, path: str) -> None:
    found = connection.execute("SELECT row, body FROM outlines WHERE document = ?", (document,)).fetchall()
    for row, body in cast("list[tuple[int, str]]", found):
        _mark(connection, [(document, root, path, body)])
        connection.execute(LOST, (document,))
        connection.execute(OUT_EDGES, (row,))
        connection.execute(
            "DELETE FROM edges WHERE target IN (SELECT row FROM symbols WHERE outline = ?)", (row,)
        )
        connection.execute("DELETE FROM symbols WHERE outline = ?", (row,))
        connection.execute("DELETE FROM outlines WHERE row = ?", (row,))
        connection.execute(EPOCH)


def drop_root(connection: apsw.Connection, root: str) -> None:
    """Edges stay within a root, so with its documents gone nothing is left to link."""
    connection.execute("DELETE FROM unlinked WHERE root = ?", (root,))


def unlinked(connection: apsw.Connection, root: str) -> list[Unlinked]:
    rows = connection.execute(
        "SELECT document, path, before, lost FROM unlinked WHERE root = ? ORDER BY path", (root,)
    )
    return [
        Unlinked(document, path, decoded(body) if body else None, bool(lost))
        for document, path, body, lost in rows
    ]


def outlines(connection: apsw.Connection, root: str) -> list[FileOutline]:
    rows = connection.execute(
        "SELECT o.document, d.path, o.body FROM roots r JOIN documents d ON d.root = r.row "
        "JOIN outlines o ON o.document = d.id WHERE r.name = ? ORDER BY d.path",
        (root,),
    )
    alike: dict[str, Outline] = {}  # most prose says the same: that it is a document of so many lines
    found = []
    for document, path, body in rows:
        outline = alike.get(body)
        if outline is None:
            outline = decoded(body)
            if len(body) <= SHORT:
                alike[body] = outline
        found.append(FileOutline(document, path, outline))
    return found


def link(connection: apsw.Connection, root: str, edges: Mapping[str, Sequence[Edge]]) -> None:
    """Put these in the place of all that goes out of these documents, and take the root's marks away."""
    if connection.execute("SELECT EXISTS (SELECT 1 FROM edges)").get:
        connection.executemany(OUT_OF_DOCUMENT, ((document,) for document in edges))
    row_of = _symbol_rows_of(connection, root) if any(edges.values()) else {}
    rows = [
        (row_of.get(edge.source), row_of.get(edge.target), edge.relation, edge.confidence, edge.line)
        for found in edges.values()
        for edge in found
    ]
    rows.sort(key=lambda row: row[0] or 0)  # as the table is ordered, so that its pages are filled in turn
    connection.executemany("INSERT INTO edges VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", rows)
    connection.execute("DELETE FROM unlinked WHERE root = ?", (root,))
    if edges:
        connection.execute(EPOCH)


def _symbol_rows_of(connection: apsw.Connection, root: str) -> dict[str, int]:
    """By node id. Edges stay within a root."""
    found: Any = connection.execute(
        "SELECT s.id, s.row FROM roots r JOIN documents d ON d.root = r.row "
        "JOIN outlines o ON o.document = d.id JOIN symbols s ON s.outline = o.row WHERE r.name = ?",
        (root,),
    )
    return dict(found)
