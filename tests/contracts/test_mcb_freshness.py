"""Freshness in a search: what mcb makes of it, what the floor leaves, what every contract tells."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quintet
from contracts.fixed import codes, ladder, name_at, paths, results, write
from indexing.repository import Repository, needs_git, own_configuration, program
from quintet.contracts import CONTRACTS
from quintet.query import search

SECOND = 1_000_000_000
THEN_MS = 1_700_000_000_001


class Shelf:
    """An indexed folder, and a clock that stands still an hour after its files were written."""

    def __init__(self, place: Path, files: dict[str, str]) -> None:
        self.now = (THEN_MS + 3_600_000) * 1_000_000
        self.files = files
        self.folder = write(place / "shelf", files, dict.fromkeys(files, THEN_MS))
        self.index = quintet.open(place / "index", None, clock_ns=lambda: self.now, git_timeout=30)
        self.index.sync([self.folder])

    def change(self, name: str, seconds_ago: float = 60) -> None:
        """Write another text that would rank as the old one did."""
        when = self.now // 1_000_000 - int(seconds_ago * 1000)
        write(self.folder, {name: self.files[name] + " changed"}, {name: when})


@pytest.fixture
def shelves(tmp_path: Path) -> Iterator[Any]:
    made: list[Shelf] = []

    def make(files: dict[str, str]) -> Shelf:
        made.append(Shelf(tmp_path / str(len(made)), files))
        return made[-1]

    yield make
    for shelf in made:
        shelf.index.close()


def wire(response: quintet.Response) -> str:
    return json.dumps(response.wire())


@pytest.mark.requirement("002-T-FRESH-2")
@pytest.mark.requirement("002-S-FRESHNESS", "002-R-FRESHNESS", "002-R-PENALTY", "002-T-FRESH-1")
@pytest.mark.requirement("002-FRESH-CLASSES", "002-STEP-5", "002-FRESH-PENALTY", "002-FRESH-RESORT")
def test_a_changed_file_shows_its_class_and_loses_by_its_factor(shelves: Any) -> None:
    shelf = shelves(ladder(4))
    before = {item["node"]["path"]: item["score"] for item in results(shelf.index.search("word", "mcb"))}
    for name, seconds in (("f000.txt", 60), ("f001.txt", 10), ("f002.txt", 1)):
        shelf.change(name, seconds)
    (shelf.folder / "f003.txt").unlink()
    found = {item["node"]["path"]: item for item in results(shelf.index.search("word", "mcb"))}
    shown = {path: (item["freshness"], item["freshness_penalty"]) for path, item in found.items()}
    assert shown == {
        "f000.txt": ("Stale", 0.7),
        "f001.txt": ("Acceptable", 0.9),
        "f002.txt": ("Fresh", 1.0),
        "f003.txt": ("StaleWithRisk", 0.5),
    }
    for path, item in found.items():
        assert item["score"] == before[path] * item["freshness_penalty"]
    assert list(found) == ["f002.txt", "f001.txt", "f000.txt", "f003.txt"]


def test_freshness_is_looked_at_anew_on_every_search_and_mended_by_a_run(shelves: Any) -> None:
    shelf = shelves(ladder(3))
    first = wire(shelf.index.search("word", "mcb"))
    assert wire(shelf.index.search("word", "mcb")) == first
    shelf.change("f000.txt")
    stale = shelf.index.search("word", "mcb")
    assert results(stale)[-1]["freshness"] == "Stale" and codes(stale)[-1] == "index_stale"
    shelf.index.sync()
    mended = shelf.index.search("word", "mcb")
    assert {item["freshness"] for item in results(mended)} == {"Fresh"} and "index_stale" not in codes(mended)


@pytest.mark.requirement("002-FRESH-REFILL")
def test_what_the_floor_drops_is_filled_up_from_further_candidates(shelves: Any) -> None:
    shelf = shelves(ladder(40))
    for place in range(1, 18):
        shelf.change(name_at(place))
    response = shelf.index.search("word", "mcb", k=5, freshness_floor="Acceptable")
    assert paths(response) == [name_at(place) for place in range(18, 23)]
    assert codes(response) == ["embedder_missing"]


@pytest.mark.requirement("002-FRESH-REFILL")
def test_without_a_floor_nothing_is_fetched_further(shelves: Any) -> None:
    shelf = shelves(ladder(40))
    for place in range(1, 18):
        shelf.change(name_at(place))
    found = results(shelf.index.search("word", "mcb", k=5))
    assert {item["freshness"] for item in found} == {"Stale"}
    assert [item["bm25_rank"] for item in found] == [1 - place / 5 for place in range(5)]


@pytest.mark.requirement("002-FRESH-REFILL")
def test_the_search_for_fresh_results_is_bounded_and_says_so(
    shelves: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "REFILLS", 2)
    shelf = shelves(ladder(40))
    for place in range(1, 20):
        shelf.change(name_at(place))
    response = shelf.index.search("word", "mcb", k=5, freshness_floor="Fresh")
    assert paths(response) == [name_at(20)]
    assert response.notes[-1] == {
        "code": "below_floor",
        "message": "19 of 20 candidates lie below the freshness floor Fresh and were left out; "
        "1 of 5 results were found among the best 20 of each leg; run 'quintet index'",
    }


def test_a_floor_that_nothing_reaches_gives_nothing_and_says_why(shelves: Any) -> None:
    shelf = shelves(ladder(3))
    for name in shelf.files:
        shelf.change(name)
    response = shelf.index.search("word", "mcb", freshness_floor="Acceptable")
    assert results(response) == [] and response.status == "degraded"  # no embedder
    assert response.notes[-1]["message"] == (
        "3 of 3 candidates lie below the freshness floor Acceptable and were left out; "
        "0 of 20 results were found; run 'quintet index'"
    )


def test_a_floor_with_everything_above_it_changes_nothing(shelves: Any) -> None:
    shelf = shelves(ladder(5))
    plain = shelf.index.search("word", "mcb", k=9)
    assert wire(shelf.index.search("word", "mcb", k=9, freshness_floor="Fresh")) == wire(plain)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_contract_tells_of_results_from_changed_files(shelves: Any, contract: str) -> None:
    shelf = shelves({"a.txt": "word one", "b.txt": "word two", "c.txt": "word three"})
    mode = (
        {}
        if contract == "mcb"
        else {"mode": "lexical" if contract not in ("harness", "knowledge") else "keyword"}
    )
    asked = {"contract": contract, **mode}
    assert "index_stale" not in codes(shelf.index.search("word", **asked))
    shelf.change("b.txt")
    (shelf.folder / "c.txt").unlink()
    response = shelf.index.search("word", **asked)
    assert sorted(paths(response)) == ["a.txt", "b.txt", "c.txt"]
    first = next(path for path in paths(response) if path != "a.txt")
    assert response.notes[-1] == {
        "code": "index_stale",
        "message": f"2 of 3 results come from files that changed since they were indexed ({first}); "
        "run 'quintet index'",
    }


def test_a_changed_file_that_is_not_among_the_results_is_no_news(shelves: Any) -> None:
    shelf = shelves({"a.txt": "word", "b.txt": "other"})
    shelf.change("b.txt")
    assert codes(shelf.index.search("word", "rifflux", mode="lexical")) == []


@needs_git
@pytest.mark.skipif(os.name != "posix", reason="a script stands for git")
def test_only_a_contract_that_weighs_freshness_asks_git(
    shelves: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_configuration(tmp_path, monkeypatch)
    shelf = shelves(ladder(3))
    Repository(shelf.folder).commit()
    shelf.change("f001.txt", 1)
    found = results(shelf.index.search("word", "mcb"))
    assert {item["node"]["path"]: item["freshness"] for item in found}["f001.txt"] == "StaleWithRisk"
    program(tmp_path / "bin", "git", f"echo x >> {tmp_path}/asked; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    for contract in CONTRACTS.keys() - {"mcb", "knowledge"}:
        shelf.index.search("word", contract)
    assert not (tmp_path / "asked").exists()
    shelf.change("f000.txt")
    shelf.change("f001.txt")
    response = shelf.index.search("word", "mcb", k=1, freshness_floor="Acceptable")
    assert paths(response) == ["f002.txt"]
    assert codes(response).count("git_failed") == 1
    assert (tmp_path / "asked").read_text() == "x\n"


def test_an_index_without_any_file_on_disk_still_answers(shelves: Any, tmp_path: Path) -> None:
    shelf = shelves(ladder(3))
    here = shelf.index.search("word", "mcb")
    shutil.copytree(shelf.index.folder, tmp_path / "copied")
    shelf.folder.rename(tmp_path / "away")
    with quintet.open(tmp_path / "copied", None) as copied:
        there = copied.search("word", "mcb")
        plain = copied.search("word", "rifflux", mode="lexical")
    assert paths(there) == paths(here)
    assert {item["freshness"] for item in results(there)} == {"StaleWithRisk"}
    told = {
        "code": "index_stale",
        "message": (
            "3 of 3 results come from missing folders (root shelf); they show the text as it was indexed"
        ),
    }
    assert [note for note in there.notes if note["code"] == "index_stale"] == [told]
    assert plain.notes == [told]


def test_limits_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        quintet.UsageError, match="acceptable_seconds is 3; it must not be less than fresh_sec"
    ):
        quintet.open(tmp_path / "index", None, acceptable_seconds=3)


@settings(max_examples=15)
@given(
    texts=st.lists(st.sampled_from(["word", "word pad", "pad pad", "word word"]), min_size=1, max_size=6),
    floor=st.sampled_from(["Fresh", "Acceptable", "Stale", "StaleWithRisk"]),
    limit=st.integers(1, 8),
)
def test_with_nothing_changed_on_disk_freshness_does_not_show(
    texts: list[str], floor: str, limit: int
) -> None:
    """The answer is the one that a disk would give on which no file can change."""
    with TemporaryDirectory() as place:
        shelf = Shelf(Path(place), {f"f{at}.txt": text for at, text in enumerate(texts)})
        with shelf.index as index:
            found = index.search("word", "mcb", k=limit, freshness_floor=floor)
            for name, text in shelf.files.items():  # touched, but the same
                write(shelf.folder, {name: text}, {name: THEN_MS + 5})
            touched = index.search("word", "mcb", k=limit, freshness_floor=floor)
            index.sync()
            again = index.search("word", "mcb", k=limit, freshness_floor=floor)
    assert {item["freshness"] for item in results(found)} <= {"Fresh"}
    assert codes(found) == ["embedder_missing"]
    assert wire(found) == wire(touched) == wire(again)
