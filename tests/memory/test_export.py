"""Memories as lines of JSON: whole, in one order, and imported all or not at all."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quintet
from memory.views import texts
from quintet.errors import LimitError, UsageError
from quintet.memory import Memory


@pytest.fixture
def lines(memory: Memory) -> list[str]:
    memory.remember("the limit is ten", tags=["b", "a"], about=["src/cache.py", "Cache.get"], session="s")
    old = memory.remember("caf\u00e9 opens at eight", "fact", metadata={"z": 1, "a": [None]})
    memory.remember("caf\u00e9 opens at nine", "fact", supersedes=old.id)
    memory.remember("caf\u00e9 opens at nine", "fact")
    return memory.export()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Memory]:
    with quintet.open(tmp_path / "other" / ".quintet", "hashing") as index:
        yield index.memory


def test_an_export_comes_back_byte_for_byte(lines: list[str], other: Memory) -> None:
    done = other.import_(lines)
    assert (done.added, done.changed, done.unchanged) == (3, 0, 0)
    assert other.export() == lines
    assert texts(other.recall("caf\u00e9 opens")) == ["caf\u00e9 opens at nine", "the limit is ten"]


def test_lines_are_in_the_order_memories_came_whatever_the_order_of_import(
    lines: list[str], other: Memory
) -> None:
    other.import_(reversed(lines))
    assert other.export() == lines
    assert [json.loads(line)["text"] for line in lines] == [
        "the limit is ten",
        "caf\u00e9 opens at eight",
        "caf\u00e9 opens at nine",
    ]


def test_importing_twice_is_the_same_as_once(lines: list[str], other: Memory) -> None:
    other.import_(lines)
    done = other.import_(lines)
    assert (done.added, done.changed, done.unchanged) == (0, 0, 3)
    assert other.export() == lines


def test_what_both_know_is_joined_and_nothing_is_lost(lines: list[str], other: Memory) -> None:
    here = other.remember("the limit is ten", tags=["mine"], metadata={"mine": True})
    done = other.import_(lines)
    assert (done.added, done.changed) == (2, 1)
    joined: Any = other.get(here.id)
    assert joined["tags"] == ["mine", "b", "a"]
    assert joined["metadata"] == {"mine": True}
    assert joined["created_ms"] == json.loads(lines[0])["created_ms"]
    after = other.export()
    other.import_(lines)
    assert other.export() == after


def test_a_memory_that_held_here_is_superseded_by_what_is_imported(lines: list[str], other: Memory) -> None:
    old = other.remember("caf\u00e9 opens at eight")
    other.import_(lines)
    assert other.get(old.id)["superseded_by"] == json.loads(lines[2])["id"]


def test_a_forgotten_successor_comes_back_with_its_link(lines: list[str], memory: Memory) -> None:
    newer = json.loads(lines[2])["id"]
    memory.forget(newer)
    done = memory.import_(lines)
    assert (done.added, done.changed, done.unchanged) == (1, 1, 1)
    assert memory.export() == lines


def test_blank_lines_and_left_out_fields_are_fine(other: Memory) -> None:
    done = other.import_(["", json.dumps({"text": "short", "kind": "fact", "created_ms": 5}), "\n"])
    assert done.added == 1
    (found,) = other.timeline()
    assert (found["created_ms"], found["last_seen_ms"], found["seen"]) == (5, 5, 1)


GOOD: dict[str, Any] = {"text": "short", "kind": "fact", "created_ms": 5}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "is not an object"),
        ({"text": "x", "kind": "fact"}, "'created_ms' is missing"),
        ({**GOOD, "colour": 1}, "no field 'colour'"),
        ({**GOOD, "text": ""}, "at least one word"),
        ({**GOOD, "kind": "idea"}, "one of decision"),
        ({**GOOD, "created_ms": -1}, "created_ms is -1"),
        ({**GOOD, "created_ms": 1.5}, "created_ms is 1.5"),
        ({**GOOD, "created_ms": 10**30}, "a whole number"),
        ({**GOOD, "last_seen_ms": 4}, "last_seen_ms is 4"),
        ({**GOOD, "seen": True}, "seen is True"),
        ({**GOOD, "valid_until_ms": 4}, "valid_until_ms is 4"),
        ({**GOOD, "id": "0" * 32}, "the id of this text is"),
        ({**GOOD, "id": 7}, "the id of this text is"),
        ({**GOOD, "tags": [1]}, "a tag is 1"),
        ({**GOOD, "supersedes": "x"}, "is not a list"),
        ({**GOOD, "supersedes": ["x"]}, "is not the id of a memory"),
        ({**GOOD, "supersedes": ["0" * 32]}, "does not name it"),
        ({**GOOD, "superseded_by": "0" * 32}, "does not say when"),
        ({**GOOD, "superseded_by": "0" * 32, "valid_until_ms": 9}, "does not name it"),
        ({**GOOD, "about": [{}]}, "about holds"),
        ({**GOOD, "about": [{"path": "../secret"}]}, "about holds"),
        ({**GOOD, "about": [{"path": "/etc/passwd"}]}, "about holds"),
        ({**GOOD, "about": [{"path": "a", "lines": [2, 1]}]}, "about holds"),
        ({**GOOD, "about": [{"path": "a", "lines": [True, 1]}]}, "about holds"),
        ({**GOOD, "about": [{"path": "a", "digest": "xyz"}]}, "about holds"),
        ({**GOOD, "sessions": "s"}, "is not a list"),
        ({**GOOD, "sessions": [None]}, "a session is None"),
        ({**GOOD, "metadata": 3}, "an object of JSON values"),
    ],
)
def test_one_wrong_line_and_nothing_is_imported(
    lines: list[str], other: Memory, line: Any, says: str
) -> None:
    wrong = line if isinstance(line, str) else json.dumps(line)
    with pytest.raises(UsageError, match=says):
        other.import_([*lines, wrong])
    assert other.export() == []


def test_a_wrong_line_is_named_by_its_number(lines: list[str], other: Memory) -> None:
    with pytest.raises(UsageError, match=r"^line 4: .* nothing was imported") as caught:
        other.import_([*lines, "{"])
    assert caught.value.details == {"line": 4}


def test_the_same_id_with_two_contents_is_refused(other: Memory) -> None:
    two = [json.dumps({**GOOD, "tags": [tag]}) for tag in "ab"]
    with pytest.raises(UsageError, match=r"line 2: memory .* occurs twice"):
        other.import_(two)


def circle(memory: Memory) -> list[str]:
    """Two memories that supersede each other."""
    ids = [memory.remember(text).id for text in ("one", "two")]
    pairs = [json.loads(line) for line in memory.export()]
    for this, that in ((0, 1), (1, 0)):
        pairs[this] |= {
            "superseded_by": ids[that],
            "supersedes": [ids[that]],
            "valid_until_ms": pairs[this]["created_ms"],
        }
    return [json.dumps(one) for one in pairs]


def test_memories_that_supersede_each_other_are_refused(memory: Memory, other: Memory) -> None:
    with pytest.raises(UsageError, match="would supersede itself through others"):
        other.import_(circle(memory))


def test_a_long_chain_of_supersessions_is_read_in_one_pass(other: Memory) -> None:
    from quintet.memory.memo_entry import memo_id

    ids = [memo_id("fact", f"version {number}", 0) for number in range(2_000)]
    chain = []
    for number, id in enumerate(ids):
        newer = ids[number + 1] if number + 1 < len(ids) else None
        memo = {"id": id, "text": f"version {number}", "kind": "fact", "created_ms": number}
        memo |= {"superseded_by": newer, "valid_until_ms": None if newer is None else number}
        chain.append(json.dumps({**memo, "supersedes": ids[number - 1 : number] if number else []}))
    assert other.import_(chain).added == 2_000
    assert texts(other.recall("version", limit=5)) == ["version 1999"]


def test_too_many_or_too_long_lines_are_refused(other: Memory) -> None:
    with pytest.raises(LimitError, match="more than 100000 lines"):
        other.import_("" for _ in range(100_001))
    with pytest.raises(UsageError, match="line 1: it has 200002 characters"):
        other.import_(["x" * 200_002])


def test_sessions_are_carried_and_joined_the_latest_last(memory: Memory, other: Memory) -> None:
    for session in ("a", "b"):
        memory.remember("short", session=session)
    other.import_([json.dumps({**GOOD, "session": "c"})])  # five milliseconds after 1970
    for _ in range(2):
        other.import_(memory.export())
        (found,) = other.timeline()
        assert (found["session"], found["sessions"]) == ("b", ["c", "a", "b"])
    other.import_([json.dumps({**GOOD, "sessions": ["d"]})])
    assert other.timeline()[0]["sessions"] == ["d", "c", "a", "b"]
