"""Where a knowledge base keeps its documents. A document and its vectors become visible in one commit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from quintet.collection import Collection
from quintet.errors import Conflict, QuintetError, StoreError
from quintet.knowledge.documents import UPLOADS
from quintet.knowledge.files import Originals
from quintet.model.documents import embedding_hash, embedding_text
from quintet.model.vector import Int16, quantise
from quintet.ports.documents import StoredDocument
from quintet.ports.health import HealthCheck
from quintet.ports.reading import Embedder, Root, Snapshot
from quintet.ports.store import FolderStore
from quintet.ports.writing import Entry, Writer
from quintet.query.cache import QueryCache
from quintet.settings import Settings


@dataclass(frozen=True, slots=True)
class IndexParts:
    """What all knowledge bases get from their index. `embedder` is called each time, since it can change."""

    store_in: Callable[[Path], FolderStore]
    embedder: Callable[[], Embedder | None]
    settings: Settings
    clock_ns: Callable[[], int]

    def now_ms(self) -> int:
        return self.clock_ns() // 1_000_000


class DeletableStore:
    """The store of a base that another thread or process may delete at any time.

    `check` raises `unknown_index` if the base was deleted, and is asked before any other error is shown.
    """

    def __init__(self, store: FolderStore, check: Callable[[], object]) -> None:
        self._store = store
        self._check = check
        with self.unless_deleted():
            store.upgrade()

    @property
    def folder(self) -> Path:
        return self._store.folder

    @contextmanager
    def unless_deleted(self) -> Iterator[None]:
        """Turn any failure that follows from a deleted folder into `unknown_index`."""
        try:
            yield
        except (StoreError, OSError):
            self._check()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        with self.unless_deleted(), self._store.snapshot() as snapshot:
            yield snapshot

    @contextmanager
    def writer(self, timeout: float) -> Iterator[Writer]:
        """The writer, unless the base was deleted: by now its folder may belong to another base."""
        with self.unless_deleted():
            self._check()  # before the lock, which would bring the folder back
            with self._store.writer(timeout) as writer:
                self._check()
                yield writer

    def examine(self) -> list[HealthCheck]:
        with self.unless_deleted():
            return self._store.examine()

    def rest(self) -> None:
        self._store.rest()

    def close(self) -> None:
        self._store.close()


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of some texts, by the hash of each text."""

    identity: str
    dimensions: int
    vectors: Mapping[bytes, Int16]


class DocumentStore:
    """The documents of one base, and the original files that were uploaded."""

    def __init__(self, folder: Path, uid: str, parts: IndexParts, check: Callable[[], object]) -> None:
        """`check` raises if the base was deleted."""
        self.store = DeletableStore(parts.store_in(folder), check)
        entries = parts.settings.cache_entries
        self.collection = Collection(
            self.store,
            parts.embedder,
            parts.settings,
            parts.clock_ns,
            cache=QueryCache(entries) if entries else None,
            cache_scope=uid,
        )
        self.originals = Originals(folder)
        self._swept = False

    def put(
        self,
        entries: Sequence[Entry],
        root: Root,
        originals: Mapping[str, bytes],
        instead_of: StoredDocument | None = None,
    ) -> str:
        """Write documents with their vectors. Returns why they have no vectors, if the embedder failed: their
        text can be searched all the same. `instead_of` must still be the document that is there."""
        embedded, why_not = self._embed(entries)
        with self.collection.writer() as writer:
            if instead_of is not None:
                self._check_unchanged(instead_of)
            self._sweep(writer)
            for sha256, data in originals.items():
                self.originals.keep(sha256, data)
            stored = self.collection.stored_embedder()
            if embedded is not None and stored not in (None, embedded.identity):
                embedded = None
                why_not = f"the others were made by {stored}; 'quintet kb embed' replaces all vectors"
            with writer.batch():
                if root not in writer.roots():
                    writer.put_root(root)
                writer.put(*entries)
                writer.graph.link(root.name, {})  # a knowledge base has no code graph
                if embedded is not None:
                    _put_vectors(writer, embedded, stored)
            writer.settle()
        return why_not

    def remove(self, root: str, paths: Sequence[str]) -> None:
        with self.collection.writer() as writer:
            with writer.batch():
                writer.remove(root, paths)
                writer.graph.link(root, {})
                writer.vectors.drop_unused()
            self._drop_unused_originals(writer)
            writer.settle()

    def drop_root(self, root: str) -> int:
        with self.collection.writer() as writer:
            with writer.batch():
                count = writer.drop_root(root)
                writer.vectors.drop_unused()
            writer.settle()
        return count

    def drop_unused(self) -> None:
        """Drop the vectors and originals of earlier versions of documents."""
        with self.collection.writer() as writer:
            with writer.batch():
                writer.vectors.drop_unused()
            self._drop_unused_originals(writer)

    def examine(self) -> list[str]:
        """What is wrong with the documents and the originals, if anything. Missing vectors are no fault."""
        checks = self.store.examine()
        wrong = [check.message for check in checks if not check.ok and check.name not in ("vectors", "speed")]
        with self.collection.snapshot() as snapshot:
            uploads = {file.content_hash for file in snapshot.catalog.known(UPLOADS).values()}
        return wrong + [f"the upload {sha256} is damaged" for sha256 in self.originals.damaged(uploads)]

    def embed(self) -> int:
        """Make the vectors that are missing, or all of them if another embedder made those that are there."""
        if self.collection.embedder is None:
            return 0
        with self.collection.run() as run:
            return self.collection.embed(run)

    def _embed(self, entries: Sequence[Entry]) -> tuple[Embedded | None, str]:
        """Before the writer is held, since it takes long."""
        embedder = self.collection.embedder
        if embedder is None:
            return None, ""
        texts = {
            embedding_hash(*text): embedding_text(*text)
            for entry in entries
            for chunk in entry.chunks
            for text in [(entry.document.context, chunk.heading_path, chunk.content)]
        }
        hashes = list(texts)
        batch_size = self.collection.settings.embed_batch
        vectors: dict[bytes, Int16] = {}
        try:
            for start in range(0, len(hashes), batch_size):
                batch = hashes[start : start + batch_size]
                batch_vectors = quantise(embedder.embed_documents([texts[key] for key in batch]))
                vectors.update(zip(batch, batch_vectors, strict=True))
        except QuintetError as error:
            return None, error.message
        return Embedded(embedder.identity, embedder.dimensions, vectors), ""

    def _check_unchanged(self, before: StoredDocument) -> None:
        with self.collection.snapshot() as snapshot:
            now = snapshot.documents.get([before.document.id])
        if now.get(before.document.id) != before:
            raise Conflict(
                "this document was changed or removed in the meantime; try again", code="busy_writer"
            )

    def _sweep(self, writer: Writer) -> None:
        """Once per opening: remove what interrupted uploads left behind."""
        if not self._swept:
            self._drop_unused_originals(writer)
            self._swept = True

    def _drop_unused_originals(self, writer: Writer) -> None:
        self.originals.drop_all_but({file.content_hash for file in writer.known(UPLOADS).values()})


def _put_vectors(writer: Writer, embedded: Embedded, stored: str | None) -> None:
    if stored is None:
        writer.vectors.use_embedder(embedded.identity, embedded.dimensions)
    if embedded.vectors:
        writer.vectors.put(list(embedded.vectors), np.stack(list(embedded.vectors.values())))
