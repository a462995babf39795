"""The numbers of `/metrics` that are read from the index and the server."""

import time
from collections.abc import Mapping
from threading import Lock

from quintet.http.jobs import Jobs
from quintet.http.workers import Workers
from quintet.serving.shared_index import SharedIndex
from quintet.status import IndexStatus

FRESH_SECONDS = 10.0  # a status checks every file on disk, which is too slow for every scrape


class Gauges:
    def __init__(self, shared: SharedIndex, workers: Workers, jobs: Jobs) -> None:
        self._shared = shared
        self._workers = workers
        self._jobs = jobs
        self._guard = Lock()
        self._seen: tuple[float, IndexStatus] | None = None

    def now(self) -> Mapping[str, tuple[str, float]]:
        status, cache = self._status(), self._shared.cache_figures()
        return {
            "quintet_index_documents": ("Documents in the index.", status.files),
            "quintet_index_chunks": ("Chunks in the index.", status.chunks),
            "quintet_index_embedded_chunks": ("Chunks that have a vector.", status.embedded),
            "quintet_index_generation": ("Generation of the index.", status.generation),
            "quintet_cache_hits_total": ("Searches whose legs were in the cache.", cache.hits),
            "quintet_cache_misses_total": ("Searches whose legs were not.", cache.misses),
            "quintet_cache_evictions_total": ("Entries removed to make room for others.", cache.evictions),
            "quintet_cache_expired_total": ("Entries that expired.", cache.expired),
            "quintet_cache_entries": ("Entries in the cache.", cache.entries),
            "quintet_cache_bytes": ("Approximate memory use of the cache.", cache.bytes),
            "quintet_engine_calls": ("Engine calls, running and waiting.", self._workers.calls),
            "quintet_jobs_unfinished": ("Jobs, running and waiting.", self._jobs.unfinished),
            **self._of_readers(),
        }

    def _of_readers(self) -> Mapping[str, tuple[str, float]]:
        readers = self._shared.readers
        if readers is None:
            return {}
        return {
            "quintet_reader_processes": ("Reader processes.", readers.count),
            "quintet_reader_deaths_total": ("Reader processes that died.", readers.deaths),
        }

    def _status(self) -> IndexStatus:
        with self._guard:
            if self._seen is None or time.monotonic() - self._seen[0] > FRESH_SECONDS:
                status = self._shared.index.status()
                self._seen = time.monotonic(), status
            return self._seen[1]
