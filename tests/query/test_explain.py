"""Why not: each step that can remove a chunk is told, and every change that is named was tried."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import quintet
from quintet import Index, NotFound

NOTES = 30


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(NOTES):
        words = "harbour " * (NOTES - number)
        (folder / f"{number:02}.md").write_text(f"# Note {number}\n\n{words} and {'word ' * number}\n")
    (folder / "far.md").write_text("# Far\n\nNothing of the kind.\n")
    (folder / "code.py").write_text("def harbour():\n    return 'harbour'\n")
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([folder])
        yield index


def test_what_is_found_is_told_with_its_place(index: Index) -> None:
    first = index.search("harbour", "rifflux", mode="lexical").body["results"]
    told = index.why("harbour", str(first[2]["path"]), "rifflux", mode="lexical")  # type: ignore[index, call-overload]
    assert told.rank == 3
    assert told.reasons[0] == "it is result 3 of 10"
    assert told.changes == ()


@pytest.mark.parametrize("contract", ["quintet", "rifflux", "cfs", "mcb", "knowledge", "harness"])
def test_the_smallest_larger_page_is_named_and_true(index: Index, contract: str) -> None:
    told = index.why("harbour", "08.md", contract, limit=2)
    assert told.rank is None
    limits = {"cfs": "top_k", "rifflux": "top_k", "knowledge": "top_k", "harness": "final_limit", "mcb": "k"}
    change = next(one for one in told.changes if one["parameter"] == limits.get(contract, "limit"))
    wanted = change["to"]
    assert isinstance(wanted, int)
    assert index.why("harbour", "08.md", contract, limit=wanted).rank == change["rank"]
    assert index.why("harbour", "08.md", contract, limit=wanted - 1).rank is None


def test_a_leg_that_stops_too_early_is_told_with_its_cutoff(index: Index) -> None:
    told = index.why("harbour", "25.md", "cfs", mode="lexical", top_k=3)
    (lexical,) = told.standings
    assert lexical.rank is not None and lexical.rank > lexical.depth == 3
    assert lexical.cutoff is not None and lexical.score is not None and lexical.cutoff > lexical.score
    assert any("the leg returns 3, the last of them with score" in reason for reason in told.reasons)


def test_a_candidate_depth_can_be_the_smallest_change(index: Index) -> None:
    told = index.why("harbour", "12.md", "cfs", lexical_k=1, semantic_k=1, top_k=30)
    names = [change["parameter"] for change in told.changes]
    assert "lexical_k" in names or "semantic_k" in names
    first = told.changes[0]
    again = index.why(
        "harbour",
        "12.md",
        "cfs",
        **{**{"lexical_k": 1, "semantic_k": 1, "top_k": 30}, str(first["parameter"]): first["to"]},
    )
    assert again.rank == first["rank"]


def test_the_weight_nearest_to_the_given_one_is_named_also_to_zero(index: Index) -> None:
    told = index.why("note 7", "code.py", "harness", hybrid_alpha=0.0, final_limit=4)
    (change,) = [one for one in told.changes if one["parameter"] == "hybrid_alpha"]
    assert change["to"] == 0.1


def test_a_filter_that_removes_it_is_named_and_leaving_it_out_is_the_change(index: Index) -> None:
    told = index.why("harbour", "00.md", filters={"path": "*.py"})
    assert "the filter path:*.py leaves it out" in told.reasons
    assert any("lexical: rank" in reason for reason in told.reasons)
    assert [change["parameter"] for change in told.changes] == ["filters"]


def test_a_floor_that_removes_it_is_named(index: Index) -> None:
    told = index.why("harbour", "29.md", "cfs", mode="semantic", min_similarity=0.99, top_k=100)
    assert any("below min_similarity 0.99" in reason for reason in told.reasons)
    assert told.changes[0]["parameter"] == "min_similarity"


def test_what_no_word_of_the_query_is_in_says_so(index: Index) -> None:
    told = index.why("harbour", "far.md", mode="lexical", limit=50)
    assert any(reason.startswith("lexical: it does not match") for reason in told.reasons)
    assert [change["parameter"] for change in told.changes] in (["mode"], [])


def test_another_chunk_of_the_same_document_may_stand_for_it(index: Index, tmp_path: Path) -> None:
    long = "".join(f"## Part {part}\n\n{'harbour ' * part} {'filler ' * 250}\n\n" for part in range(1, 6))
    (tmp_path / "notes" / "long.md").write_text(long)
    index.sync()
    chunks = index.get("long.md")
    told = index.why("harbour", chunks[0].chunk.id, "harness", final_limit=50)
    assert told.rank is not None
    assert "shown by another of its chunks" in told.reasons[0]


def test_a_place_that_does_not_exist_is_not_found(index: Index) -> None:
    with pytest.raises(NotFound):
        index.why("harbour", "nowhere.md")


def test_the_freshness_floor_that_removes_it_is_named(index: Index, tmp_path: Path) -> None:
    changed = tmp_path / "notes" / "01.md"
    changed.write_text("# Note 1\n\nSomething else.\n")
    os.utime(changed, (1_000_000_000, 1_000_000_000))
    told = index.why("harbour", "01.md", "mcb", freshness_floor="Fresh")
    assert told.rank is None
    assert any("below the freshness floor Fresh" in reason for reason in told.reasons)
