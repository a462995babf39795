"""Code and memory in one answer, merged by reciprocal rank (spec 002, section 4)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quintet
from memory.views import codes
from quintet.query.code_and_memory import joint_status, merge
from quintet.ranking import Rrf


@pytest.fixture
def both(index: quintet.Index) -> quintet.Index:
    index.memory.remember("the cache was cold on monday")
    index.memory.remember("cache answers for five minutes", "decision")
    return index


@pytest.mark.requirement("002-UNIFIED-CODE")
def test_the_code_of_a_unified_answer_is_what_mcb_answers(both: quintet.Index) -> None:
    found = both.search_all("cache", code={"k": 2})
    assert found.body["code"] == both.search("cache", "mcb", k=2).body["results"]
    assert found.status == "ok"


@pytest.mark.requirement("002-UNIFIED-MEMORY")
def test_the_memory_of_a_unified_answer_is_what_recall_answers(both: quintet.Index) -> None:
    found = both.search_all("cache", memory={"kind": "decision"})
    assert found.body["memory"] == both.memory.recall("cache", kind="decision").body["results"]
    assert len(found.body["memory"]) == 1  # type: ignore[arg-type]


@pytest.mark.requirement("002-UNIFIED-RANK")
def test_both_lists_are_merged_by_reciprocal_rank(both: quintet.Index) -> None:
    body: Any = both.search_all("cache").body
    assert list(body) == ["code", "memory", "hybrid_rank"]
    code, memory = [one["node"]["id"] for one in body["code"]], [one["id"] for one in body["memory"]]
    assert (len(code) >= 2, len(memory)) == (True, 2)
    assert body["hybrid_rank"][:4] == [
        {"kind": "code", "id": code[0], "score": 1 / 60},
        {"kind": "memory", "id": memory[0], "score": 1 / 60},
        {"kind": "code", "id": code[1], "score": 1 / 61},
        {"kind": "memory", "id": memory[1], "score": 1 / 61},
    ]
    assert len(body["hybrid_rank"]) == len(code) + len(memory)


def test_status_and_notes_stand_beside_the_answer(both: quintet.Index) -> None:
    wire = both.search_all("cache").wire()
    assert set(wire) == {"code", "memory", "hybrid_rank", "status", "notes"}


def test_an_empty_half_is_told_from_one_without_a_match(index: quintet.Index) -> None:
    found = index.search_all("cache")
    assert (found.status, found.body["memory"]) == ("ok", [])
    assert "never_indexed" in codes(found)
    assert any(note["message"] == "memory: nothing was ever stored" for note in found.notes)


def test_a_degraded_half_degrades_the_whole(both: quintet.Index) -> None:
    both.embedder = None
    found = both.search_all("cache")
    assert found.status == "degraded"
    assert {note["message"].split(":")[0] for note in found.notes} == {"code", "memory"}


@pytest.mark.parametrize(
    ("code", "memory", "together"),
    [
        ("ok", "ok", "ok"),
        ("never_indexed", "never_indexed", "never_indexed"),
        ("empty_index", "empty_index", "empty_index"),
        ("ok", "never_indexed", "ok"),
        ("empty_index", "ok", "ok"),
        ("never_indexed", "degraded", "degraded"),
        ("empty_index", "never_indexed", "empty_index"),
    ],
)
def test_two_statuses_make_one(code: Any, memory: Any, together: str) -> None:
    assert joint_status({"code": code, "memory": memory})[0] == together


@given(st.lists(st.uuids(), unique=True, max_size=20), st.lists(st.uuids(), unique=True, max_size=20))
def test_a_merge_keeps_every_item_and_the_order_of_each_list(code: list[Any], memory: list[Any]) -> None:
    lists = {"code": [str(one) for one in code], "memory": [str(one) for one in memory]}
    found = merge(lists, Rrf(10.0, first_rank=1))
    for kind, ids in lists.items():
        assert [one.id for one in found if one.kind == kind] == ids
        assert [one.score for one in found if one.kind == kind] == [1 / (10 + 1 + n) for n in range(len(ids))]
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
