"""The one writer: documents, chunks, full text and vectors change together, in one transaction a batch."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict

import apsw

from quintet.model.documents import digest
from quintet.model.symbols import Edge, FileOutline
from quintet.model.vector import Int16
from quintet.ports.reading import KnownFile, RefusedFiles, Root
from quintet.ports.writing import Choices, Entry, Unlinked
from quintet.storage.graph import writer as graph_rows
from quintet.storage.sqlite import catalog, document_tables, state_tree
from quintet.storage.sqlite.database import Database
from quintet.storage.text.postings.cache import SMALL, PostingsCache
from quintet.storage.text.postings.compaction import CompactionProcess
from quintet.storage.vectors import writer as vector_rows

FEW = 100  # changed documents after which the next search counts, rather than every little run
REMEMBERED = 10_000  # generations whose tags are kept
# Pages in front of a checkpoint. While text is written, 64 MB: a page that every batch changes is copied
# once. Otherwise SQLite's own 4 MB. Vectors are dear, and commits of them few: a power cut takes one at most,
# and who opens the matrix counts on it.
DURING_TEXT, OTHERWISE, DURING_VECTORS = 16_384, 1_000, 1
# KiB of pages, while a run writes. Keys that are digests touch pages all over a tree: a writer that cannot
# keep them reads and writes them again and again (400,000 chunks take half as long again with 64 MiB).
ROOM = 262_144


class SqliteWriter:
    """Use only while holding the index's writer lock."""

    def __init__(self, database: Database, postings: PostingsCache) -> None:
        self._database = database
        self._postings = postings
        self._open: apsw.Connection | None = None
        self._compacting = CompactionProcess()
        self._following = False  # of an index that was empty, and nothing was removed from it
        self._strict = False
        self._matrix_is_ours = False  # as far as was looked

    @contextmanager
    def batch(self) -> Iterator[None]:
        """One transaction. The generation goes up if it changed anything."""
        self._relax()
        with self._database.writing() as connection:
            connection.pragma("cache_size", -ROOM)
            before = connection.total_changes()
            self._open = connection
            try:
                yield
                if connection.total_changes() != before:
                    _advance(connection)
            finally:
                self._open = None
        if self._following:
            self._compacting.tell(self._last_row())

    def _relax(self) -> None:
        """No longer wait for the disk at every commit, once nobody keeps SQLite from emptying its log."""
        if self._strict and not self._compacting.is_alive:
            self._strict = False
            self._database.wait_for_disk(False)
            self._database.checkpoint()

    def _last_row(self) -> int:
        with self._database.inspecting() as connection:
            return document_tables.next_row(connection, "chunks") - 1

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

    def refused(self) -> Mapping[str, RefusedFiles]:
        with self._database.inspecting() as connection:
            return catalog.refused(connection)

    def put_refused(self, files: Mapping[str, RefusedFiles]) -> None:
        values = ("refused", json.dumps(files, sort_keys=True))
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)

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
        refused = catalog.refused(self._connection)
        if refused.pop(name, None) is not None:
            self.put_refused(refused)
        self._connection.execute("DELETE FROM roots WHERE name = ?", (name,))
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('root_dropped', '1')")
        return len(paths)

    def put(self, *entries: Entry) -> None:
        """Each in the place of what it was; of two with the same path the last counts."""
        self._connection.wal_autocheckpoint(DURING_TEXT)
        given = list({entry.document.id: entry for entry in entries}.values())
        documents = [entry.document for entry in given]
        before = document_tables.present(self._connection, [one.id for one in documents])
        self._remove(before)
        state_tree.mark(self._connection, [(one.id, one.root, one.path) for one in documents])
        nodes = graph_rows.put(self._connection, given)
        document_tables.put(self._connection, zip(given, nodes, strict=True))

    def touch(self, root: str, path: str, size: int, modified_ns: int, indexed_ns: int) -> None:
        self._connection.execute(
            "UPDATE documents SET size = ?, modified_ns = ?, indexed_ns = ? "
            "WHERE path = ? AND root = (SELECT row FROM roots WHERE name = ?)",
            (size, modified_ns, indexed_ns, path, root),
        )

    def remove(self, root: str, paths: Sequence[str]) -> None:
        named = {digest(root, path): path for path in paths}
        gone = document_tables.present(self._connection, list(named))
        self._remove(gone)
        for document_id in gone:
            graph_rows.remove(self._connection, document_id, root, named[document_id])
        state_tree.mark(self._connection, [(one, root, named[one]) for one in gone])

    def _remove(self, document_ids: Sequence[str]) -> None:
        if document_ids and self._compacting.pid is not None:  # their rows may be used again
            self._stop_compacting()
        document_tables.remove(self._connection, document_ids)

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
        self._connection.wal_autocheckpoint(DURING_VECTORS)
        if not self._matrix_is_ours:
            vector_rows.keep_apart(self._connection, self._postings.folder)
            self._matrix_is_ours = True
        vector_rows.put(self._connection, hashes, vectors, replacing)
        if not replacing:
            state_tree.mark_texts(self._connection, hashes)

    def begin_replacement(self, identity: str) -> None:
        vector_rows.begin_replacement(self._connection, identity)

    def finish_replacement(self, identity: str, dimensions: int) -> None:
        vector_rows.finish_replacement(self._connection, identity, dimensions)
        state_tree.mark_all(self._connection)

    def forget_names(self) -> None:
        """Keep no name of a document that is no longer here."""
        self._connection.execute("DELETE FROM changes WHERE id NOT IN (SELECT id FROM documents)")
        # Whoever keeps something up to date by `changes` learns that from before this it cannot.
        now = catalog.number(self._connection, "generation") + 1
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('names_forgotten', ?)", (str(now),))

    def tell_unfinished(self, unfinished: bool) -> None:
        with self._database.inspecting() as connection:
            if catalog.SqliteCatalog(connection).unfinished == unfinished:
                return
        with self._database.writing() as connection:  # no other generation: nothing that is found changes
            if unfinished:
                connection.execute("INSERT OR REPLACE INTO meta VALUES ('unfinished', '1')")
            else:
                connection.execute("DELETE FROM meta WHERE key = 'unfinished'")

    def text_is_coming(self) -> None:
        if not self._following and not self._last_row():
            self._following = True
            self._compacting.begin(self._database.file, self._postings.folder)

    def text_is_written(self) -> None:
        if not (self._following and self._compacting.is_alive and self._last_row() >= SMALL):
            self._stop_compacting()
            with self._database.reading() as connection:
                if not self._postings.much_to_do(connection):
                    return
            self._compacting.begin(self._database.file, self._postings.folder)
        self._following = False
        self._strict = True
        self._database.wait_for_disk(True)  # at every commit, since checkpoints wait for whoever reads
        self._compacting.finish()

    def _stop_compacting(self) -> None:
        self._following = False
        self._compacting.stop()

    def settle(self) -> None:
        """In a transaction of its own that leaves the generation alone: nothing a search sees changes."""
        with self._database.writing() as connection:
            connection.wal_autocheckpoint(OTHERWISE)
            if state_tree.settle(connection) > FEW:
                catalog.keep_counts(connection)
        if self._following:  # it was never told that this was all
            self._stop_compacting()
        self._compacting.wait()
        self._relax()
        with self._database.reading() as connection:
            self._postings.compact(connection)

    def close(self) -> None:
        self._stop_compacting()
        self._relax()
        self._database.shrink()

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
