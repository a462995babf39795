"""Memories in the order they came, around one of them or a moment; and forgetting them."""

from typing import Any

import pytest

from memory.conftest import Clock
from memory.views import texts
from quintet.errors import NotFound, UsageError
from quintet.memory import Memory

SECOND = 1_000


@pytest.fixture
def ids(memory: Memory, clock: Clock) -> list[str]:
    """Nine memories, a second apart; every third is a task, the last four of session `late`."""
    found = []
    for number in range(9):
        kind = "task" if number % 3 == 0 else "fact"
        session = "late" if number > 4 else "early"
        found.append(memory.remember(f"memory {number}", kind, session=session).id)
        clock.ms += SECOND
    return found


def numbers(timeline: list[dict[str, Any]]) -> list[int]:
    return [int(one["text"].split()[1]) for one in timeline]


def test_the_neighbours_of_a_memory_are_those_before_and_behind_it(memory: Memory, ids: list[str]) -> None:
    assert numbers(memory.timeline(ids[4], before=2, after=3)) == [2, 3, 4, 5, 6, 7]
    assert numbers(memory.timeline(ids[0], before=2, after=1)) == [0, 1]
    assert numbers(memory.timeline(ids[4], before=0, after=0)) == [4]


def test_without_a_moment_it_shows_the_latest(memory: Memory, ids: list[str]) -> None:
    assert numbers(memory.timeline(before=3)) == [6, 7, 8]


def test_around_a_moment_stands_what_came_before_and_since(memory: Memory, ids: list[str]) -> None:
    at: Any = memory.get(ids[4])["created_ms"]
    assert numbers(memory.timeline(at, before=1, after=1)) == [3, 4]
    assert numbers(memory.timeline(at + 1, before=1, after=1)) == [4, 5]


def test_kind_and_session_narrow_the_neighbours(memory: Memory, ids: list[str]) -> None:
    assert numbers(memory.timeline(ids[4], kind="task")) == [0, 3, 4, 6]
    assert numbers(memory.timeline(session="late")) == [5, 6, 7, 8]


def test_memories_of_one_moment_go_by_their_id(memory: Memory, clock: Clock) -> None:
    found = []
    for text in ("a", "b", "c", "d"):
        clock.ms = 1_700_000_000_000
        found.append(memory.remember(text).id)
    assert [one["id"] for one in memory.timeline()] == sorted(found)
    first, *_, last = sorted(found)
    assert [one["id"] for one in memory.timeline(first, after=9)] == sorted(found)
    assert [one["id"] for one in memory.timeline(last, before=9)] == sorted(found)


def test_what_was_superseded_stays_in_the_timeline(memory: Memory) -> None:
    old = memory.remember("old")
    memory.remember("new", supersedes=old.id)
    assert [one["text"] for one in memory.timeline()] == ["old", "new"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"before": -1}, "before is -1"),
        ({"after": 1_001}, "from 0 to 1000"),
        ({"around": -5}, "around is -5"),
        ({"around": 1.5}, "around is 1.5"),
        ({"kind": "idea"}, "kind is 'idea'"),
    ],
)
def test_a_wrong_moment_or_count_is_refused(memory: Memory, given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        memory.timeline(**given)


def test_an_unknown_memory_has_no_neighbours(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.timeline("nowhere")


def test_forgetting_removes_a_memory_from_every_answer(memory: Memory, ids: list[str]) -> None:
    assert memory.forget(ids[3]) == [ids[3]]
    with pytest.raises(NotFound):
        memory.get(ids[3])
    assert "memory 3" not in texts(memory.recall("memory", limit=100))
    assert numbers(memory.timeline(ids[4], before=1, after=0)) == [2, 4]
    assert not any("memory 3" in line for line in memory.export())
    with pytest.raises(NotFound, match="there is no memory"):
        memory.forget(ids[3])


def test_forgetting_by_filters_takes_what_was_superseded_too(memory: Memory, ids: list[str]) -> None:
    memory.remember("better", supersedes=ids[0])
    assert set(memory.forget(kind="task")) == {ids[0], ids[3], ids[6]}
    assert memory.forget(kind="task") == []
    assert set(memory.forget(session="late", kind="fact")) == {ids[5], ids[7], ids[8]}


@pytest.mark.parametrize("given", [{}, {"id": "x", "kind": "fact"}, {"limit": 3}])
def test_forgetting_must_be_told_which(memory: Memory, ids: list[str], given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        memory.forget(**given)
    assert len(memory.export()) == len(ids)


def test_forgetting_restores_nothing_and_leaves_no_link_behind(memory: Memory) -> None:
    first = memory.remember("one")
    second = memory.remember("two", supersedes=first.id)
    third = memory.remember("three", supersedes=second.id)
    memory.forget(second.id)
    old: Any = memory.get(first.id)
    assert old["superseded_by"] is None
    assert old["valid"]["until_ms"] is not None
    assert memory.get(third.id)["supersedes"] == []
    assert texts(memory.recall("one two three")) == ["three"]
    assert not any(second.id in line for line in memory.export())


def test_what_was_forgotten_can_be_remembered_anew(memory: Memory) -> None:
    kept = memory.remember("again")
    memory.forget(kept.id)
    again = memory.remember("again")
    assert (again.id, again.merged, again.seen) == (kept.id, False, 1)
