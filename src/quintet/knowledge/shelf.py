"""Where a knowledge base keeps its documents: text and vectors of each become visible in one commit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from quintet.errors import Conflict, QuintetError, StoreError
from quintet.indexing.embedding import embed_pending, reembed
from quintet.indexing.run import IndexRun, Progress, Report
from quintet.knowledge.documents import UPLOADS
from quintet.knowledge.files import Originals
from quintet.model.documents import embedding_text
from quintet.model.vector import Int16, quantise
from quintet.ports.reading import Embedder, Root
from quintet.ports.writing import Entry
from quintet.settings import Settings
from quintet.storage.sqlite.document_tables import text_hash
from quintet.storage.sqlite.documents import Listed
from quintet.storage.sqlite.store import KNOWLEDGE, SqliteSnapshot, SqliteStore
from quintet.storage.sqlite.writer import SqliteWriter


@dataclass(frozen=True, slots=True)
class Tools:
    """What a knowledge base shares with its index. `embedder` is asked each time: it may become another."""

    embedder: Callable[[], Embedder | None]
    settings: Settings
    clock_ns: Callable[[], int]

    def now_ms(self) -> int:
        return self.clock_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Embedded:
    identity: str
    dimensions: int
    vectors: Mapping[bytes, Int16]  # by the hash of their text


class Shelf:
    """The store of one base and the originals beside it."""

    def __init__(self, folder: Path, tools: Tools, check: Callable[[], object]) -> None:
        """`check` raises if the base is no longer there."""
        self._tools = tools
        self._check = check
        self.store = SqliteStore(folder, KNOWLEDGE)
        with self.there():
            self.store.upgrade()
        self.originals = Originals(folder)
        self._swept = False

    @contextmanager
    def there(self) -> Iterator[None]:
        """What goes wrong because the base was deleted meanwhile is `unknown_index`, and nothing else."""
        try:
            yield
        except (StoreError, OSError):
            self._check()
            raise

    @contextmanager
    def writing(self) -> Iterator[SqliteWriter]:
        """The writer, unless the base was deleted meanwhile: its folder may be another's by now."""
        with self.there():
            self._check()  # or the lock would bring the folder back
            with self.store.writer(self._tools.settings.writer_timeout) as writer:
                self._check()
                yield writer

    @contextmanager
    def snapshot(self) -> Iterator[SqliteSnapshot]:
        with self.there(), self.store.snapshot() as snapshot:
            yield snapshot

    def put(
        self,
        entries: Sequence[Entry],
        root: Root,
        originals: Mapping[str, bytes],
        instead_of: Listed | None = None,
    ) -> str:
        """Write documents with their vectors; why there are none, where the embedder failed. The text is
        kept and can be found all the same. `instead_of` must still be what is there."""
        embedded, why_not = self._embedded(entries)
        with self.writing() as writer:
            if instead_of is not None:
                self._check_unchanged(instead_of)
            self._sweep(writer)
            for sha256, data in originals.items():
                self.originals.keep(sha256, data)
            stored = self._stored_embedder()
            if embedded is not None and stored not in (None, embedded.identity):
                embedded = None
                why_not = f"the others were made by {stored}; 'quintet kb embed' makes all anew"
            with writer.batch():
                if root not in writer.roots():
                    writer.put_root(root)
                writer.put(*entries)
                writer.link(root.name, {})  # there is no code graph of a knowledge base
                if embedded is not None:
                    _put_vectors(writer, embedded, stored)
            writer.settle()
        return why_not

    def remove(self, root: str, paths: Sequence[str]) -> None:
        with self.writing() as writer:
            with writer.batch():
                writer.remove(root, paths)
                writer.link(root, {})
                writer.drop_unused_vectors()
            self._drop_unused_originals(writer)
            writer.settle()

    def drop_root(self, root: str) -> int:
        with self.writing() as writer:
            with writer.batch():
                gone = writer.drop_root(root)
                writer.drop_unused_vectors()
            writer.settle()
        return gone

    def tidy(self) -> None:
        """Drop vectors and originals of what documents were before."""
        with self.writing() as writer:
            with writer.batch():
                writer.drop_unused_vectors()
            self._drop_unused_originals(writer)

    def embed(self, progress: Progress | None = None) -> int:
        """Make the vectors that are missing, or all anew where they are of another embedder."""
        embedder, stored = self._tools.embedder(), self._stored_embedder()
        if embedder is None:
            return 0
        with self.writing() as writer:
            run = IndexRun(writer, self._tools.settings, self._tools.clock_ns, progress or _silent, Report())
            if stored not in (None, embedder.identity):
                return reembed(run, embedder)
            return embed_pending(run, embedder, stored)

    def usable(self, stored: str | None) -> Embedder | None:
        """The embedder, unless the vectors are of another."""
        embedder = self._tools.embedder()
        return None if embedder is None or stored not in (None, embedder.identity) else embedder

    def _embedded(self, entries: Sequence[Entry]) -> tuple[Embedded | None, str]:
        embedder = self._tools.embedder()
        if embedder is None:
            return None, ""
        texts = {
            text_hash(chunk): embedding_text(chunk.heading_path, chunk.content)
            for entry in entries
            for chunk in entry.chunks
        }
        hashes = list(texts)
        vectors: dict[bytes, Int16] = {}
        try:
            for start in range(0, len(hashes), self._tools.settings.embed_batch):
                some = hashes[start : start + self._tools.settings.embed_batch]
                made = quantise(embedder.embed_documents([texts[one] for one in some]))
                vectors.update(zip(some, made, strict=True))
        except QuintetError as error:
            return None, error.message
        return Embedded(embedder.identity, embedder.dimensions, vectors), ""

    def _check_unchanged(self, before: Listed) -> None:
        with self.snapshot() as snapshot:
            found = snapshot.documents.get([before.document.id])
        if found.get(before.document.id) != before:
            raise Conflict(
                "someone else changed or removed this document just now; try again", code="busy_writer"
            )

    def _stored_embedder(self) -> str | None:
        with self.snapshot() as snapshot:
            return snapshot.catalog.embedder

    def _sweep(self, writer: SqliteWriter) -> None:
        """Once an opening: what an upload left behind that was cut short."""
        if not self._swept:
            self._drop_unused_originals(writer)
            self._swept = True

    def _drop_unused_originals(self, writer: SqliteWriter) -> None:
        self.originals.drop_all_but({file.content_hash for file in writer.known(UPLOADS).values()})

    def close(self) -> None:
        self.store.close()


def _put_vectors(writer: SqliteWriter, embedded: Embedded, stored: str | None) -> None:
    if stored is None:
        writer.use_embedder(embedded.identity, embedded.dimensions)
    if embedded.vectors:
        writer.put_vectors(list(embedded.vectors), np.stack(list(embedded.vectors.values())))


def _silent(stage: str, done: int, total: int) -> None:
    pass
