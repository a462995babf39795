"""What is remembered can be recalled at once; the same again is merged, almost the same is told."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quintet
from memory.conftest import START_MS, Clock
from memory.views import results, texts
from quintet.errors import LimitError, StoreError, UsageError
from quintet.memory import Memory
from quintet.model.memories import KINDS, SESSIONS


def test_what_was_remembered_can_be_recalled_at_once(memory: Memory) -> None:
    kept = memory.remember(
        "Answers are cached for five minutes",
        "decision",
        tags=["cache", "ttl"],
        session="monday",
        metadata={"by": "me", "deep": [1, {"a": None}]},
    )
    (found,) = results(memory.recall("how long are answers cached"))
    assert found["id"] == kept.id
    assert found["text"] == "Answers are cached for five minutes"
    assert (found["kind"], found["tags"], found["session"]) == ("decision", ["cache", "ttl"], "monday")
    assert found["metadata"] == {"by": "me", "deep": [1, {"a": None}]}
    assert set(found["signals"]) == {"lexical", "semantic"}
    assert found["score"] == 1 / (60 + 1) + 1 / (60 + 1)


def test_times_come_from_the_clock_that_was_given(memory: Memory, clock: Clock) -> None:
    clock.ms = START_MS + 5_000
    kept = memory.remember("noted")
    assert memory.get(kept.id)["created_ms"] == START_MS + 5_001


def test_the_same_text_again_is_the_same_memory_seen_once_more(memory: Memory, clock: Clock) -> None:
    first = memory.remember("The  cache\nis cold", tags=["a"], about=["src/cache.py"], metadata={"n": 1})
    clock.ms += 1_000
    again = memory.remember(" The cache is cold ", tags=["b", "a"], about=["Cache"], metadata={"m": 2})
    assert (first.merged, again.merged, again.id, again.seen) == (False, True, first.id, 2)
    found: Any = memory.get(first.id)
    assert found["tags"] == ["a", "b"]
    assert [one.get("symbol") for one in found["about"]] == [None, "cache.Cache"]
    assert found["metadata"] == {"n": 1, "m": 2}
    assert found["last_seen_ms"] > found["created_ms"] + 1_000
    assert found["text"] == "The  cache\nis cold"
    assert len(results(memory.recall("cold"))) == 1


def test_a_merge_that_would_exceed_a_limit_is_refused_and_loses_nothing(memory: Memory) -> None:
    kept = memory.remember("tagged", tags=[f"a{number}" for number in range(32)])
    with pytest.raises(LimitError, match="would have 33 entries; at most 32"):
        memory.remember("tagged", tags=["one more"])
    assert memory.get(kept.id)["seen"] == 1


def test_composed_and_decomposed_letters_are_the_same_text(memory: Memory) -> None:
    assert memory.remember("caf\u00e9").id == memory.remember("cafe\u0301").id


@pytest.mark.parametrize("other", ["The cache is Cold", "The cache is cold!"])
def test_another_spelling_is_another_memory(memory: Memory, other: str) -> None:
    assert memory.remember("The cache is cold").id != memory.remember(other).id


def test_the_same_text_of_another_kind_is_another_memory(memory: Memory) -> None:
    ids = {memory.remember("run the tests", kind).id for kind in KINDS}
    assert len(ids) == len(KINDS) == 7


def test_an_id_hangs_on_the_text_alone(memory: Memory, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "other", embedder=None) as other:
        assert other.memory.remember("stable", tags=["x"]).id == memory.remember("stable").id


def test_a_near_duplicate_is_told_and_kept_apart(memory: Memory) -> None:
    first = memory.remember("the cache of answers is bounded in size and in time")
    second = memory.remember("the cache of answers is bounded in size and time")
    (near,) = second.near
    assert (near.id, near.by) == (first.id, "meaning")
    assert 0.9 <= near.similarity < 1
    assert second.id != first.id
    assert len(results(memory.recall("bounded"))) == 2


def test_without_vectors_near_duplicates_are_told_by_their_words(project: Path) -> None:
    with quintet.open(project / ".quintet", embedder=None) as index:
        first = index.memory.remember("the cache of answers is bounded in size and in time")
        near = index.memory.remember("The cache of answers is bounded, in size and time!").near
        assert [(one.id, one.by) for one in near] == [(first.id, "words")]
        assert index.memory.remember("the cache of answers is cold today").near == []


def test_what_is_superseded_is_not_told_as_near(memory: Memory) -> None:
    old = memory.remember("the cache of answers is bounded in size and in time")
    new = memory.remember("the cache of answers is bounded in size and time", supersedes=old.id)
    assert new.near == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"text": ""}, "at least one word"),
        ({"text": " \n "}, "at least one word"),
        ({"text": None}, "at least one word"),
        ({"kind": "idea"}, "one of decision, fact"),
        ({"kind": []}, "one of decision, fact"),
        ({"tags": "cache"}, "a list of texts"),
        ({"tags": [""]}, "a tag is ''"),
        ({"tags": [7]}, "a tag is 7"),
        ({"tags": ["\ud800"]}, "lone surrogates"),
        ({"about": [None]}, "what it is about is None"),
        ({"session": "\0"}, "without NUL"),
        ({"metadata": [1]}, "an object of JSON values"),
        ({"metadata": {"a": {1, 2}}}, "an object of JSON values"),
        ({"metadata": {"a": float("nan")}}, "an object of JSON values"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_one_sentence(
    memory: Memory, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        memory.remember(**{"text": "x", **given})
    assert memory.export() == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"text": "x" * 20_001}, "at most 20000"),
        ({"tags": [str(n) for n in range(33)]}, "at most 32"),
        ({"tags": ["t" * 101]}, "at most 100"),
        ({"about": [str(n) for n in range(33)]}, "at most 32"),
        ({"session": "s" * 201}, "at most 200"),
        ({"metadata": {"a": "m" * 10_000}}, "at most 10000"),
    ],
)
def test_what_is_too_large_is_refused_with_the_limit(
    memory: Memory, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(LimitError, match=says):
        memory.remember(**{"text": "x", **given})


def test_deep_metadata_is_refused_not_run_into(memory: Memory) -> None:
    deep: dict[str, Any] = {"a": 1}
    for level in range(100_000):
        if level == 31:
            memory.remember("deep enough", metadata=deep)
            with pytest.raises(LimitError, match="more than 32 levels"):
                memory.remember("too deep", metadata={"a": deep})
        deep = {"a": deep}
    with pytest.raises(UsageError, match="JSON values"):
        memory.remember("far too deep", metadata=deep)


@pytest.mark.parametrize(
    "text", ["nul\0inside", "half \ud83d pair", "\u202eright to left", "検索 エンジン", "🦊" * 50]
)
def test_any_text_can_be_remembered(memory: Memory, text: str) -> None:
    kept = memory.remember(text)
    assert memory.remember(text).id == kept.id
    assert memory.get(kept.id)["seen"] == 2


def test_a_long_memory_is_one_result_with_its_whole_text(memory: Memory) -> None:
    text = "\n\n".join(f"Paragraph {n} is about bananas. " * 20 for n in range(15))
    memory.remember(text)
    (found,) = results(memory.recall("bananas"))
    assert found["text"] == text.strip()


class Failing:
    """An embedder whose server is down for a while."""

    identity = "failing"
    dimensions = 2
    down = True

    def embed_documents(self, texts: list[str]) -> Any:
        if self.down:
            raise StoreError("the server is down")
        return np.ones((len(texts), 2))

    def embed_query(self, text: str) -> Any:
        if self.down:
            raise StoreError("the server is down")
        return np.ones(2)


def test_a_text_is_kept_when_its_vector_cannot_be_made_and_the_next_recall_makes_it(project: Path) -> None:
    embedder = Failing()
    with quintet.open(project / ".quintet", embedder) as index:
        kept = index.memory.remember("keep me")
        assert [note["code"] for note in kept.notes] == ["embedding_postponed"]
        degraded = index.memory.recall("keep")
        assert (texts(degraded), degraded.status) == (["keep me"], "degraded")
        embedder.down = False
        whole = index.memory.recall("keep")
        assert (whole.status, whole.notes) == ("ok", [])
        assert set(results(whole)[0]["signals"]) == {"lexical", "semantic"}


def test_another_embedder_makes_the_vectors_anew(project: Path) -> None:
    with quintet.open(project / ".quintet", "hashing") as index:
        index.memory.remember("written under the first")
        index.reembed(Working())
        assert set(results(index.memory.recall("first"))[0]["signals"]) == {"lexical", "semantic"}
        with index.memory._memories.snapshot() as snapshot:
            assert snapshot.catalog.embedder == "working"


class Working(Failing):
    identity = "working"
    down = False


def test_a_memory_of_two_sessions_is_found_in_both_and_shows_the_latest(memory: Memory) -> None:
    for session in ("monday", "tuesday", "monday"):
        kept = memory.remember("answers are cached", session=session)
    memory.remember("answers are cached")
    found = memory.get(kept.id)
    assert (found["session"], found["sessions"]) == ("monday", ["tuesday", "monday"])
    for session in ("monday", "tuesday"):
        assert texts(memory.recall("cached", session=session)) == ["answers are cached"]
        assert [one["id"] for one in memory.timeline(session=session)] == [kept.id]
    assert texts(memory.recall("cached", session="wednesday")) == []


def test_of_very_many_sessions_the_latest_are_kept(memory: Memory) -> None:
    for number in range(SESSIONS + 2):
        kept = memory.remember("answers are cached", session=f"s{number}")
    found: Any = memory.get(kept.id)["sessions"]
    assert found == [f"s{number}" for number in range(2, SESSIONS + 2)]
