"""A newer memory takes the place of an older one, which stays readable with the time it held."""

from typing import Any

import pytest

from memory.conftest import START_MS, Clock
from memory.views import results, texts
from quintet.errors import Conflict, NotFound, UsageError
from quintet.memory import Memory


def test_recall_leaves_out_what_was_superseded_unless_asked(memory: Memory) -> None:
    old = memory.remember("the limit is ten")
    new = memory.remember("the limit is twenty", supersedes=old.id)
    assert texts(memory.recall("limit")) == ["the limit is twenty"]
    both = results(memory.recall("limit", include_superseded=True))
    assert {one["id"] for one in both} == {old.id, new.id}


def test_the_older_memory_keeps_its_text_and_the_interval_in_which_it_held(
    memory: Memory, clock: Clock
) -> None:
    old = memory.remember("the limit is ten")
    clock.ms = START_MS + 60_000
    new = memory.remember("the limit is twenty", supersedes=old.id)
    found: Any = memory.get(old.id)
    assert found["text"] == "the limit is ten"
    assert found["superseded_by"] == new.id
    assert found["valid"]["from_ms"] == found["created_ms"]
    assert START_MS + 60_000 < found["valid"]["until_ms"] < START_MS + 61_000
    assert memory.get(new.id)["supersedes"] == [old.id]


def test_a_clock_that_goes_back_gives_no_negative_interval(memory: Memory, clock: Clock) -> None:
    old = memory.remember("the limit is ten")
    clock.ms = START_MS - 60_000
    memory.remember("the limit is twenty", supersedes=old.id)
    found: Any = memory.get(old.id)
    assert found["valid"]["until_ms"] == found["valid"]["from_ms"]


def test_one_memory_may_take_the_place_of_several(memory: Memory) -> None:
    first, second = memory.remember("a is one"), memory.remember("a is two")
    new = memory.remember("a is three", supersedes=first.id)
    memory.supersede(second.id, new.id)
    assert memory.get(new.id)["supersedes"] == [first.id, second.id]
    assert texts(memory.recall("a is")) == ["a is three"]


def test_what_was_superseded_cannot_be_superseded_again(memory: Memory) -> None:
    old = memory.remember("one")
    memory.remember("two", supersedes=old.id)
    with pytest.raises(Conflict, match=r"was superseded by .* cannot be superseded again"):
        memory.remember("three", supersedes=old.id)
    assert len(memory.export()) == 2


def test_supersession_cannot_go_round_in_a_circle(memory: Memory) -> None:
    first = memory.remember("one")
    second = memory.remember("two", supersedes=first.id)
    with pytest.raises(Conflict, match=r"cannot supersede another"):
        memory.supersede(second.id, by=first.id)
    with pytest.raises(UsageError, match="cannot supersede itself"):
        memory.supersede(second.id, by=second.id)


def test_a_memory_cannot_take_its_own_place(memory: Memory) -> None:
    kept = memory.remember("one")
    with pytest.raises(UsageError, match="cannot supersede itself"):
        memory.remember("one", supersedes=kept.id)
    assert memory.get(kept.id)["seen"] == 1


def test_an_unknown_memory_cannot_be_superseded_and_nothing_is_written(memory: Memory) -> None:
    with pytest.raises(NotFound, match="there is no memory 'nowhere'") as caught:
        memory.remember("new", supersedes="nowhere")
    assert caught.value.code == "memory_not_found"
    assert memory.export() == []


@pytest.mark.parametrize("id", ["\ud800", "", "x" * 10_000, 5, ["a"], {}])
def test_whatever_is_given_for_an_id_is_a_memory_that_is_not_there(memory: Memory, id: Any) -> None:
    for call in (memory.get, memory.forget, memory.timeline if isinstance(id, str) else memory.get):
        with pytest.raises(NotFound, match="there is no memory"):
            call(id)
    with pytest.raises(NotFound):
        memory.remember("new", supersedes=id)


def test_what_held_before_and_is_said_again_is_a_memory_of_its_own(memory: Memory) -> None:
    ten = memory.remember("the limit is ten")
    twenty = memory.remember("the limit is twenty", supersedes=ten.id)
    again = memory.remember("the limit is ten", supersedes=twenty.id)
    assert (again.merged, again.id == ten.id) == (False, False)
    assert texts(memory.recall("limit")) == ["the limit is ten"]
    assert memory.get(ten.id)["superseded_by"] == twenty.id
    assert memory.remember("the limit is ten").id == again.id
