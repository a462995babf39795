"""Embedding behind a server: one thread that makes missing vectors and steps aside for new text."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from quintet.errors import QuintetError
from quintet.index import Index
from quintet.indexing.run import Progress

BATCH = 64  # chunks between two looks at who waits: seconds of work, and enough to share among processes
RETRY_SECONDS = 5.0  # when another process holds the writer
WAIT_SECONDS = 0.2  # how often someone who waits looks whether they are still wanted

log = logging.getLogger(__name__)


class _Aside(Exception):  # noqa: N818  (not an error: text comes before vectors)
    """Raised between batches to let somebody else write."""


class Embedding:
    """Keeps an index's vectors complete. The thread starts with the first text that was written."""

    def __init__(self, index: Index) -> None:
        self._index = index
        index.settings = replace(index.settings, embed_batch=min(index.settings.embed_batch, BATCH))
        self._turn = threading.Lock()  # held by whoever writes to the index in this process
        self._waiting = 0
        self._counting = threading.Lock()
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def aside(self, progress: Progress | None = None) -> Iterator[None]:
        """The writer's turn. `progress` is called with "wait" while another has it, and may raise."""
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
        """Look for text without a vector."""
        with self._counting:
            if self._thread is None and self._index.embedder is not None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._run, name="quintet-embed", daemon=True)
                self._thread.start()
        self._wake.set()

    def close(self) -> None:
        self._closed.set()
        self._wake.set()
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
        except _Aside:
            return  # who asked for the turn wakes us when done
        except QuintetError as error:
            log.warning("embedding stopped: %s", error.code)
            if error.code == "busy_writer" and not self._closed.wait(RETRY_SECONDS):
                self._wake.set()

    def _go_on(self, stage: str, done: int, total: int) -> None:
        if self._waiting or self._closed.is_set():
            raise _Aside
