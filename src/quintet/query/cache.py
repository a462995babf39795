"""A cache of what the legs of recent searches returned.

Ranking, freshness and projection still run on every call, so a cached answer is the same, byte for byte.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from hashlib import sha256
from operator import add
from threading import Lock
from time import monotonic

from quintet.contracts import Plan
from quintet.model.results import Hit, Note, Signal
from quintet.model.schema import Count
from quintet.ports.reading import Embedder, Snapshot
from quintet.query.legs import Legs

ENTRIES = 1_000  # spec 004, section 10
SECONDS = 300.0  # likewise
BYTES = 64_000_000
ENTRY_BYTES = 1_000  # a key, a place in the order and the containers, measured and rounded up
HIT_BYTES = 250  # a hit with its id and its two numbers, likewise
FACT_BYTES = 900  # facts about a chunk: a tuple of eleven, its path, names and ids, likewise
CHAR_BYTES = 4  # the most Python takes


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """Counted since the index was opened; `entries` and `bytes` are what is held now."""

    hits: Count = 0
    misses: Count = 0
    evictions: Count = 0
    expired: Count = 0
    entries: Count = 0
    bytes: Count = 0

    def __add__(self, other: "CacheFigures") -> "CacheFigures":
        return CacheFigures(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class CacheEntry:
    legs: Legs
    bytes: int
    until: float


class QueryCache:
    """The least recently used entry makes room for a new one. Safe to use from many threads."""

    def __init__(
        self,
        entries: int = ENTRIES,
        *,
        max_bytes: int = BYTES,
        seconds: float = SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._max_entries = entries
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._clock = clock
        self._lock = Lock()
        self._entries: OrderedDict[bytes, CacheEntry] = OrderedDict()
        self._figures = CacheFigures()

    def figures(self) -> CacheFigures:
        with self._lock:
            return replace(self._figures, entries=len(self._entries))

    def get(self, key: bytes) -> Legs | None:
        """The legs kept under `key`, unless they expired."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.until <= self._clock():
                self._drop(key)
                self._count(expired=1)
                entry = None
            if entry is None:
                self._count(misses=1)
                return None
            self._entries.move_to_end(key)
            self._count(hits=1)
        return _copy(entry.legs)

    def put(self, key: bytes, legs: Legs) -> None:
        """Keep these legs. Degraded ones are not kept: the next search may do better."""
        if legs.degraded:
            return
        entry = CacheEntry(_copy(legs), size_of(legs), self._clock() + self._seconds)
        if not self._max_entries or entry.bytes > self._max_bytes:
            return
        with self._lock:
            if key in self._entries:  # another thread asked the same at the same time
                self._drop(key)
            self._entries[key] = entry
            self._count(bytes=entry.bytes)
            while len(self._entries) > self._max_entries or self._figures.bytes > self._max_bytes:
                self._drop(next(iter(self._entries)))
                self._count(evictions=1)

    def _drop(self, key: bytes) -> None:
        self._count(bytes=-self._entries.pop(key).bytes)

    def _count(self, **more: int) -> None:
        self._figures = replace(
            self._figures, **{name: getattr(self._figures, name) + by for name, by in more.items()}
        )


def cache_key(
    snapshot: Snapshot,
    embedder: Embedder | None,
    contract: str,
    plan: Plan,
    max_terms: int,
    *,
    scope: str = "",
) -> bytes:
    """A digest of everything the legs depend on, so that no two different searches share an entry.

    The plan holds the query, the filter and all parameters as they were read. Values go in by `repr`, which
    keeps `1`, `1.0` and `True` apart where `==` would not. The generation is that of the database that is
    searched; memories are another database, and legs over them are not cached.
    """
    vector = None if plan.vector is None else plan.vector.tobytes()
    catalog = snapshot.catalog
    parts = (
        (contract, replace(plan, vector=None), vector, max_terms),
        (catalog.identity, catalog.generation, catalog.tag),
        (embedder.identity if embedder else None, scope),
    )
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()


def size_of(legs: Legs) -> int:
    """About how much memory an entry takes, on the high side."""
    hits = HIT_BYTES * sum(len(leg_hits) for leg_hits in legs.hits.values())
    facts = FACT_BYTES * len(legs.facts or ())
    return ENTRY_BYTES + hits + facts + CHAR_BYTES * len(repr((legs.text, legs.notes)))


def _copy(legs: Legs) -> Legs:
    """Legs that no caller can change. They were not run this time, so they took no time."""
    hits: dict[Signal, Sequence[Hit]] = {signal: tuple(leg_hits) for signal, leg_hits in legs.hits.items()}
    notes: list[Note] = [{"code": note["code"], "message": note["message"]} for note in legs.notes]
    return replace(legs, hits=hits, notes=notes, seconds={})
