"""The one writer: documents, chunks, text, vectors and symbols change together, one transaction a batch."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from quintet.model.documents import digest
from quintet.ports.reading import KnownFile, RefusedFiles, Root
from quintet.ports.writing import Choices, Entry
from quintet.storage.graph.writer import SqliteGraphWriter
from quintet.storage.sqlite import catalog, document_tables, state_tree
from quintet.storage.sqlite.checksums import COLUMNS
from quintet.storage.sqlite.database import Database
from quintet.storage.sqlite.writer_connection import WriterConnection
from quintet.storage.text.postings.cache import SMALL, PostingsCache
from quintet.storage.text.postings.compaction import CompactionProcess
from quintet.storage.vectors.writer import SqliteVectorWriter

MANY = 100  # changed documents after which a run counts everything; after fewer, the next search does
# Pages in the log before a checkpoint. While text is written, 64 MB: a page that every batch changes is
# copied once. Otherwise SQLite's own 4 MB.
CHECKPOINT_PAGES, DURING_TEXT = 1_000, 16_384


class SqliteWriter:
    """Use only while holding the index's writer lock.

    Postings are made in a process of their own. In an index that was empty it follows the text as it is
    written; otherwise it begins when all text is written.
    """

    def __init__(self, database: Database, postings: PostingsCache) -> None:
        self._database = database
        self._postings = postings
        self._connection = WriterConnection(database)
        self.vectors = SqliteVectorWriter(self._connection, postings.folder)
        self.graph = SqliteGraphWriter(self._connection)
        self._compaction = CompactionProcess()
        self._following = False
        self._waits_for_disk = False

    @contextmanager
    def batch(self) -> Iterator[None]:
        self._stop_waiting_for_disk()
        with self._connection.batch():
            yield
        if self._following:
            self._compaction.tell(self._last_row())

    def _stop_waiting_for_disk(self) -> None:
        """Once the compaction no longer reads, checkpoints empty the log, and commits need not wait."""
        if self._waits_for_disk and not self._compaction.is_alive:
            self._waits_for_disk = False
            self._database.wait_for_disk(False)
            self._database.checkpoint()

    def _last_row(self) -> int:
        with self._connection.reading() as connection:
            return document_tables.next_row(connection, "chunks") - 1

    def roots(self) -> list[Root]:
        with self._connection.reading() as connection:
            return catalog.roots(connection)

    def known(self, root: str) -> dict[str, KnownFile]:
        with self._connection.reading() as connection:
            return catalog.known(connection, root)

    def refused(self) -> Mapping[str, RefusedFiles]:
        with self._connection.reading() as connection:
            return catalog.refused(connection)

    def put_refused(self, files: Mapping[str, RefusedFiles]) -> None:
        values = ("refused", json.dumps(files, sort_keys=True))
        self._connection.in_batch.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)

    def put_root(self, root: Root) -> None:
        only = None if root.only is None else json.dumps(sorted(root.only))
        self._connection.in_batch.execute(
            "INSERT INTO roots (name, location, only_files) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE "
            "SET location = excluded.location, only_files = excluded.only_files",
            (root.name, root.location, only),
        )

    def drop_root(self, name: str) -> int:
        connection = self._connection.in_batch
        paths = list(self.known(name))
        self.remove(name, paths)
        self.graph.drop_root(name)
        refused = catalog.refused(connection)
        if refused.pop(name, None) is not None:
            self.put_refused(refused)
        connection.execute("DELETE FROM roots WHERE name = ?", (name,))
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('root_dropped', '1')")
        return len(paths)

    def put(self, *entries: Entry) -> None:
        """Of two entries with the same path the last one counts."""
        connection = self._connection.in_batch
        connection.wal_autocheckpoint(DURING_TEXT)
        unique = list({entry.document.id: entry for entry in entries}.values())
        documents = [entry.document for entry in unique]
        self._remove(document_tables.present(connection, [document.id for document in documents]))
        state_tree.mark(connection, [(document.id, document.root, document.path) for document in documents])
        nodes = self.graph.put(unique)
        document_tables.put(connection, zip(unique, nodes, strict=True))

    def touch(self, root: str, path: str, size: int, modified_ns: int, indexed_ns: int) -> None:
        this = "WHERE path = ? AND root = (SELECT row FROM roots WHERE name = ?)"
        self._connection.in_batch.execute(
            f"UPDATE documents SET size = ?, modified_ns = ?, indexed_ns = ? {this}",
            (size, modified_ns, indexed_ns, path, root),
        )
        self._connection.in_batch.execute(
            f"UPDATE documents SET checksum = row_checksum({COLUMNS['documents']}) {this}", (path, root)
        )

    def remove(self, root: str, paths: Sequence[str]) -> None:
        path_of = {digest(root, path): path for path in paths}
        document_ids = document_tables.present(self._connection.in_batch, list(path_of))
        self._remove(document_ids)
        for document_id in document_ids:
            self.graph.remove(document_id, root, path_of[document_id])
        marks = [(document_id, root, path_of[document_id]) for document_id in document_ids]
        state_tree.mark(self._connection.in_batch, marks)

    def _remove(self, document_ids: Sequence[str]) -> None:
        if document_ids and self._compaction.pid is not None:  # new chunks may get their rows
            self._stop_compacting()
        document_tables.remove(self._connection.in_batch, document_ids)

    def put_choices(self, choices: Choices) -> None:
        self._connection.in_batch.execute(
            "INSERT OR REPLACE INTO meta VALUES ('choices', ?)", (json.dumps(asdict(choices)),)
        )

    def forget_names(self) -> None:
        connection = self._connection.in_batch
        connection.execute("DELETE FROM changes WHERE id NOT IN (SELECT id FROM documents)")
        # `changes` no longer tells everything that happened up to this generation.
        now = catalog.number(connection, "generation") + 1
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('names_forgotten', ?)", (str(now),))

    def mark_unfinished(self, unfinished: bool) -> None:
        with self._connection.reading() as connection:
            if catalog.SqliteCatalog(connection).unfinished == unfinished:
                return
        with self._database.writing() as connection:  # no new generation: no search finds anything else
            if unfinished:
                connection.execute("INSERT OR REPLACE INTO meta VALUES ('unfinished', '1')")
            else:
                connection.execute("DELETE FROM meta WHERE key = 'unfinished'")

    def expect_text(self) -> None:
        if not self._following and not self._last_row():
            self._following = True
            self._compaction.begin(self._database.file, self._postings.folder)

    def finish_text(self) -> None:
        if not (self._following and self._compaction.is_alive and self._last_row() >= SMALL):
            self._stop_compacting()
            with self._database.reading() as connection:
                if not self._postings.much_to_do(connection):
                    return
            self._compaction.begin(self._database.file, self._postings.folder)
        self._following = False
        self._waits_for_disk = True
        self._database.wait_for_disk(True)  # at every commit: a reader holds checkpoints up
        self._compaction.finish()

    def _stop_compacting(self) -> None:
        self._following = False
        self._compaction.stop()

    def settle(self) -> None:
        """In a separate transaction without a new generation: the results of a search stay the same."""
        with self._database.writing() as connection:
            connection.wal_autocheckpoint(CHECKPOINT_PAGES)
            if state_tree.settle(connection) > MANY:
                catalog.store_counts(connection)
        if self._following:  # `finish_text` was not called
            self._stop_compacting()
        self._compaction.wait()
        self._stop_waiting_for_disk()
        with self._database.reading() as connection:
            self._postings.compact(connection)

    def close(self) -> None:
        self._stop_compacting()
        self._stop_waiting_for_disk()
        self._database.shrink()

    def clear(self) -> int:
        documents = sum(self.drop_root(root.name) for root in self.roots())
        self.vectors.drop_unused()
        return documents
