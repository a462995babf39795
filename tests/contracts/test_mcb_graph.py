"""Spec 002's third signal over real source files: where a walk starts and what it finds."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import quintet
from contracts.conftest import Library
from contracts.fixed import codes, paths, results
from quintet.contracts import mcb, read
from quintet.contracts.contract import Expansion
from quintet.model.results import Hit
from quintet.ports.reading import Catalog, CodeGraph, Rows, TextIndex, VectorIndex
from quintet.query.legs import run_legs
from quintet.storage.sqlite.store import SqliteStore

FILES = {
    "shop/billing.py": (
        "from shop.paper import sheet\n\n\ndef render_invoice(order):\n    return sheet(order)\n"
    ),
    "shop/paper.py": (
        "def sheet(thing):\n    return border(thing)\n\n\ndef border(thing):\n    return [thing]\n"
    ),
    "shop/checkout.py": (
        "from shop.billing import render_invoice as draw\n\n\ndef buy(order):\n    return draw(order)\n"
    ),
    "office/till.py": "from shop.checkout import buy\n\n\ndef ring():\n    return buy(1)\n",
    "office/loop.py": "def first():\n    return second()\n\n\ndef second():\n    return first()\n",
}
MOST = (1.0 + 0.8 + 0.6) / 60
NAMES = {"render_invoice", "sheet", "border", "ring", "first", "second"}


def found(response: quintet.Response) -> dict[str, int | None]:
    """By name what the graph found, with its distance."""
    return {
        item["node"]["name"]: item["provenance"]["distance_in_graph"]
        for item in results(response)
        if item["provenance"]["matched_graph_expansion"]
    }


@pytest.mark.requirement("002-GRAPH-CALLERS", "002-STEP-3")
def test_callers_up_to_a_depth_join_the_ranking(library: Library) -> None:
    index = library(FILES)
    near = found(index.search("invoice", "mcb", graph_expansion={"callers": {"depth": 1}}))
    far = found(index.search("invoice", "mcb", graph_expansion={"callers": {"depth": 2}}))
    assert near == {"buy": 1}
    assert far == {"buy": 1, "ring": 2}


@pytest.mark.requirement("002-GRAPH-DEPENDENCIES")
def test_dependencies_up_to_a_depth_join_the_ranking(library: Library) -> None:
    index = library(FILES)
    near = found(index.search("ring", "mcb", graph_expansion={"dependencies": {"depth": 1}}))
    far = found(index.search("ring", "mcb", graph_expansion={"dependencies": {"depth": 4}}))
    assert near == {"buy": 1}
    assert far == {"buy": 1, "render_invoice": 2, "sheet": 3, "border": 4}


@pytest.mark.requirement("002-GRAPH-RELATED")
def test_related_code_is_found_both_ways(library: Library) -> None:
    index = library(FILES)
    around = found(index.search("buy", "mcb", graph_expansion={"related": {"radius": 1}}))
    assert around["render_invoice"] == 1
    whole = found(index.search("buy", "mcb", graph_expansion={"related": {"radius": 10}}))
    assert {"ring", "render_invoice", "sheet", "border"} <= whole.keys()
    assert not {"first", "second"} & whole.keys()


@pytest.mark.requirement("002-GRAPH-RELATED", "002-T-GRAPH-4")
def test_a_circle_of_calls_ends(library: Library) -> None:
    index = library(FILES)
    response = index.search("first", "mcb", graph_expansion={"related": {"radius": 10}})
    assert found(response)["second"] == 1


def test_without_an_expansion_the_graph_takes_no_part(library: Library) -> None:
    index = library(FILES)
    for response in (index.search("invoice", "mcb"), index.search("invoice", "mcb", graph_expansion="none")):
        assert found(response) == {}
        assert {item["graph_rank"] for item in results(response)} == {0.0}


@pytest.mark.requirement("002-T-E2E-7")
@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("none", {}),
        ({"callers": {"depth": 1}}, {"ring": 1}),
        ({"dependencies": {"depth": 1}}, {"render_invoice": 1}),
        ({"dependencies": {"depth": 3}}, {"render_invoice": 1, "sheet": 2, "border": 3}),
        ({"related": {"radius": 1}}, {"ring": 1, "render_invoice": 1}),
        ({"related": {"radius": 2}}, {"ring": 1, "render_invoice": 1, "sheet": 2}),
    ],
)
def test_each_strategy_answers_with_its_neighbours_of_what_the_text_found(
    library: Library, strategy: Any, expected: dict[str, int]
) -> None:
    response = library(FILES).search('"def buy"', "mcb", graph_expansion=strategy)
    first, *others = results(response)
    assert first["node"]["name"] == "buy" and first["provenance"]["matched_bm25"]
    functions = {name: far for name, far in found(response).items() if name in NAMES}
    assert functions == expected
    assert {item["node"]["name"] for item in others} >= expected.keys()


@pytest.mark.requirement("002-S-GRAPH")
def test_at_the_default_k_two_full_lists_leave_no_place_for_what_the_graph_alone_found(
    library: Library,
) -> None:
    """0.6 / 60 of the first by the graph is less than 0.8 / 79 of the last by meaning."""
    chores = "".join(f"def chore_{number}():\n    return {number}\n\n\n" for number in range(30))
    index = library({**FILES, "office/chores.py": chores}, Meaning("invoice", "chore"))
    for k, seen in ((20, False), (30, True)):
        response = index.search("invoice", "mcb", k=k, graph_expansion={"callers": {"depth": 1}})
        assert ("buy" in found(response)) is seen


class Meaning(dict[str, Any]):
    """Vectors by what a text holds: those with the word lie where the query lies."""

    def __init__(self, query: str, word: str) -> None:
        self.query = query
        self.word = word

    def get(self, text: str, default: Any = None) -> Any:
        return (1.0, 0.0) if self.word in text or text == self.query else (0.0, 1.0)


@pytest.mark.requirement("002-S-GRAPH", "002-R-PROVENANCE", "002-R-DISTANCE")
def test_expansion_finds_code_that_neither_text_nor_vectors_find(library: Library) -> None:
    chores = "".join(f"def chore_{number}():\n    return {number}\n\n\n" for number in range(30))
    index = library({**FILES, "office/chores.py": chores}, Meaning("invoice", "chore"))
    plain = index.search("invoice", "mcb", k=30)
    assert "buy" not in [item["node"]["name"] for item in results(plain)]
    expanded = index.search("invoice", "mcb", k=30, graph_expansion={"callers": {"depth": 1}})
    (buy,) = [item for item in results(expanded) if item["node"]["name"] == "buy"]
    assert buy["provenance"] == {
        "matched_bm25": False,
        "matched_semantic": False,
        "matched_graph_expansion": True,
        "distance_in_graph": 1,
    }
    assert (buy["bm25_rank"], buy["semantic_rank"], buy["graph_rank"]) == (0.0, 0.0, 1.0)
    assert buy["node"]["path"] == "shop/checkout.py" and buy["node"]["kind"] == "function"


@pytest.mark.requirement("002-STEP-3")
def test_a_walk_starts_from_the_ten_best_nodes(library: Library) -> None:
    """Each function is shorter than the next, so its number is its place; each has a caller of its own."""
    files = {}
    for number in range(14):
        pads = "".join(f"    pad = {at}\n" for at in range(number))
        files[f"m{number:02d}.py"] = f"def f{number:02d}():\n    anchor = 1\n{pads}    return anchor\n"
        use = f"\n\ndef use{number:02d}():\n    return f{number:02d}()\n"
        files[f"u{number:02d}.py"] = f"from m{number:02d} import f{number:02d}\n{use}"
    response = library(files).search("anchor", "mcb", k=50, graph_expansion={"callers": {"depth": 1}})
    by_text = [item["node"]["name"] for item in results(response) if item["provenance"]["matched_bm25"]]
    assert by_text == [f"f{number:02d}" for number in range(14)]
    assert sorted(found(response)) == [f"use{number:02d}" for number in range(10)]


@pytest.mark.requirement("002-STEP-4", "002-WEIGHTS")
def test_a_node_of_the_graph_alone_weighs_six_tenths(library: Library) -> None:
    response = library(FILES).search("invoice", "mcb", graph_expansion={"callers": {"depth": 2}})
    scores = {item["node"]["name"]: item["score"] for item in results(response)}
    assert scores["buy"] == pytest.approx(0.6 / 60 / MOST)
    assert scores["ring"] == pytest.approx(0.6 / 61 / MOST)


@pytest.mark.requirement("002-SCOPE", "002-GRAPH-CALLERS")
def test_scope_and_filters_hold_on_the_graph_leg(library: Library) -> None:
    index = library(FILES)
    expansion = {"callers": {"depth": 3}}
    scoped = index.search("invoice", "mcb", graph_expansion=expansion, scope_filter={"package": "shop"})
    assert found(scoped) == {"buy": 1}
    filtered = index.search("invoice", "mcb", graph_expansion=expansion, filters={"path": "shop/**"})
    assert found(filtered) == {"buy": 1}
    nowhere = index.search(
        "invoice", "mcb", graph_expansion=expansion, scope_filter={"file": "shop/nothing.py"}
    )
    assert results(nowhere) == []


def test_a_guessed_edge_leads_nowhere(library: Library) -> None:
    guessed = {
        "a.py": "class Left:\n    def unmistakable(self):\n        return 1\n",
        "b.py": "class Right:\n    def unmistakable(self):\n        return 2\n",
        "c.py": "def anybody(thing):\n    return thing.unmistakable()\n",
    }
    index = library(guessed)
    response = index.search("anybody", "mcb", graph_expansion={"dependencies": {"depth": 1}})
    assert found(response) == {}
    assert {one.node.name for one in index.related("anybody", "dependencies", possible=True).neighbours} == {
        "unmistakable"
    }


SMALL_CLASSES = {
    "store.py": (
        "class Store:\n    def expire(self):\n        # zebra\n        return helper()\n\n\n"
        "def helper():\n    return Other().pop()\n\n\nclass Other:\n    def pop(self):\n        return 1\n"
    ),
    "user.py": "from store import Store\n\n\ndef nightly(box: Store):\n    return box.expire()\n",
}


@pytest.mark.requirement("002-GRAPH-CALLERS", "002-GRAPH-DEPENDENCIES")
def test_a_class_shown_whole_is_walked_from_by_its_methods(library: Library) -> None:
    index = library(SMALL_CLASSES)
    assert found(index.search("zebra", "mcb", graph_expansion={"callers": {"depth": 1}})) == {"nightly": 1}
    near = index.search("zebra", "mcb", graph_expansion={"dependencies": {"depth": 1}})
    assert found(near) == {"helper": 1}
    far = index.search("zebra", "mcb", graph_expansion={"dependencies": {"depth": 2}})
    assert found(far) == {"helper": 1, "Other": 2}


def test_prose_without_references_has_no_graph_and_a_note_says_so(library: Library) -> None:
    response = library({"a.txt": "a ttl"}).search("ttl", "mcb", graph_expansion={"related": {"radius": 1}})
    assert "graph_missing" in codes(response)


def test_the_chunks_of_one_function_are_one_node(library: Library) -> None:
    body = "".join(f"    step_{number} = 'invoice number {number}'\n" for number in range(200))
    index = library({"long.py": f"def everything():\n{body}"})
    assert len(results(index.search("invoice", "quintet"))) > 1
    (node,) = results(index.search("invoice", "mcb"))
    assert node["node"]["name"] == "everything"


@pytest.mark.requirement("002-T-GRAPH-5")
def test_the_order_of_indexing_does_not_show(tmp_path: Path) -> None:
    from contracts.fixed import write

    bodies = []
    for number, order in enumerate((sorted(FILES), sorted(FILES, reverse=True))):
        place = tmp_path / str(number)
        with quintet.open(place / "index", None) as index:
            for name in order:
                write(place / "shelf", {name: FILES[name]})
                index.sync([place / "shelf"])
            response = index.search("buy", "mcb", graph_expansion={"related": {"radius": 3}})
            bodies.append(response.body)
    assert bodies[0] == bodies[1]


@dataclass(frozen=True)
class Parts:
    """A snapshot put together from ports, whoever implements them."""

    catalog: Catalog
    text: TextIndex
    vectors: VectorIndex
    graph: CodeGraph


class OneNeighbour:
    """A graph port in which every seed leads to one chunk."""

    available = True

    def __init__(self, chunk_id: str) -> None:
        self.chunk_id = chunk_id
        self.asked: list[Any] = []

    def expand(self, seeds: Any, expansion: Expansion, depth: int, within: Rows | None = None) -> list[Hit]:
        self.asked.append((list(seeds), expansion, depth, within))
        return [Hit(self.chunk_id, 1.0, 1.0, 1)]


@pytest.mark.requirement("002-SERVICE", "002-STEP-3")
def test_the_search_is_one_service_over_three_ports_and_walks_from_the_best_of_two(library: Library) -> None:
    index = library(FILES, Meaning("render invoice", "def sheet"))
    store = SqliteStore(index.folder)
    with store.snapshot() as snapshot:
        (loop,) = snapshot.graph.named("second")
        graph: Any = OneNeighbour(loop.id)
        parts: Any = Parts(snapshot.catalog, snapshot.text, snapshot.vectors, graph)
        params = {"k": 1, "graph_expansion": {"related": {"radius": 2}}}
        plan = mcb.plan("render invoice", read("mcb", mcb.Params, params, {}))
        legs = run_legs(parts, index.embedder, plan, index.settings.max_terms)
        best = [snapshot.graph.named(name)[0].id for name in ("render_invoice", "sheet")]
    store.close()
    assert {signal: len(hits) for signal, hits in legs.hits.items()} == {
        "lexical": 1,
        "semantic": 1,
        "graph": 1,
    }
    assert graph.asked == [(best, Expansion("related", 2), 1, None)]


@pytest.mark.requirement("002-PORT-CLEAR")
def test_a_cleared_index_finds_nothing_and_can_be_filled_again(library: Library) -> None:
    index = library(FILES)
    before = index.search("invoice", "mcb", graph_expansion={"callers": {"depth": 2}})
    location = index.roots()[0].location
    assert index.clear() == len(FILES)
    after = index.search("invoice", "mcb", graph_expansion={"callers": {"depth": 2}})
    assert (paths(after), after.status) == ([], "empty_index")
    assert index.roots() == [] and all(check.ok for check in index.doctor())
    index.sync([location])
    again = index.search("invoice", "mcb", graph_expansion={"callers": {"depth": 2}})
    assert again.body == before.body
