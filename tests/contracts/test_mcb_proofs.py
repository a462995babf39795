"""Spec 002 taken at its word: names of nodes, queries of any kind, floor and scope, failing text indexes."""

from pathlib import Path
from typing import Any

import apsw
import pytest

import quintet
from contracts.conftest import Library
from contracts.fixed import ladder, name_at, paths, results, write
from quintet.errors import StoreError

LABELS = "".join(
    f"    all[{number}] = 'a label of some length for number {number}'\n" for number in range(12)
)
CODE = {
    "app/users.py": "def getUserName(user):\n    return user.name\n",
    "app/store.py": (
        f"class Store:\n    def fill(self, all):\n{LABELS}\n    def expire(self, ttl):\n        return ttl\n"
    ),
    "docs/guide.md": "# Cache\n\n## Lifetime\n\nHow long an entry lasts.\n",
    "notes.txt": "an old reminder\n",
}
LANGUAGES = {
    "german.md": "# Speicher\n\nDie Größe des Zwischenspeichers läuft über.\n",
    "russian.txt": "Кэш хранит ответы пять минут.",
    "japanese.txt": "全文検索エンジンの仕組みを説明する。",
    "korean.txt": "검색 엔진은 결과를 저장한다.",
    "arabic.txt": "يحفظ المخزن الإجابات.",
    "queue.rs": "pub fn drain(queue: &mut Vec<u8>) -> usize {\n    queue.drain(..).count()\n}\n",
    "pool.ts": "export const acquire = async (pool: Pool) => {\n  return await pool.take();\n};\n",
}


@pytest.mark.requirement("002-T-E2E-10")
@pytest.mark.parametrize(
    ("query", "path", "kind", "name", "lines"),
    [
        ("getUserName", "app/users.py", "function", "getUserName", (1, 2)),
        ("expire ttl", "app/store.py", "method", "expire", (16, 17)),
        ("lasts", "docs/guide.md", "text", "Cache > Lifetime", (1, 5)),
        ("reminder", "notes.txt", "text", "notes", (1, 1)),
    ],
)
def test_a_node_is_called_what_its_code_its_heading_or_its_file_is_called(
    library: Library, query: str, path: str, kind: str, name: str, lines: tuple[int, int]
) -> None:
    node = results(library(CODE).search(query, "mcb"))[0]["node"]
    assert (node["path"], node["kind"], node["name"]) == (path, kind, name)
    assert (node["start_line"], node["end_line"]) == lines
    shown = CODE[path].splitlines()[lines[0] - 1 : lines[1]]
    assert [line.strip() for line in node["content"].splitlines()] == [line.strip() for line in shown]


@pytest.mark.requirement("002-Q-TEXT", "002-T-E2E-9")
@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Warum läuft die Größe des Zwischenspeichers über?", "german.md"),
        ("сколько хранит ответы", "russian.txt"),
        ("検索エンジン", "japanese.txt"),
        ("결과를 저장한다", "korean.txt"),
        ("الإجابات", "arabic.txt"),
        ("queue.drain(..).count()", "queue.rs"),
        ("const acquire = async (pool: Pool) => {\n  return await pool.take();", "pool.ts"),
    ],
)
def test_a_query_may_be_prose_of_any_language_or_a_piece_of_code(
    library: Library, query: str, path: str
) -> None:
    response = library(LANGUAGES).search(query, "mcb")
    assert response.body["query"] == query
    assert paths(response)[0] == path
    assert results(response)[0]["provenance"]["matched_bm25"] is True


@pytest.mark.requirement("002-STEP-6", "002-FRESH-FLOOR", "002-Q-FLOOR", "002-T-E2E-8")
def test_scope_and_floor_hold_before_the_best_k_are_cut_off(tmp_path: Path) -> None:
    """The best three of each folder are gone from the disk; the first page is to hold what comes after."""
    files = {f"{folder}/{name}": text for folder in ("one", "two") for name, text in ladder(8).items()}
    shelf = write(tmp_path / "shelf", files)
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([shelf])
        for folder in ("one", "two"):
            for place in (1, 2, 3):
                (shelf / folder / name_at(place)).unlink()
        asked: dict[str, Any] = {"contract": "mcb", "k": 2, "scope_filter": {"package": "two"}}
        anything = index.search("word", **asked)
        fresh = index.search("word", **asked, freshness_floor="Fresh")
    assert paths(anything) == [f"two/{name_at(1)}", f"two/{name_at(2)}"]
    assert {item["freshness"] for item in results(anything)} == {"StaleWithRisk"}
    assert paths(fresh) == [f"two/{name_at(4)}", f"two/{name_at(5)}"]


def _damage(folder: Path, statement: str) -> None:
    connection = apsw.Connection(str(folder / "index.db"))
    connection.execute(statement)
    connection.close()


@pytest.mark.requirement("002-PORT-ERRORS")
@pytest.mark.parametrize("asked", ({"query": '"getUserName"'}, {"query": "user", "syntax": "fts5"}))
def test_a_damaged_text_index_is_a_store_error_that_says_what_to_do(
    library: Library, asked: dict[str, Any]
) -> None:
    index = library(CODE)
    index.close()
    _damage(index.folder, "UPDATE text_data SET block = zeroblob(8) WHERE id > 10")
    with (
        quintet.open(index.folder, embedder=None) as damaged,
        pytest.raises(StoreError, match=r"is damaged .*run 'quintet index' to build a new one"),
    ):
        damaged.search(contract="mcb", **asked)


@pytest.mark.requirement("002-PORT-ERRORS")
def test_a_text_index_that_takes_no_more_documents_is_a_store_error(library: Library) -> None:
    index = library(CODE)
    (root,) = index.status().roots
    index.close()
    _damage(index.folder, "DROP TABLE text")
    (Path(root.location) / "notes.txt").write_text("a new and longer reminder\n", "utf-8")
    with quintet.open(index.folder, embedder=None) as damaged, pytest.raises(StoreError):
        damaged.sync()


@pytest.mark.requirement("002-PORT-TANTIVY")
def test_tantivy_answers_mcb_where_it_is_the_text_index(tmp_path: Path) -> None:
    """FTS5's own table is spoilt, so that whoever still answers did not ask it."""
    shelf = write(tmp_path / "shelf", CODE)
    found: dict[str, Any] = {}
    for name in ("fts5", "tantivy"):
        with quintet.open(tmp_path / name, embedder=None, text_index=name) as index:
            index.sync([shelf])
            found[name] = index.search('"return ttl" Lifetime', "mcb").wire()
        _damage(tmp_path / name, "UPDATE text_data SET block = zeroblob(8) WHERE id > 10")
    with quintet.open(tmp_path / "tantivy", embedder=None, text_index="tantivy") as index:
        again = index.search('"return ttl" Lifetime', "mcb")
    assert again.wire() == found["tantivy"]
    assert sorted(paths(again)) == ["app/store.py", "docs/guide.md"]
    by_fts5 = {item["node"]["id"] for item in found["fts5"]["results"]}
    assert by_fts5 == {item["node"]["id"] for item in results(again)}
    with quintet.open(tmp_path / "fts5", embedder=None) as index, pytest.raises(StoreError):
        index.search('"return ttl" Lifetime', "mcb")


@pytest.mark.requirement("002-ARCH", "002-R-PROVENANCE", "002-R-BM25-RANK", "002-R-SEMANTIC-RANK")
@pytest.mark.requirement("002-R-GRAPH-RANK", "002-STEP-3")
def test_three_signals_make_one_ranking_in_which_each_result_says_who_found_it(library: Library) -> None:
    files = {
        "shop/billing.py": "def invoice(order):\n    return order\n",
        "shop/checkout.py": "import shop.billing as b\n\n\ndef buy(order):\n    return b.invoice(order)\n",
        "office/till.py": "from shop.checkout import buy\n\n\ndef ring():\n    return buy(1)\n",
    }
    index = library(files, {"invoice": (1.0, 0.0)})
    found = results(index.search("invoice", "mcb", graph_expansion={"callers": {"depth": 2}}))
    seen = {
        item["node"]["name"]: (
            item["provenance"]["matched_bm25"],
            item["provenance"]["matched_semantic"],
            item["provenance"]["distance_in_graph"],
        )
        for item in found
    }
    assert seen["invoice"] == (True, True, None)
    assert (seen["buy"], seen["ring"]) == ((True, True, 1), (False, True, 1))  # buy is a seed as well
    weights = {"bm25": 1.0, "semantic": 0.8, "graph": 0.6}
    of = {name: sum(item[f"{name}_rank"] > 0 for item in found) for name in weights}
    for item in found:
        places = {name: (1 - item[f"{name}_rank"]) * of[name] for name in weights if item[f"{name}_rank"]}
        fused = sum(weights[name] / (60 + place) for name, place in places.items())
        assert item["score"] == pytest.approx(fused / (sum(weights.values()) / 60))
    assert [item["score"] for item in found] == sorted((item["score"] for item in found), reverse=True)


@pytest.mark.parametrize(
    ("query", "path"), [("user", "camel.txt"), ("name user", "camel.txt"), ("server", "acronym.txt")]
)
def test_a_part_is_found_where_nothing_but_the_whole_identifier_stands(
    library: Library, query: str, path: str
) -> None:
    index = library({"camel.txt": "call getUserName now", "acronym.txt": "an HTTPServer too"})
    assert paths(index.search(query, "mcb")) == [path]
    assert paths(index.search(query, "rifflux", mode="lexical")) == []
