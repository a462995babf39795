"""Symbols and edges under edits: what stays, what goes, and what is left to be linked."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from quintet.model.symbols import Import, Mention, Outline, Symbol
from quintet.ports.writing import Entry
from quintet.storage.graph.codec import decoded, encoded
from storage.graph.material import ROOT, Graph, entry, outline


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    made = Graph(tmp_path / "index")
    yield made
    made.store.close()


def caller() -> Entry:
    return entry("caller.py", outline({"use": (1, 5)}))


def library(*names: str, start: int = 1) -> Entry:
    return entry(
        "lib.py", outline({name: (start + 10 * at, start + 10 * at + 5) for at, name in enumerate(names)})
    )


@pytest.fixture
def linked(graph: Graph) -> Graph:
    graph.put(caller(), library("f", "g"))
    graph.link(("caller.py:use", "calls", "lib.py:f"), ("caller.py:use", "calls", "lib.py:g"))
    return graph


def edges(graph: Graph) -> list[tuple[str, str]]:
    return [(graph.name(source), graph.name(target)) for source, target, *_ in graph.tables()["edges"]]


def test_an_outline_comes_back_as_it_went() -> None:
    whole = Outline(
        "typescript",
        (
            Symbol("module", (), 1, 9),
            Symbol("class", ("A",), 2, 4, 0, visibility="private", is_test=True),
            Symbol("function", ("f",), 8, 9, 0, above=3),
        ),
        (Import(0, 1, "./b", 1, "x", "y", True),),
        (Mention(1, "calls", ("a", "b"), 3, "type"),),
        "pkg",
        (("default", "A"),),
    )
    assert decoded(encoded(whole)) == whole
    shown = replace(whole, symbols=tuple(one._replace(docstring="said") for one in whole.symbols))
    assert encoded(shown) == encoded(whole)


def test_new_documents_wait_to_be_linked_and_linking_takes_the_marks_away(graph: Graph) -> None:
    graph.put(caller(), library("f"))
    with graph.store.writer(0) as writer:
        assert [(one.path, one.before, one.lost) for one in writer.graph.unlinked(ROOT)] == [
            ("caller.py", None, False),
            ("lib.py", None, False),
        ]
        assert writer.graph.unlinked("elsewhere") == []
    graph.link()
    assert graph.tables()["unlinked"] == []


def test_a_document_written_again_with_the_same_outline_needs_no_linking(linked: Graph) -> None:
    before = linked.tables()
    linked.put(library("f", "g"))
    assert linked.tables() == before


def test_an_edited_document_keeps_the_edges_to_what_it_still_defines(linked: Graph) -> None:
    linked.put(library("f", "g", start=3))
    assert set(edges(linked)) == {("caller.py:use", "lib.py:f"), ("caller.py:use", "lib.py:g")}
    with linked.store.writer(0) as writer:
        (change,) = writer.graph.unlinked(ROOT)
    assert (change.path, change.lost) == ("lib.py", False)
    assert change.before is not None and change.before.symbols[1].first_line == 1


def test_what_is_defined_no_more_loses_its_edges_and_the_mark_says_so(linked: Graph) -> None:
    linked.put(library("g"))
    assert edges(linked) == [("caller.py:use", "lib.py:g")]
    with linked.store.writer(0) as writer:
        (change,) = writer.graph.unlinked(ROOT)
    assert change.lost


def test_the_first_of_several_marks_tells_what_the_edges_were_made_of(linked: Graph) -> None:
    linked.put(library("g"))
    linked.put(library("h"))
    linked.remove("lib.py")
    linked.put(library("f", "g"))
    with linked.store.writer(0) as writer:
        (change,) = writer.graph.unlinked(ROOT)
    assert change.lost and change.before is not None
    assert [symbol.name for symbol in change.before.symbols] == ["", "f", "g"]


def test_a_removed_document_takes_its_symbols_and_edges_along(linked: Graph) -> None:
    linked.remove("lib.py")
    assert edges(linked) == []
    assert linked.nodes("f") == [] and len(linked.nodes("use")) == 1
    linked.remove("caller.py")
    assert linked.tables()["symbols"] == []


def test_a_dropped_root_leaves_nothing_behind(linked: Graph) -> None:
    with linked.store.writer(0) as writer, writer.batch():
        writer.drop_root(ROOT)
    assert linked.tables() == {"symbols": [], "edges": [], "unlinked": []}


def test_a_new_docstring_is_shown_and_nothing_is_linked_anew(linked: Graph) -> None:
    told = library("f", "g")
    assert told.outline is not None
    symbols = tuple(one._replace(docstring="said") for one in told.outline.symbols)
    linked.put(replace(told, outline=replace(told.outline, symbols=symbols)))
    assert linked.nodes("f")[0].docstring == "said"
    assert linked.tables()["unlinked"] == []


def test_an_edge_to_nowhere_is_refused(linked: Graph) -> None:
    linked.ids["lib.py:nobody"] = "0" * 32
    with pytest.raises(Exception, match="NOT NULL"):
        linked.link(("caller.py:use", "calls", "lib.py:nobody"))
    assert len(edges(linked)) == 2


def test_a_batch_that_fails_leaves_no_symbols(graph: Graph) -> None:
    with pytest.raises(RuntimeError), graph.store.writer(0) as writer, writer.batch():
        raise RuntimeError
    assert graph.tables()["symbols"] == []


def test_the_order_of_writing_does_not_show(graph: Graph, tmp_path: Path) -> None:
    other = Graph(tmp_path / "other")
    calls = (("caller.py:use", "calls", "lib.py:f"), ("caller.py:use", "calls", "lib.py:g"))
    graph.put(caller(), library("f", "g"))
    other.put(library("x"))
    other.put(library("g", "f"), caller())
    other.remove("caller.py")
    other.put(library("f", "g"))
    other.put(caller())
    for one in (graph, other):
        one.link(*calls)  # type: ignore[arg-type]
    assert other.tables() == graph.tables()
    assert other.expand(["caller.py:use"], "dependencies") == graph.expand(["caller.py:use"], "dependencies")
    other.store.close()


def test_equal_names_in_one_file_are_told_apart(graph: Graph) -> None:
    twice = Outline(
        "java", (Symbol("module", (), 1, 9), *(Symbol("method", ("m",), n, n, 0) for n in (2, 4)))
    )
    graph.put(entry("A.java", twice))
    assert [node.first_line for node in graph.nodes("m")] == [2, 4]


@pytest.mark.parametrize(
    ("path", "package", "expected"),
    (
        ("src/pkg/mod.py", "", "pkg.mod.f"),
        ("src/pkg/__init__.py", "", "pkg.f"),
        ("web/index.ts", "", "web.f"),
        ("__init__.py", "", "__init__.f"),
        ("src/main/java/A.java", "com.shop", "com.shop.f"),
        ("lib/A.php", "App\\Http", "App.Http.f"),
        ("Makefile", "", "Makefile.f"),
    ),
)
def test_a_qualified_name_is_what_the_language_would_call_it(
    graph: Graph, path: str, package: str, expected: str
) -> None:
    graph.put(entry(path, outline({"f": (1, 2)}, package=package)))
    assert [node.qualified_name for node in graph.nodes("f")] == [expected]


def test_prose_goes_by_its_path(graph: Graph) -> None:
    graph.put(entry("docs/guide.md", language=None))
    (node,) = graph.nodes("guide.md")
    assert (node.kind, node.qualified_name) == ("document", "docs/guide.md")


def test_an_index_of_the_first_schema_gets_its_graph_tables(tmp_path: Path) -> None:
    from quintet.ports.store_files import INDEX_FILE
    from quintet.storage.sqlite.migrations import APPLICATION_ID, MIGRATIONS

    (tmp_path / "index").mkdir()
    connection = apsw.Connection(str(tmp_path / "index" / INDEX_FILE))
    connection.execute(MIGRATIONS[0])
    connection.execute("INSERT INTO meta VALUES ('generation', '3')")
    connection.pragma("user_version", 1)
    connection.pragma("application_id", APPLICATION_ID)
    connection.close()
    graph = Graph(tmp_path / "index")
    graph.put(caller())
    assert len(graph.nodes("use")) == 1
    graph.store.close()
