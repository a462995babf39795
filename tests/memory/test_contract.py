"""The ranking of memory as data: its parameters, its profile, its page."""

from dataclasses import fields
from pathlib import Path

import pytest

from quintet.contracts import CONTRACTS
from quintet.memory.contract import MEMORY, PROFILE, Params, memory_fields, memory_filter, plan
from quintet.model.memories import About, Memo, memo_from
from quintet.ranking import Rrf

PAGE = Path(__file__).parents[2] / "docs" / "memory.md"


def test_memory_is_not_among_the_published_contracts() -> None:
    assert MEMORY.name not in CONTRACTS


def test_both_legs_are_fused_by_reciprocal_rank_over_whole_memories() -> None:
    assert PROFILE.fusion == Rrf(60.0)
    assert PROFILE.unit == "document"
    assert [(branch.signal, branch.weight) for branch in PROFILE.branches] == [
        ("lexical", 1.0),
        ("semantic", 1.0),
    ]


def test_every_parameter_becomes_a_condition_that_holds_before_retrieval() -> None:
    given = Params(3, "fact", ("a", "b"), "s", "x.py", 1, 2)
    made = plan("q", given)
    assert made.limit == 3
    assert made.filter == memory_filter(given)
    assert memory_filter(Params(include_superseded=True)) == type(made.filter)()
    assert memory_filter(Params()) != type(made.filter)()


def test_the_parameters_are_those_of_the_page() -> None:
    rows = [line.split("|") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    told = {row[1].strip(" `"): row[2].strip(" `") for row in rows if len(row) == 5}
    for one in fields(Params):
        written = {None: "null", (): "[]", False: "false"}.get(one.default, str(one.default))
        assert told[one.name] == written, one.name


MEMOS = [
    Memo("i", "text", "fact", 1, 2),
    Memo(
        "i",
        "text",
        "code",
        1,
        2,
        seen=3,
        tags=("a", "b"),
        about=(About("p", "s", "r", (1, 2), "0" * 64), About(symbol="x")),
        sessions=("r", "s"),
        supersedes=("j",),
        superseded_by="k",
        valid_until_ms=9,
        metadata={"m": [1, None]},
    ),
]


@pytest.mark.parametrize("memo", MEMOS)
def test_a_memory_comes_back_from_its_fields(memo: Memo) -> None:
    assert memo_from(memo.fields()) == memo


def test_a_memory_is_shown_with_its_interval_and_without_digests() -> None:
    found = memory_fields(MEMOS[1])
    assert found["valid"] == {"from_ms": 1, "until_ms": 9}
    assert found["about"] == [
        {"path": "p", "symbol": "s", "root": "r", "lines": [1, 2], "state": "unknown"},
        {"symbol": "x", "state": "unknown"},
    ]
    assert set(found) == (set(MEMOS[1].fields()) - {"valid_until_ms"}) | {"valid"}
