"""The vectors of memories: made in passing where few are missing, and never at the price of a text."""

from collections.abc import Callable
from time import time_ns

from quintet.errors import QuintetError
from quintet.indexing.embedding import embed_pending, reembed
from quintet.indexing.run import IndexRun, Progress, Report
from quintet.model.results import Note
from quintet.ports.reading import Embedder
from quintet.ports.writing import Writer
from quintet.settings import Settings
from quintet.storage.sqlite.store import SqliteStore

AT_ONCE = 256  # vectors that are made in passing; more are left to `embed_all`


class Vectors:
    """`embedder` is asked each time: the index may get another one."""

    def __init__(
        self, store: SqliteStore, embedder: Callable[[], Embedder | None], settings: Settings
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings

    def usable(self, stored: str | None) -> Embedder | None:
        """The embedder, unless the vectors are of another."""
        embedder = self._embedder()
        return None if embedder is None or stored not in (None, embedder.identity) else embedder

    def catch_up(self) -> list[Note]:
        """Make a few vectors that are missing, if nobody else is writing."""
        embedder = self._embedder()
        if embedder is None:
            return []
        with self._store.snapshot() as snapshot:
            counts, stored = snapshot.catalog.counts(), snapshot.catalog.embedder
        if not counts.chunks or (counts.embedded == counts.chunks and stored == embedder.identity):
            return []
        try:
            with self._store.writer(timeout=0) as writer:
                return self.embed_few(writer)
        except QuintetError as error:
            return [_postponed(error.message)]

    def embed_few(self, writer: Writer) -> list[Note]:
        """What is missing, unless that would take long. What fails is said: the next recall tries again."""
        embedder = self._embedder()
        if embedder is None:
            return []
        missing = writer.count_pending(replacing=self._stored() not in (None, embedder.identity))
        if missing > AT_ONCE:
            return [_postponed(f"{missing} are missing; run 'quintet memory embed'")]
        try:
            self.embed_all(writer)
        except QuintetError as error:
            return [_postponed(error.message)]
        return []

    def embed_all(self, writer: Writer, progress: Progress | None = None) -> int:
        """What is missing, or everything anew where the vectors are of another embedder."""
        embedder, stored = self._embedder(), self._stored()
        if embedder is None:
            return 0
        run = IndexRun(writer, self._settings, time_ns, progress or _silent, Report())
        if stored not in (None, embedder.identity):
            return reembed(run, embedder)
        return embed_pending(run, embedder, stored)

    def _stored(self) -> str | None:
        with self._store.snapshot() as snapshot:
            return snapshot.catalog.embedder


def _silent(stage: str, done: int, total: int) -> None:
    pass


def _postponed(why: str) -> Note:
    return {"code": "embedding_postponed", "message": f"vectors of memories were not made: {why}"}
