"""The one writer: documents, chunks, full text and vectors change together, in one transaction a batch."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256

import apsw

from quintet.model import Chunk, digest, embedding_text
from quintet.ports import KnownFile, Root
from quintet.stores.sqlite import catalog, graph_rows, tree, vector_rows
from quintet.stores.sqlite.analyse import identifier_parts, pairs, plain
from quintet.stores.sqlite.database import Database
from quintet.stores.sqlite.postings_view import PostingsViews
from quintet.symbols import Edge, FileOutline
from quintet.vector import Int16
from quintet.writing import Choices, Entry, Unlinked

REMEMBERED = 10_000  # generations whose tags are kept


class SqliteWriter:
    """Use only while holding the index's writer lock."""

    def __init__(self, database: Database, postings: PostingsViews) -> None:
        self._database = database
        self._postings = postings
        self._open: apsw.Connection | None = None

    @contextmanager
    def batch(self) -> Iterator[None]:
        """One transaction. The generation goes up if it changed anything."""
        with self._database.writing() as connection:
            before = connection.total_changes()
            self._open = connection
            try:
                yield
                if connection.total_changes() != before:
                    _advance(connection)
            finally:
                self._open = None

    @property
    def _connection(self) -> apsw.Connection:
        assert self._open is not None, "write inside `with writer.batch():`"
        return self._open

    def roots(self) -> list[Root]:
        with self._database.inspecting() as connection:
            return catalog.roots(connection)

    def known(self, root: str) -> dict[str, KnownFile]:
        with self._database.inspecting() as connection:
            return catalog.known(connection, root)

    def put_root(self, root: Root) -> None:
        only = None if root.only is None else json.dumps(sorted(root.only))
        self._connection.execute(
            "INSERT INTO roots (name, location, only_files) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE "
            "SET location = excluded.location, only_files = excluded.only_files",
            (root.name, root.location, only),
        )

    def drop_root(self, name: str) -> int:
        paths = list(self.known(name))
        self.remove(name, paths)
        graph_rows.drop_root(self._connection, name)
        self._connection.execute("DELETE FROM roots WHERE name = ?", (name,))
        return len(paths)

    def put(self, entry: Entry) -> None:
        document = entry.document
        before = self._row(document.root, document.path)
        if before is not None:
            self._remove_document(before)
        tree.mark(self._connection, document.id, document.root, document.path)
        nodes = graph_rows.put(self._connection, entry)
        self._connection.execute(
            "INSERT INTO documents (id, root, path, title, mime_type, language, size, modified_ns, "
            "indexed_ns, content_hash, shape, metadata) "
            "VALUES (?, (SELECT row FROM roots WHERE name = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                document.id,
                document.root,
                document.path,
                document.title,
                document.mime_type,
                document.language,
                document.size,
                document.modified_ns,
                entry.indexed_ns,
                document.content_hash,
                entry.shape,
                json.dumps(document.metadata, sort_keys=True),
            ),
        )
        row = self._connection.last_insert_rowid()
        for chunk, node in zip(entry.chunks, nodes, strict=True):
            self._put_chunk(row, chunk, node, document.title)

    def _put_chunk(self, document: int, chunk: Chunk, node: str | None, title: str) -> None:
        execute = self._connection.execute
        execute(
            "INSERT INTO chunks (id, document, sequence, first_line, last_line, kind, name, heading_path, "
            "text_hash, page, node) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
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
            ),
        )
        row = self._connection.last_insert_rowid()
        execute("INSERT INTO contents VALUES (?, ?)", (row, chunk.content))
        fields = (plain(chunk.content), plain(chunk.heading_path), plain(title))
        for table, analysed in (
            ("text", fields),
            ("parts", tuple(map(identifier_parts, fields))),
            ("cjk", tuple(map(pairs, fields))),
        ):
            if table == "text" or any(analysed):
                sql = f"INSERT INTO {table} (rowid, content, heading_path, title) VALUES (?, ?, ?, ?)"
                execute(sql, (row, *analysed))

    def touch(self, root: str, path: str, size: int, modified_ns: int, indexed_ns: int) -> None:
        self._connection.execute(
            "UPDATE documents SET size = ?, modified_ns = ?, indexed_ns = ? "
            "WHERE path = ? AND root = (SELECT row FROM roots WHERE name = ?)",
            (size, modified_ns, indexed_ns, path, root),
        )

    def remove(self, root: str, paths: Sequence[str]) -> None:
        for path in paths:
            document = self._row(root, path)
            if document is not None:
                self._remove_document(document)
                graph_rows.remove(self._connection, digest(root, path), root, path)
                tree.mark(self._connection, digest(root, path), root, path)

    def _row(self, root: str, path: str) -> int | None:
        found: int | None = self._connection.execute(
            "SELECT d.row FROM documents d JOIN roots r ON r.row = d.root WHERE r.name = ? AND d.path = ?",
            (root, path),
        ).get
        return found

    def _remove_document(self, document: int) -> None:
        execute = self._connection.execute
        chunks = [row for (row,) in execute("SELECT row FROM chunks WHERE document = ?", (document,))]
        for row in chunks:
            for table in ("text", "parts", "cjk"):
                execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
            execute("DELETE FROM contents WHERE row = ?", (row,))
            execute("DELETE FROM chunks WHERE row = ?", (row,))
        execute("DELETE FROM documents WHERE row = ?", (document,))

    def remember(self, choices: Choices) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO meta VALUES ('choices', ?)", (json.dumps(asdict(choices)),)
        )

    def use_embedder(self, identity: str, dimensions: int) -> None:
        vector_rows.use_embedder(self._connection, identity, dimensions)

    def count_pending(self, *, replacing: bool = False) -> int:
        with self._database.inspecting() as connection:
            return vector_rows.count_pending(connection, replacing)

    def pending(self, after: int, limit: int, *, replacing: bool = False) -> list[tuple[int, bytes, str]]:
        with self._database.inspecting() as connection:
            return vector_rows.pending(connection, after, limit, replacing)

    def put_vectors(self, hashes: Sequence[bytes], vectors: Int16, *, replacing: bool = False) -> None:
        vector_rows.put(self._connection, hashes, vectors, replacing)
        if not replacing:
            tree.mark_texts(self._connection, hashes)

    def begin_replacement(self, identity: str) -> None:
        vector_rows.begin_replacement(self._connection, identity)

    def finish_replacement(self, identity: str, dimensions: int) -> None:
        vector_rows.finish_replacement(self._connection, identity, dimensions)
        tree.mark_all(self._connection)

    def forget_names(self) -> None:
        """Keep no name of a document that is no longer here."""
        self._connection.execute("DELETE FROM changes WHERE id NOT IN (SELECT id FROM documents)")
        # Whoever keeps something up to date by `changes` learns that from before this it cannot.
        now = catalog.number(self._connection, "generation") + 1
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('names_forgotten', ?)", (str(now),))

    def settle(self) -> None:
        """In a transaction of its own that leaves the generation alone: nothing a search sees changes."""
        with self._database.writing() as connection:
            tree.settle(connection)
        with self._database.reading() as connection:
            self._postings.compact(connection)

    def drop_unused_vectors(self) -> None:
        vector_rows.drop_unused(self._connection)

    def clear(self) -> int:
        gone = sum(self.drop_root(root.name) for root in self.roots())
        self.drop_unused_vectors()
        return gone

    def unlinked(self, root: str) -> list[Unlinked]:
        with self._database.inspecting() as connection:
            return graph_rows.unlinked(connection, root)

    def outlines(self, root: str) -> list[FileOutline]:
        with self._database.inspecting() as connection:
            return graph_rows.outlines(connection, root)

    def link(self, root: str, edges: Mapping[str, Sequence[Edge]]) -> None:
        graph_rows.link(self._connection, root, edges)

    def linker(self) -> str | None:
        with self._database.inspecting() as connection:
            return catalog.meta(connection, "linker")

    def use_linker(self, linker: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('linker', ?)", (linker,))


def _advance(connection: apsw.Connection) -> None:
    """The next generation, with a tag of its own."""
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
    generation = catalog.number(connection, "generation")
    connection.execute("INSERT INTO lineage VALUES (?, hex(randomblob(8)))", (generation,))
    connection.execute("DELETE FROM lineage WHERE generation <= ?", (generation - REMEMBERED,))


def text_hash(chunk: Chunk) -> bytes:
    """What a vector goes by: the very text that is embedded."""
    return sha256(embedding_text(chunk.heading_path, chunk.content).encode()).digest()
