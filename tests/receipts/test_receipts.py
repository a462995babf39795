"""A receipt comes out the same wherever the same folder is asked the same, and says what is not the same."""

import copy
import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quintet
from quintet import Index, UsageError
from quintet.receipts.receipt import digest_of

TEXTS = {
    "guide/tides.md": "# Tides\n\nThe tide table lists high water for every harbour.\n",
    "guide/wind.md": "# Wind\n\nA gale warning is given for the harbour and the strait.\n",
    "notes/anchor.md": "# Anchors\n\nDrop the anchor in the lee of the harbour wall.\n",
    "notes/charts.md": "# Charts\n\nCharts show depth, wrecks and the tide stream.\n",
    "code/gauge.py": "def read_gauge(port):\n    '''High water at a harbour.'''\n    return port.level\n",
}
CONTRACTS = ("quintet", "rifflux", "harness", "mcb", "knowledge", "cfs")


def _written(folder: Path, order: list[str]) -> Path:
    for name in order:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TEXTS[name], "utf-8")
    return folder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return _written(tmp_path / "one" / "notes", list(TEXTS))


@pytest.fixture
def index(notes: Path, tmp_path: Path) -> Iterator[Index]:
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([f"notes={notes}"])
        yield index


def _receipt(index: Index, contract: str = "quintet", **params: object) -> dict[str, Any]:
    receipt: Any = index.receipts.search("harbour tide", contract, **params)[1]
    return json.loads(json.dumps(receipt))  # as it comes back from a file


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_receipt_of_an_unchanged_index_is_identical_when_replayed(index: Index, contract: str) -> None:
    assert index.receipts.verify(_receipt(index, contract)).identical


@pytest.mark.parametrize("contract", ["quintet", "rifflux", "mcb", "knowledge", "cfs"])
def test_the_same_folder_elsewhere_gives_the_same_digest(index: Index, tmp_path: Path, contract: str) -> None:
    order = list(TEXTS)
    random.Random(3).shuffle(order)
    copied = _written(tmp_path / "elsewhere" / "deep" / "copy", order)
    with quintet.open(tmp_path / "other", embedder="hashing", batch_files=1) as other:
        with pytest.raises(KeyboardInterrupt):
            other.sync([f"notes={copied}"], progress=_interrupt)
        other.sync()
        assert other.status().state_root == index.status().state_root
        assert _receipt(other, contract)["digest"] == _receipt(index, contract)["digest"]
        assert other.receipts.verify(_receipt(index, contract)).identical


def _interrupt(stage: str, done: int, total: int) -> None:
    if done == 2:
        raise KeyboardInterrupt


def test_one_changed_byte_is_named(index: Index, notes: Path) -> None:
    before = _receipt(index)
    file = notes / "notes" / "charts.md"
    file.write_text(file.read_text().replace("wrecks", "wracks"))
    index.sync()
    verdict = index.receipts.verify(before)
    assert not verdict.identical
    assert verdict.changed == ("notes/notes/charts.md",)
    assert "notes/notes/charts.md" in verdict.differences[0]


def test_one_changed_byte_is_named_by_an_index_that_never_saw_the_old_one(
    index: Index, notes: Path, tmp_path: Path
) -> None:
    before = _receipt(index)
    copied = shutil.copytree(notes, tmp_path / "two" / "notes")
    (copied / "guide" / "wind.md").write_text(TEXTS["guide/wind.md"].replace("gale", "gals"))
    with quintet.open(tmp_path / "other", embedder="hashing") as other:
        other.sync([f"notes={copied}"])
        assert other.receipts.verify(before).changed == ("notes/guide/wind.md",)


def test_added_and_removed_documents_are_named(index: Index, notes: Path) -> None:
    before = _receipt(index)
    (notes / "new.md").write_text("nothing of note\n")
    (notes / "notes" / "anchor.md").unlink()
    index.sync()
    assert set(index.receipts.verify(before).changed) == {"notes/new.md", "notes/notes/anchor.md"}


def test_more_changes_than_a_sketch_can_tell_are_named_by_the_index_itself(index: Index, notes: Path) -> None:
    before = _receipt(index)
    for number in range(200):
        (notes / f"{number:03}.md").write_text(f"note {number}\n")
    index.sync()
    verdict = index.receipts.verify(before)
    assert len(verdict.changed) == 20
    assert "and 180 more" in verdict.differences[0]


def test_the_first_result_that_differs_is_told(index: Index, notes: Path) -> None:
    before = _receipt(index)
    best = before["claim"]["results"][0]["path"]
    (notes / best).unlink()
    index.sync()
    verdict = index.receipts.verify(before)
    assert not verdict.same_results
    assert any(line.startswith("result 1: was " + best) for line in verdict.differences)


def test_a_change_elsewhere_leaves_the_results_the_same(index: Index, notes: Path) -> None:
    before = _receipt(index, "rifflux", mode="semantic", top_k=2)
    (notes / "far.md").write_text("zzz qqq\n")
    index.sync()
    verdict = index.receipts.verify(before)
    assert (verdict.identical, verdict.same_results) == (False, True)


def test_another_embedder_is_named(notes: Path, index: Index, tmp_path: Path) -> None:
    before = _receipt(index)
    with quintet.open(tmp_path / "other", embedder=None) as other:
        other.sync([f"notes={notes}"])
        differences = other.receipts.verify(before).differences
    assert differences[0].startswith("another embedder: embedder was 'hash-384', is 'none'")


def test_vectors_that_came_later_are_told_from_another_embedder(notes: Path, tmp_path: Path) -> None:
    for number in range(100):
        (notes / f"{number:03}.md").write_text(f"note {number}\n")
    with quintet.open(tmp_path / "late", embedder="hashing") as late:
        late.sync([f"notes={notes}"], embed=False)
        before = _receipt(late)
        late.embed()
        differences = late.receipts.verify(before).differences
    assert differences[0] == ("the index changed, but no text did: vectors were added or replaced")


def test_a_difference_that_no_document_made_is_put_down_to_the_rest(index: Index, notes: Path) -> None:
    before = _receipt(index, filters="after:2001-01-01")
    for name in TEXTS:
        os.utime(notes / name, (0, 0))
    index.sync()
    verdict = index.receipts.verify(before)
    assert not verdict.same_results and not verdict.changed
    assert "when their files were modified" in verdict.differences[0]


def test_what_may_differ_between_machines_is_not_under_the_digest(index: Index) -> None:
    receipt = _receipt(index, "harness")
    assert set(receipt["observed"]) == {"index_id", "generation", "now_ms", "bm25"}
    assert receipt["digest"] == digest_of(receipt["claim"])
    assert all("score" not in result for result in receipt["claim"]["results"])
    assert all("updated_ms" in result for result in receipt["claim"]["results"])
    for shown in receipt["observed"]["bm25"]:
        assert shown["bm25"] is None or float(f"{shown['bm25']:.12g}") == shown["bm25"]


def test_a_cached_answer_has_the_same_receipt(index: Index) -> None:
    first, second = _receipt(index), _receipt(index)
    assert index.status().cache.hits > 0
    assert first["digest"] == second["digest"]


def test_parameters_from_settings_are_part_of_the_claim(notes: Path, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "i", embedder="hashing", contracts={"rifflux": {"top_k": 2}}) as index:
        index.sync([notes])
        assert _receipt(index, "rifflux")["claim"]["params"] == {"top_k": 2}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda r: r["claim"].update(query="other"), "was changed after"),
        (lambda r: r["claim"]["results"].pop(), "was changed after"),
        (lambda r: r.update(digest="0" * 64), "was changed after"),
        (lambda r: r.update(receipt=2), "version 2 is unknown"),
        (lambda r: r.pop("claim"), "not a receipt"),
        (lambda r: r["claim"].update(params=[]), "its params is missing"),
        (lambda r: r["claim"].update(params={"query": "x"}), "not a parameter"),
    ],
)
def test_a_receipt_that_was_tampered_with_is_refused(index: Index, change: Any, says: str) -> None:
    receipt = copy.deepcopy(_receipt(index))
    change(receipt)
    with pytest.raises(UsageError, match=says):
        index.receipts.verify(receipt)


@pytest.mark.parametrize("change", [{"documents": ""}, {"stranger": 1}])
def test_a_forged_claim_is_never_silently_different(index: Index, change: dict[str, object]) -> None:
    receipt = _receipt(index)
    receipt["claim"].update(change)
    receipt["digest"] = digest_of(receipt["claim"])
    verdict = index.receipts.verify(receipt)
    assert not verdict.identical
    assert verdict.differences == ("the claim has fields that Quintet does not write",)


@pytest.mark.parametrize("generation", [-1, 2**70, "1", None])
def test_a_forged_history_names_no_documents(index: Index, generation: object) -> None:
    receipt = _receipt(index)
    receipt["claim"].update(state_root="0" * 64, documents="")
    receipt["digest"] = digest_of(receipt["claim"])
    receipt["observed"]["generation"] = generation
    assert index.receipts.verify(receipt).differences[0].endswith("too many documents to list")


def test_filters_written_in_the_query_are_replayed(index: Index) -> None:
    receipt = json.loads(json.dumps(index.receipts.search("harbour lang:python")[1]))
    assert receipt["claim"]["query"] == "harbour lang:python"
    assert [result["path"] for result in receipt["claim"]["results"]] == ["code/gauge.py"]
    assert index.receipts.verify(receipt).identical


@pytest.mark.parametrize("thing", [None, [], "x", {}, {"claim": {}, "receipt": 1}])
def test_what_is_no_receipt_is_refused(index: Index, thing: object) -> None:
    with pytest.raises(UsageError):
        index.receipts.verify(thing)


def test_what_was_forgotten_leaves_no_name_behind(index: Index) -> None:
    before = _receipt(index)
    index.forget("notes/anchor.md")
    (changed,) = index.receipts.verify(before).changed
    assert "anchor" not in changed


def test_a_graph_that_is_not_linked_yet_is_another_state(index: Index, notes: Path) -> None:
    before = _receipt(index)

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "graph":
            raise KeyboardInterrupt

    (notes / "code" / "more.py").write_text("def more():\n    return 1\n")
    with pytest.raises(KeyboardInterrupt):
        index.sync(progress=stop)
    differences = index.receipts.verify(before).differences
    assert any(line.startswith("another state of the code graph") for line in differences)
