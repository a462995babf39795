"""Spec 002's k counts code nodes: a function of many chunks takes one place of each leg."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import quintet
from contracts.conftest import Library
from contracts.fixed import codes, results
from quintet.contracts import CONTRACTS, read
from quintet.model.results import Hit
from quintet.query import legs as legs_module
from quintet.query.legs import Legs, run_legs
from quintet.storage.sqlite.store import SqliteStore

STEPS = "".join(f"    step_{number} = 'invoice number {number} invoice'\n" for number in range(600))
SMALL = {
    f"s{number:02}.py": f"def small_{number:02}():\n    return 'an invoice among {'other words ' * number}'\n"
    for number in range(30)
}
FILES = {"long.py": f"def everything():\n{STEPS}", **SMALL}
EMPTY = {"a.txt": "nothing"}


class LongFirst(dict[str, Any]):
    """Vectors by which every chunk of the long function is nearer to the query than anything else."""

    def get(self, text: str, default: Any = None) -> Any:
        return (1.0, 0.0) if text == "invoice" or "step_" in text else (1.0, 1.0)


@dataclass
class Asked:
    """A leg's index that writes down how deep it was asked."""

    index: Any
    depths: list[int] = field(default_factory=list)

    def search(self, query: Any, depth: int, *rest: Any) -> Sequence[Hit]:
        self.depths.append(depth)
        found: Sequence[Hit] = self.index.search(query, depth, *rest)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index, name)


@dataclass
class Parts:
    catalog: Any
    text: Any
    vectors: Any
    graph: Any


def depths(index: quintet.Index, contract: str, **params: Any) -> tuple[Legs, list[int], list[int]]:
    """What the legs brought, and how deep text and vectors were asked."""
    store = SqliteStore(index.folder)
    with store.snapshot() as snapshot:
        text, vectors = Asked(snapshot.text), Asked(snapshot.vectors)
        one = CONTRACTS[contract]
        plan = one.plan("invoice", read(contract, one.parameters, params, {}))
        parts: Any = Parts(snapshot.catalog, text, vectors, snapshot.graph)
        legs = run_legs(parts, index.embedder, plan, index.settings.max_terms)
    store.close()
    return legs, text.depths, vectors.depths


def names(response: quintet.Response) -> list[str]:
    return [item["node"]["name"] for item in results(response)]


@pytest.mark.requirement("002-Q-K")
@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("vectors", [None, LongFirst()])
def test_there_are_k_results_where_k_nodes_match(library: Library, vectors: Any, k: int) -> None:
    index = library(FILES, vectors)
    found = names(index.search("invoice", "mcb", k=k))
    assert len(found) == len(set(found)) == k
    assert "everything" in found


@pytest.mark.requirement("002-Q-K")
def test_a_node_has_the_place_it_has_among_all(library: Library) -> None:
    index = library(FILES)
    all_of_them = names(index.search("invoice", "mcb", k=1000))
    assert len(all_of_them) == 31
    for k in (1, 3, 7, 20):
        response = index.search("invoice", "mcb", k=k)
        assert names(response) == all_of_them[:k]
        assert [item["bm25_rank"] for item in results(response)] == [1 - place / k for place in range(k)]


def test_fewer_nodes_than_wanted_are_all_there_are(library: Library) -> None:
    response = library(FILES).search("invoice", "mcb", k=100)
    assert len(names(response)) == 31
    assert "few_nodes" not in codes(response)


def test_a_leg_goes_deeper_only_if_its_chunks_are_of_too_few_nodes(library: Library) -> None:
    common = library(SMALL, LongFirst())
    assert depths(common, "mcb", k=20)[1:] == ([20], [20])
    rare = library(FILES, LongFirst())
    assert depths(rare, "mcb", k=5)[1:] == ([5, 10, 20, 40], [5, 10, 20, 40])
    nothing = library(EMPTY, LongFirst())
    assert depths(nothing, "mcb", k=5)[1:] == ([5], [5])


@pytest.mark.parametrize("contract", sorted(CONTRACTS.keys() - {"mcb"}))
def test_a_contract_that_ranks_no_nodes_asks_each_leg_once(library: Library, contract: str) -> None:
    _, text, vectors = depths(library(FILES, LongFirst()), contract)
    assert max(len(text), len(vectors)) == 1


def test_a_leg_that_gives_up_says_so(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legs_module, "CHUNKS_PER_NODE", 2)
    monkeypatch.setattr(legs_module, "FEW_NODES", 1)
    index = library(FILES, LongFirst())
    legs, _, vectors = depths(index, "mcb", k=3)
    assert vectors == [3, 6]
    assert [note["message"] for note in legs.notes if note["code"] == "few_nodes"][-1] == (
        "semantic: the best 6 chunks belong to fewer than 3 code nodes"
    )


def test_a_leg_that_has_no_more_is_not_asked_again_for_the_floor(library: Library) -> None:
    index = library({"long.py": FILES["long.py"]})
    (index.folder.parent / "shelf" / "long.py").unlink()
    response = index.search("invoice", "mcb", k=2, freshness_floor="Fresh")
    assert results(response) == []
    (note,) = [note for note in response.notes if note["code"] == "below_floor"]
    assert "0 of 2 results were found; run" in note["message"]


def test_why_counts_the_chunks_that_the_nodes_took(library: Library) -> None:
    index = library(FILES)
    last = results(index.search("invoice", "mcb", k=5))[-1]["node"]
    told = index.why("invoice", last["path"], "mcb", k=5)
    (lexical,) = told.standings
    assert told.rank == 5 and lexical.within_depth
    assert lexical.rank == lexical.depth > 5
    missed = index.why("invoice", "s29.py", "mcb", k=5)
    assert missed.rank is None and not missed.standings[0].within_depth


def test_the_graph_brings_k_nodes_too(library: Library) -> None:
    helpers = "".join(f"    def part_{number}():\n        return wanted()\n\n" for number in range(400))
    callers = {
        f"c{number}.py": f"from a import wanted\n\n\ndef caller_{number}():\n    return wanted()\n"
        for number in range(3)
    }
    index = library(
        {
            "a.py": "def wanted():\n    return 'zebra'\n",
            "b.py": f"from a import wanted\n\n\ndef many():\n{helpers}    return wanted()\n",
            **callers,
        }
    )
    found = results(index.search("zebra", "mcb", k=5, graph_expansion={"callers": {"depth": 1}}))
    assert len({item["node"]["id"] for item in found}) == 5
