"""The query cache: an answer from it is the answer of an engine without one, byte for byte."""

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from sys import getsizeof
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

import quintet
from contracts.fixed import FixedEmbedder, write
from quintet.contracts import CONTRACTS
from quintet.model.results import Facts, Hit
from quintet.query.cache import CacheFigures, QueryCache, size_of
from quintet.query.legs import Legs
from quintet.query.search import search
from quintet.settings import Settings

WORDS = ("apple", "banana", "cherry", "apple banana", '"cherry apple"', "zeppelin")
VECTORS: dict[str, Any] = {
    "apple": (1.0, 0.0),
    "banana": (0.0, 1.0),
    "cherry": (1.0, 1.0),
    "apple banana": (3.0, 1.0),
    '"cherry apple"': None,
    "zeppelin": (0.0, 0.0),
}
CALLS = [
    ("quintet", {}),
    ("quintet", {"mode": "lexical", "limit": 1}),
    ("quintet", {"filters": {"path": "a*"}}),
    ("rifflux", {"mode": "semantic"}),
    ("harness", {}),
    ("mcb", {"embedding": [1.0, 0.0]}),
    ("mcb", {"embedding": [0.0, 1.0]}),
    ("knowledge", {"search_method": "hybrid"}),
    ("cfs", {"top_k": 2}),
    ("cfs", {"top_k": 2, "rrf_k": 1}),
]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def wire(response: quintet.Response) -> str:
    return json.dumps(response.wire())


def some_legs(hits: int = 1) -> Legs:
    return Legs({"lexical": [Hit(f"{number:032d}", 1.0, -1.0) for number in range(hits)]})


def fetch(cache: QueryCache, key: bytes, hits: int = 1) -> Legs:
    """As a search does it: look it up, else keep what the legs return."""
    legs = cache.get(key)
    if legs is None:
        legs = some_legs(hits)
        cache.put(key, legs)
    return legs


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[quintet.Index]:
    files = {"a.txt": "apple", "b.txt": "banana", "c.txt": "cherry apple"}
    with quintet.open(tmp_path / "index", FixedEmbedder(VECTORS)) as index:
        index.sync([write(tmp_path / "shelf", files)])
        yield index


class CachedBesideUncached(RuleBasedStateMachine):
    """Any order of searches, changes and waits."""

    @initialize()
    def open(self) -> None:
        self.folder = Path(mkdtemp(prefix="quintet-cache-"))
        self.shelf = write(self.folder / "shelf", {"a.txt": "apple"})
        self.embedder = FixedEmbedder(VECTORS)
        self.clock = Clock()
        self.cache = QueryCache(4, seconds=10, clock=self.clock)
        self.index = quintet.open(self.folder / "index", self.embedder, cache_entries=0)
        self.index.sync([self.shelf])
        self.writes = 0
        self.asked = [("apple", call) for call in CALLS[-3:]]

    @rule(query=st.sampled_from(WORDS), call=st.sampled_from(CALLS))
    def searches(self, query: str, call: tuple[str, dict[str, Any]]) -> None:
        self.asked.append((query, call))

    @invariant()
    def recent_searches_answer_as_without_a_cache(self) -> None:
        for query, call in self.asked[-3:]:
            self._compares(query, call)

    def _compares(self, query: str, call: tuple[str, dict[str, Any]]) -> None:
        contract, params = call
        asked = (CONTRACTS[contract], query, params, Settings(), self.index._collection._disk)
        with self.index._store.snapshot() as snapshot:
            plain = self._answer(lambda: search(snapshot, self.embedder, *asked))
            cached = self._answer(lambda: search(snapshot, self.embedder, *asked, self.cache))
        assert cached == plain

    @staticmethod
    def _answer(asking: Callable[[], quintet.Response]) -> str:
        try:
            return wire(asking())
        except quintet.QuintetError as error:
            return f"{error.code}: {error.message}"

    @rule(name=st.sampled_from(["a.txt", "b.txt", "c.txt"]), text=st.sampled_from(WORDS))
    def writes_a_file(self, name: str, text: str) -> None:
        self.writes += 1
        write(self.shelf, {name: text}, {name: 1_700_000_000_000 + self.writes})
        self.index.sync([self.shelf])

    @rule(name=st.sampled_from(["a.txt", "b.txt", "c.txt"]), embed=st.booleans())
    def removes_a_file(self, name: str, embed: bool) -> None:
        (self.shelf / name).unlink(missing_ok=True)
        self.index.sync([self.shelf], embed=embed)

    @rule(seconds=st.sampled_from([1.0, 9.9, 10.0, 100.0]))
    def waits(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule()
    def counts_what_it_holds(self) -> None:
        figures = self.cache.figures()
        assert figures.entries <= 4
        assert (figures.bytes > 0) == (figures.entries > 0)

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()
            shutil.rmtree(self.folder)


@pytest.mark.requirement("004-S10-SAME-BYTES")
def test_searches_changes_and_waits_in_any_order_answer_as_without_a_cache() -> None:
    run_state_machine_as_test(
        CachedBesideUncached, settings=hypothesis_settings(max_examples=20, stateful_step_count=25)
    )


@pytest.mark.requirement("004-S10-CACHE")
def test_the_same_search_is_looked_up_once(shelf: quintet.Index) -> None:
    first, second = shelf.search("apple", "cfs"), shelf.search("apple", "cfs")
    assert wire(first) == wire(second)
    figures = shelf.status().cache
    assert (figures.hits, figures.misses, figures.entries) == (1, 1, 1)
    assert (bool(first.seconds), bool(second.seconds)) == (True, False)


@pytest.mark.requirement("004-S10-CACHE")
def test_a_thousand_searches_are_kept_unless_told() -> None:
    cache = QueryCache()
    for number in range(1_001):
        fetch(cache, str(number).encode())
    figures = cache.figures()
    assert (figures.entries, figures.evictions, Settings().cache_entries) == (1_000, 1, 1_000)


@pytest.mark.requirement("004-S10-TTL")
def test_an_entry_lasts_five_minutes() -> None:
    clock = Clock()
    cache = QueryCache(clock=clock)
    fetch(cache, b"key")
    clock.now = 299.9
    assert cache.get(b"key") is not None
    clock.now = 300.0
    assert cache.get(b"key") is None
    figures = cache.figures()
    assert (figures.hits, figures.misses, figures.expired, figures.entries, figures.bytes) == (1, 2, 1, 0, 0)


def test_the_entry_that_was_not_used_longest_goes_first() -> None:
    cache = QueryCache(2)
    for key in (b"one", b"two", b"one", b"three"):
        fetch(cache, key)
    assert cache.get(b"one") is not None
    assert cache.get(b"three") is not None
    assert cache.get(b"two") is None


def test_entries_make_room_until_the_bytes_fit_and_a_giant_is_not_kept() -> None:
    cache = QueryCache(max_bytes=3 * size_of(some_legs(10)))
    for number in range(10):
        fetch(cache, bytes([number]), 10)
    assert cache.figures() == CacheFigures(0, 10, 7, 0, 3, 3 * size_of(some_legs(10)))
    fetch(cache, b"giant", 10_000)
    assert cache.figures().entries == 3


def test_facts_that_legs_looked_up_count_towards_the_bytes() -> None:
    place = (
        "a" * 32,
        "src/main/java/com/example/project/Deserializer.java",
        3,
        40,
        1_700_000_000_000,
        "b" * 32,
    )
    fact = Facts(*place, "Fresh", "deserialize", "method", "Deserializer > deserialize", True)
    real = getsizeof(fact) + sum(map(getsizeof, fact))
    assert size_of(Legs(facts={"a": fact})) - size_of(Legs()) >= real


def test_what_a_caller_does_to_an_answer_does_not_reach_the_cache(shelf: quintet.Index) -> None:
    plain = wire(shelf.search("banana !", "cfs", mode="semantic"))
    again = shelf.search("banana !", "cfs", mode="semantic")
    for note in again.notes:
        note["message"] = "changed"
    again.notes.clear()
    assert wire(shelf.search("banana !", "cfs", mode="semantic")) == plain


def test_a_degraded_answer_is_not_kept(shelf: quintet.Index) -> None:
    assert shelf.search('"cherry apple"').status == "degraded"  # the embedder has no vector for it
    assert shelf.search('"cherry apple"').status == "degraded"
    assert shelf.cache.figures() == CacheFigures(misses=2)


def test_a_leg_that_failed_is_asked_again(tmp_path: Path) -> None:
    vectors = {**VECTORS, "an apple": quintet.StoreError("the model is away")}
    with quintet.open(tmp_path / "index", FixedEmbedder(vectors)) as index:
        index.sync([write(tmp_path / "shelf", {"a.txt": "apple", "b.txt": "banana"})])
        failed = index.search("an apple")
        vectors["an apple"] = (1.0, 0.0)
        assert [note["code"] for note in failed.notes] == ["leg_failed"]
        assert index.search("an apple").status == "ok"


def test_a_change_of_the_index_is_seen_at_once(shelf: quintet.Index, tmp_path: Path) -> None:
    assert len(shelf.search("cherry", mode="lexical").body["results"]) == 1
    write(tmp_path / "shelf", {"d.txt": "cherry"})
    shelf.sync()
    assert len(shelf.search("cherry", mode="lexical").body["results"]) == 2


@pytest.mark.parametrize("other", [{"scope": "someone else"}, {"embedder": None}, {"max_terms": 1}])
def test_searches_that_might_differ_never_share(shelf: quintet.Index, other: dict[str, Any]) -> None:
    cache = QueryCache()

    def ask(embedder: Any = shelf.embedder, scope: str = "", max_terms: int = 64) -> None:
        params = {"mode": "lexical"}
        with shelf._store.snapshot() as snapshot:
            given = (
                CONTRACTS["quintet"],
                "apple banana",
                params,
                Settings(max_terms=max_terms),
                shelf._collection._disk,
            )
            search(snapshot, embedder, *given, cache, scope)

    ask()
    ask(**other)
    ask()
    ask(**other)
    assert (cache.figures().misses, cache.figures().hits) == (2, 2)


def test_another_index_of_the_same_generation_does_not_share(tmp_path: Path) -> None:
    cache = QueryCache()
    answers = []
    for name in ("one", "two"):
        with quintet.open(tmp_path / name, None) as index:
            index.sync([write(tmp_path / f"shelf-{name}", {"a.txt": f"word {name}"})])
            with index._store.snapshot() as snapshot:
                asked = (
                    CONTRACTS["rifflux"],
                    "word",
                    {"mode": "lexical"},
                    Settings(),
                    index._collection._disk,
                )
                answers.append(search(snapshot, None, *asked, cache))
    assert cache.figures().hits == 0
    assert wire(answers[0]) != wire(answers[1])


def test_no_entries_turn_it_off(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", None, cache_entries=0) as index:
        index.sync([write(tmp_path / "shelf", {"a.txt": "apple"})])
        index.search("apple", mode="lexical")
        index.search("apple", mode="lexical")
        assert index.status().cache == CacheFigures()


def test_threads_that_share_it_get_what_they_asked_for_and_it_counts_them_all() -> None:
    cache = QueryCache(8, max_bytes=6 * size_of(some_legs(5)))

    def hammer(seed: int) -> None:
        for step in range(500):
            number = (seed * 7 + step * 3) % 12
            legs = fetch(cache, bytes([number]), number % 6)
            assert len(legs.hits["lexical"]) == number % 6

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(hammer, range(8)))
    figures = cache.figures()
    held = list(cache._entries.values())
    assert figures.hits + figures.misses == 8 * 500
    assert (figures.entries, figures.bytes) == (len(held), sum(entry.bytes for entry in held))
