"""One store with its embedder: read it, search it, write to it, make its vectors.

An index, its memory, a knowledge base and an evaluation corpus are each built on a `Collection`.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from quintet.contracts import HOUSE
from quintet.contracts.contract import Contract
from quintet.indexing.disk import NO_FILES
from quintet.indexing.embedding import embed_pending, reembed
from quintet.indexing.run import IndexRun, Progress, Report, no_progress
from quintet.model.results import Note
from quintet.ports.reading import Counts, Disk, Embedder, Snapshot
from quintet.ports.store import Store
from quintet.ports.writing import Writer
from quintet.query.cache import QueryCache
from quintet.query.search import Response, search
from quintet.query.trials import Trials, run_trials
from quintet.settings import Settings


class Tuning(Protocol):
    """The numbers tuned for a collection; `quintet.evaluation.tuning.tuned_numbers.TunedNumbers` is one."""

    def apply_to(
        self, settings: Settings, contract: str, embedder: str | None
    ) -> tuple[Settings, tuple[Note, ...]]:
        """The settings with the tuned numbers as defaults, and a note if those numbers are ignored."""
        ...


class Collection:
    """Safe to share between threads. Only one thread of one process can write at a time."""

    def __init__(
        self,
        store: Store,
        embedder: Callable[[], Embedder | None],
        settings: Settings,
        clock_ns: Callable[[], int] = time.time_ns,
        *,
        disk: Disk = NO_FILES,
        cache: QueryCache | None = None,
        cache_scope: str = "",
        tuning: Tuning | None = None,
    ) -> None:
        """`embedder` is called again for every search and write, since the embedder of an index can change.

        `disk` holds the files that the documents were made from. Collections that share a `cache` need
        different scopes.
        """
        self.settings = settings
        self._store = store
        self._embedder = embedder
        self._clock_ns = clock_ns
        self._disk = disk
        self._cache = cache
        self._cache_scope = cache_scope
        self._tuning = tuning

    @property
    def embedder(self) -> Embedder | None:
        return self._embedder()

    @property
    def folder(self) -> Path:
        return self._store.folder

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        return self._store.snapshot()

    def counts(self) -> Counts:
        with self.snapshot() as snapshot:
            return snapshot.catalog.counts()

    def stored_embedder(self) -> str | None:
        """The identity of the embedder that made the vectors."""
        with self.snapshot() as snapshot:
            return snapshot.catalog.embedder

    def usable_embedder(self, snapshot: Snapshot) -> Embedder | None:
        """The embedder; None if another one made the vectors, because the two cannot be compared."""
        embedder, stored = self._embedder(), snapshot.catalog.embedder
        return embedder if embedder is not None and stored in (None, embedder.identity) else None

    def search(self, query: str, contract: Contract, params: Mapping[str, object]) -> Response:
        with self.snapshot() as snapshot:
            return self.search_in(snapshot, query, contract, params)

    def search_in(
        self, snapshot: Snapshot, query: str, contract: Contract, params: Mapping[str, object]
    ) -> Response:
        """Search a snapshot that the caller holds."""
        settings, notes = self._tuned_settings(snapshot, contract)
        response = self._search(snapshot, query, contract, params, settings)
        return replace(response, notes=[*response.notes, *notes]) if notes else response

    def replay_in(
        self, snapshot: Snapshot, query: str, contract: Contract, params: Mapping[str, object]
    ) -> Response:
        """Search with these parameters alone: neither settings nor tuned numbers add to them."""
        settings = replace(self.settings, contracts={})
        return self._search(snapshot, query, contract, params, settings)

    def _search(
        self,
        snapshot: Snapshot,
        query: str,
        contract: Contract,
        params: Mapping[str, object],
        settings: Settings,
    ) -> Response:
        embedder = self.usable_embedder(snapshot)
        return search(
            snapshot, embedder, contract, query, params, settings, self._disk, self._cache, self._cache_scope
        )

    def trials(self, query: str, requests: Sequence[Mapping[str, object]], contract: Contract) -> Trials:
        """Search with each of these parameters. Faster than many searches; files are not compared."""
        with self.snapshot() as snapshot:
            settings, _ = self._tuned_settings(snapshot, contract)
            return run_trials(snapshot, self.usable_embedder(snapshot), contract, query, requests, settings)

    def _tuned_settings(self, snapshot: Snapshot, contract: Contract) -> tuple[Settings, tuple[Note, ...]]:
        if self._tuning is None or contract.name != HOUSE:  # only the house contract is ever tuned
            return self.settings, ()
        return self._tuning.apply_to(self.settings, contract.name, snapshot.catalog.embedder)

    def writer(self, timeout: float | None = None) -> AbstractContextManager[Writer]:
        """The writer, within `timeout` seconds; by default within those of the settings."""
        return self._store.writer(self.settings.writer_timeout if timeout is None else timeout)

    @contextmanager
    def run(
        self, progress: Progress | None = None, *, force: bool = False, timeout: float | None = None
    ) -> Iterator[IndexRun]:
        """The writer, together with the settings, clock, progress and report of a run."""
        with self.writer(timeout) as writer:
            yield IndexRun(writer, self.settings, self._clock_ns, progress or no_progress, Report(), force)

    def count_missing_vectors(self, run: IndexRun) -> int:
        """How many vectors `embed` would make."""
        embedder, stored = self._embedder(), self.stored_embedder()
        if embedder is None:
            return 0
        return run.writer.vectors.count_pending(replacing=stored not in (None, embedder.identity))

    def embed(self, run: IndexRun) -> int:
        """Make the vectors that are missing, or all of them if another embedder made those that are there.

        Returns how many chunks were embedded.
        """
        embedder, stored = self._embedder(), self.stored_embedder()
        if embedder is None:
            return 0
        if stored not in (None, embedder.identity):
            return reembed(run, embedder)
        return embed_pending(run, embedder, stored)

    def close(self) -> None:
        self._store.close()
