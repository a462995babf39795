"""The code graph in SQLite: who is whose neighbour, in which order, and where each is shown."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from quintet.contracts.contract import Expansion
from quintet.model.filters import Condition, Filter
from storage.graph.material import Graph, entry, outline


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    made = Graph(tmp_path / "index")
    yield made
    made.store.close()


def functions(*names: str) -> dict[str, tuple[int, int]]:
    """One function every ten lines."""
    return {name: (10 * at + 1, 10 * at + 9) for at, name in enumerate(names)}


def pieces(count: int) -> list[tuple[int, int]]:
    return [(10 * at + 1, 10 * at + 9) for at in range(count)]


@pytest.fixture
def chain(graph: Graph) -> Graph:
    """main -> run -> read -> main: calls across three files, in a circle."""
    for name in ("main", "run", "read"):
        graph.put(entry(f"{name}.py", outline(functions(name)), pieces(1)))
    graph.link(
        ("main.py:main", "calls", "run.py:run"),
        ("run.py:run", "calls", "read.py:read"),
        ("read.py:read", "calls", "main.py:main"),
    )
    return graph


def test_an_empty_index_has_no_graph(graph: Graph) -> None:
    with graph.store.snapshot() as snapshot:
        assert not snapshot.graph.available
        assert snapshot.graph.expand(["nobody"], Expansion("related", 3), 10) == []
        assert snapshot.graph.important({}, 10) == ([], 0)


def test_prose_alone_is_no_graph_until_something_refers_to_something(graph: Graph) -> None:
    graph.put(entry("a.md", language=None), entry("b.md", language=None))
    with graph.store.snapshot() as snapshot:
        assert not snapshot.graph.available
    graph.link(("a.md", "references", "b.md"))
    with graph.store.snapshot() as snapshot:
        assert snapshot.graph.available
    assert graph.expand(["a.md#0"], "related") == [("b.md#0", 1)]


def test_callers_are_found_against_the_direction_of_calls(chain: Graph) -> None:
    assert chain.expand(["run.py:run"], "callers") == [("main.py#0", 1)]
    assert chain.expand(["run.py:run"], "dependencies") == [("read.py#0", 1)]


@pytest.mark.requirement("002-T-GRAPH-4")
def test_a_circle_ends_and_a_seed_is_not_its_own_neighbour(chain: Graph) -> None:
    assert chain.expand(["run.py:run"], "callers", 10) == [("main.py#0", 1), ("read.py#0", 2)]


def test_a_seed_may_be_the_neighbour_of_another(chain: Graph) -> None:
    found = chain.expand(["run.py:run", "read.py:read"], "callers", 10)
    assert found == [("main.py#0", 1), ("run.py#0", 1), ("read.py#0", 2)]


def test_dependencies_are_calls_imports_and_inheritance_but_no_references(graph: Graph) -> None:
    names = ("seed", "called", "imported", "extended", "implemented", "referred", "contained")
    graph.put(entry("a.py", outline(functions(*names)), pieces(7)))
    relations = ("calls", "imports", "extends", "implements", "references", "contains")
    pairs = zip(relations, names[1:], strict=True)
    graph.link(*(("a.py:seed", relation, f"a.py:{name}") for relation, name in pairs))
    assert [name for name, _ in graph.expand(["a.py:seed"], "dependencies")] == [
        f"a.py#{n}" for n in (1, 2, 3, 4)
    ]
    assert [name for name, _ in graph.expand(["a.py:seed"], "related")] == [f"a.py#{n}" for n in range(1, 7)]
    assert graph.expand(["a.py:contained"], "related") == [("a.py#0", 1)]


def test_guessed_edges_are_walked_only_when_asked_for(graph: Graph) -> None:
    graph.put(entry("a.py", outline(functions("f", "g", "h")), pieces(3)))
    graph.link(("a.py:f", "calls", "a.py:g", "possible", 3), ("a.py:f", "calls", "a.py:h", "likely", 4))
    assert graph.expand(["a.py:f"], "dependencies") == [("a.py#2", 1)]
    assert graph.expand(["a.py:f"], "dependencies", possible=True) == [("a.py#1", 1), ("a.py#2", 1)]


@pytest.mark.requirement("002-T-GRAPH-1", "002-T-GRAPH-5")
def test_the_order_is_distance_then_best_seed_then_path_then_line(graph: Graph) -> None:
    graph.put(
        entry("z.py", outline(functions("first", "second")), pieces(2)),
        entry("b.py", outline(functions("late", "later", "deep")), pieces(3)),
        entry("a.py", outline(functions("early")), pieces(1)),
    )
    graph.link(
        ("z.py:first", "calls", "b.py:later"),
        ("z.py:first", "calls", "b.py:late"),
        ("z.py:second", "calls", "a.py:early"),
        ("a.py:early", "calls", "b.py:deep"),
    )
    assert graph.expand(["z.py:first", "z.py:second"], "dependencies", 2) == [
        ("b.py#0", 1),
        ("b.py#1", 1),
        ("a.py#0", 1),
        ("b.py#2", 2),
    ]
    assert graph.expand(["z.py:second", "z.py:first"], "dependencies", 1) == [
        ("a.py#0", 1),
        ("b.py#0", 1),
        ("b.py#1", 1),
    ]


@pytest.mark.requirement("002-T-GRAPH-2")
def test_no_neighbour_is_farther_away_than_asked(graph: Graph) -> None:
    names = [f"f{at}" for at in range(9)]
    graph.put(entry("a.py", outline(functions(*names)), pieces(9)))
    graph.link(*((f"a.py:{one}", "calls", f"a.py:{two}") for one, two in pairwise(names)))
    for distance in (1, 2, 5):
        found = graph.expand(["a.py:f0"], "dependencies", distance)
        assert found == [(f"a.py#{at}", at) for at in range(1, distance + 1)]


@pytest.mark.requirement("002-T-GRAPH-3")
def test_a_distance_is_that_of_the_shortest_way_from_any_seed(graph: Graph) -> None:
    graph.put(entry("a.py", outline(functions("a", "b", "c", "d")), pieces(4)))
    graph.link(
        ("a.py:a", "calls", "a.py:b"),
        ("a.py:b", "calls", "a.py:c"),
        ("a.py:c", "calls", "a.py:d"),
        ("a.py:a", "calls", "a.py:d"),
    )
    assert graph.expand(["a.py:a"], "dependencies", 5) == [("a.py#1", 1), ("a.py#3", 1), ("a.py#2", 2)]
    assert graph.expand(["a.py:a", "a.py:c"], "dependencies", 5) == [
        ("a.py#1", 1),
        ("a.py#3", 1),
        ("a.py#2", 2),
    ]


def test_no_more_neighbours_come_than_wanted(chain: Graph) -> None:
    assert chain.expand(["run.py:run"], "related", 5, depth=1) == [("main.py#0", 1)]


def test_a_filter_holds_for_neighbours_and_not_for_what_lies_between(chain: Graph) -> None:
    with chain.store.snapshot() as snapshot:
        within = snapshot.catalog.select(Filter((Condition("path", "main.py"),)))
        nothing = snapshot.catalog.select(Filter((Condition("path", "nowhere"),)))
        seeds, expansion = [chain.ids["run.py:run"]], Expansion("dependencies", 5)
        found = snapshot.graph.expand(seeds, expansion, 10, within)
        assert [(chain.name(hit.chunk_id), hit.distance) for hit in found] == [("main.py#0", 2)]
        assert snapshot.graph.expand(seeds, expansion, 10, nothing) == []


def test_two_neighbours_in_one_chunk_are_one_hit(graph: Graph) -> None:
    graph.put(entry("a.py", outline(functions("f", "g", "h")), [(1, 9), (11, 29)]))
    graph.link(("a.py:f", "calls", "a.py:h"), ("a.py:f", "calls", "a.py:g"))
    assert graph.expand(["a.py:f"], "dependencies") == [("a.py#1", 1)]


def test_a_class_is_not_its_own_neighbour_through_a_method_shown_in_it(graph: Graph) -> None:
    small = {"Small": (1, 9), "Small.method": (3, 5), "user": (11, 19)}
    graph.put(entry("a.py", outline(small), pieces(2)))
    graph.link(("a.py:Small", "contains", "a.py:Small.method"), ("a.py:user", "calls", "a.py:Small.method"))
    assert graph.expand(["a.py:Small"], "related", 2) == [("a.py#1", 2)]


def test_a_class_calls_what_the_methods_that_its_chunk_shows_call(graph: Graph) -> None:
    both = {"Small": (1, 9), "Small.one": (3, 5), "Big": (11, 60), "Big.two": (20, 29), "f": (70, 79)}
    graph.put(entry("a.py", outline(both), [(1, 9), (11, 19), (20, 29), (70, 79)]))
    calls = [(f"a.py:{name}", "calls", "a.py:f") for name in ("Small.one", "Big.two")]
    graph.link(*calls)  # type: ignore[arg-type]
    assert graph.expand(["a.py:Small"], "dependencies") == [("a.py#3", 1)]
    assert graph.expand(["a.py:Big"], "dependencies") == []
    assert graph.expand(["a.py:f", "a.py:Small"], "callers") == [("a.py#0", 1), ("a.py#2", 1)]
    assert graph.expand(["a.py:Small"], "related") == []


def test_two_chunks_of_one_node_are_one_neighbour(graph: Graph) -> None:
    inside = {"f": (1, 9), "long": (11, 59), "long.a": (15, 20), "long.b": (40, 45), "g": (61, 70)}
    graph.put(entry("a.py", outline(inside), [(1, 9), (11, 30), (31, 59), (61, 70)]))
    graph.link(*[("a.py:f", "calls", f"a.py:{name}") for name in ("long.a", "long.b", "g")])
    assert graph.expand(["a.py:f"], "dependencies", depth=2) == [("a.py#1", 1), ("a.py#3", 1)]


def test_a_document_is_shown_where_it_names_what_led_to_it(graph: Graph) -> None:
    graph.put(
        entry("a.py", outline(functions("f")), pieces(1)),
        entry("guide.md", chunks=[(1, 4), (5, 9), (10, 20)], language=None),
    )
    graph.link(("guide.md", "references", "a.py:f", "exact", 7), ("a.py:f", "references", "guide.md"))
    assert graph.expand(["a.py:f"], "related") == [("guide.md#0", 1)]
    graph.link(("guide.md", "references", "a.py:f", "exact", 7))
    assert graph.expand(["a.py:f"], "related") == [("guide.md#1", 1)]
    assert graph.expand(["guide.md#2"], "related") == [("a.py#0", 1)]


def test_a_chunk_belongs_to_the_smallest_symbol_around_it(graph: Graph) -> None:
    inside = {"Big": (11, 60), "Big.one": (15, 20), "Big.two": (30, 50), "Big.two.inner": (35, 40)}
    cut = [(1, 9), (11, 14), (15, 20), (15, 25), (30, 33), (35, 40), (61, 70), (5, 30)]
    graph.put(entry("a.py", outline(inside), cut), entry("b.md", language=None))
    with graph.store.snapshot() as snapshot:
        ids = [graph.ids[f"a.py#{at}"] for at in range(len(cut))]
        facts = snapshot.catalog.facts([*ids, graph.ids["b.md#0"]])
    expected = ["", ":Big", ":Big.one", ":Big", ":Big.two", ":Big.two.inner", "", ""]
    assert [facts[one].node_id for one in ids] == [graph.ids["a.py" + name] for name in expected]
    assert facts[graph.ids["b.md#0"]].node_id == graph.ids["b.md#0"]


def test_what_stands_above_a_symbol_belongs_to_it(graph: Graph) -> None:
    found = outline({"one": (5, 9), "two": (15, 19), "two.inner": (17, 18)})
    above = [0, 3, 4, 0]
    symbols = tuple(one._replace(above=more) for one, more in zip(found.symbols, above, strict=True))
    cut = [(1, 1), (2, 9), (2, 3), (11, 14), (11, 16), (1, 9), (2, 12)]
    graph.put(entry("a.py", replace(found, symbols=symbols), cut))
    with graph.store.snapshot() as snapshot:
        ids = [graph.ids[f"a.py#{at}"] for at in range(len(cut))]
        facts = snapshot.catalog.facts(ids)
    expected = ["", ":one", ":one", ":two", ":two", "", ""]
    assert [facts[one].node_id for one in ids] == [graph.ids["a.py" + name] for name in expected]


def test_a_walk_tells_each_step_as_it_stands_in_the_source(chain: Graph) -> None:
    (near, far) = chain.walk("run.py:run", "callers", 5)
    assert [(one.node.qualified_name, one.distance) for one in (near, far)] == [
        ("main.main", 1),
        ("read.read", 2),
    ]
    steps = [(chain.name(step.source), step.relation, chain.name(step.target)) for step in far.steps]
    assert steps == [("main.py:main", "calls", "run.py:run"), ("read.py:read", "calls", "main.py:main")]


def test_a_walk_is_as_sure_as_its_weakest_step(graph: Graph) -> None:
    graph.put(entry("a.py", outline(functions("f", "g", "h")), pieces(3)))
    graph.link(
        ("a.py:f", "calls", "a.py:g", "possible", 3),
        ("a.py:f", "calls", "a.py:g", "likely", 5),
        ("a.py:g", "calls", "a.py:h", "exact", 12),
    )
    assert [one.confidence for one in graph.walk("a.py:f", "dependencies", 2, possible=True)] == [
        "likely"
    ] * 2
    assert [step.line for step in graph.walk("a.py:f", "dependencies", 2)[1].steps] == [5, 12]


def test_what_much_points_at_is_important_and_a_view_from_somewhere_changes_it(graph: Graph) -> None:
    graph.put(entry("a.py", outline(functions("hub", "leaf", "one", "two", "far")), pieces(5)))
    graph.link(
        *((f"a.py:{name}", "calls", "a.py:hub") for name in ("leaf", "one", "two")),
        ("a.py:far", "calls", "a.py:leaf"),
    )
    with graph.store.snapshot() as snapshot:
        (first, _), *_ = snapshot.graph.important({}, 10)[0]
        seen_from, total = snapshot.graph.important({graph.ids["a.py:far"]: 1.0}, 2)
        elsewhere = snapshot.graph.important({}, 10, documents=["nowhere"])
    assert first.name == "hub" and total == 6
    assert [node.name for node, _ in seen_from] == ["far", "leaf"]
    assert elsewhere == ([], 0)


def test_the_innermost_symbol_around_a_line_is_found_and_else_the_document(graph: Graph) -> None:
    graph.put(entry("a.py", outline({"C": (5, 20), "C.m": (8, 10)}), pieces(3)))
    with graph.store.snapshot() as snapshot:
        found = [snapshot.graph.at("code", "a.py", line, line) for line in (1, 5, 9, 500)]
        nowhere = snapshot.graph.at("code", "b.py", 1, 1)
    assert [node and node.qualified_name for node in found] == ["a", "a.C", "a.C.m", "a"]
    assert nowhere is None
