"""A thread behind a server that embeds new chunks, and pauses while text is written."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from quintet.errors import QuintetError
from quintet.index import Index
from quintet.indexing.run import Progress

BATCH = 64  # chunks between two checks for a waiting writer: seconds of work, enough to share among processes
RETRY_SECONDS = 5.0  # while another process writes
WAIT_SECONDS = 0.2  # between two calls of a waiting writer's `progress`

log = logging.getLogger(__name__)


class _Paused(Exception):  # noqa: N818  (not an error: text comes before vectors)
    """Raised between two batches to let a writer in."""


class BackgroundEmbedding:
    """Keeps an index's vectors complete. The thread starts when the first text is written."""

    def __init__(self, index: Index) -> None:
        self._index = index
        index.settings = replace(index.settings, embed_batch=min(index.settings.embed_batch, BATCH))
        self._turn = threading.Lock()  # held by the thread of this process that writes to the index
        self._waiting = 0
        self._counting = threading.Lock()
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def paused(self, progress: Progress | None = None) -> Iterator[None]:
        """The caller may write. While another writer does, `progress` is called with "wait"; it may raise."""
        self._count(1)
        try:
            while not self._turn.acquire(timeout=WAIT_SECONDS):
                if progress is not None:
                    progress("wait", 0, 0)
        except BaseException:
            self._count(-1)
            raise
        try:
            yield
        finally:
            self._turn.release()
            self._count(-1)
            self.wake()

    def wake(self) -> None:
        """Embed the chunks that have no vector."""
        with self._counting:
            if self._thread is None and self._index.embedder is not None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._run, name="quintet-embed", daemon=True)
                self._thread.start()
        self._wake.set()

    def stop(self) -> None:
        """Give up the batch that is being embedded; those before it are committed. No other follows."""
        self._closed.set()
        self._wake.set()
        stop = getattr(self._index.embedder, "stop", None)
        if stop is not None:
            stop()

    def close(self) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join()

    def _count(self, change: int) -> None:
        with self._counting:
            self._waiting += change

    def _run(self) -> None:
        while not self._closed.is_set():
            self._wake.wait()
            self._wake.clear()
            if not self._waiting and not self._closed.is_set():
                self._embed()

    def _embed(self) -> None:
        try:
            with self._turn:
                self._index.embed(progress=self._go_on)
        except _Paused:
            return  # the writer calls `wake` when it is done
        except QuintetError as error:
            if self._closed.is_set():
                return
            log.warning("embedding stopped: %s", error.code)
            if error.code == "busy_writer" and not self._closed.wait(RETRY_SECONDS):
                self._wake.set()

    def _go_on(self, stage: str, done: int, total: int) -> None:
        if self._waiting or self._closed.is_set():
            raise _Paused
