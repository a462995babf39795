"""Spec 002 end to end: text and vectors over code; graph and measured freshness come with their own parts."""

from typing import Any

import pytest

from contracts.conftest import Library
from contracts.fixed import codes, ladder, name_at, paths, results, same_place_in_both
from quintet.contracts import Answer, mcb, read
from quintet.errors import UsageError
from quintet.model.documents import Chunk, Document, Passage
from quintet.model.results import Evidence, Ranked

FILES = {
    "app/users.py": "def getUserName(user):\n    return user.name\n",
    "app/cache/store.py": "class CacheStore:\n    def expire(self, ttl):\n        return ttl\n",
    "app/cache/__init__.py": "ttl = 300\n",
    "docs/guide.md": "# Cache\n\nHow a ttl works.\n",
}
PROSE = {
    "a.txt": "ttl ttl cache",
    "b.txt": "the ttl of a session and more words",
    "c.txt": "nothing of the kind",
}
VECTORS = {
    "ttl": (1.0, 0.0),
    PROSE["c.txt"]: (1.0, 0.1),
    PROSE["a.txt"]: (1.0, 1.0),
    PROSE["b.txt"]: (0.0, 1.0),
}
RESULT_KEYS = {
    "node",
    "matched_fields",
    "score",
    "bm25_rank",
    "semantic_rank",
    "graph_rank",
    "freshness",
    "freshness_penalty",
    "provenance",
}
NODE_KEYS = {"id", "kind", "name", "path", "start_line", "end_line", "content"}
MOST = (1.0 + 0.8 + 0.6) / 60


@pytest.mark.requirement("002-Q-TEXT", "002-Q-K", "002-T-E2E-1")
def test_a_search_by_text_returns_twenty_nodes_unless_told(library: Library) -> None:
    index = library(ladder(25))
    assert len(results(index.search("word", "mcb"))) == 20
    assert len(results(index.search("word", "mcb", k=3))) == 3
    body = index.search("word", "mcb", k=3).body
    assert set(body) == {"query", "k", "results"} and (body["query"], body["k"]) == ("word", 3)


@pytest.mark.requirement("002-R-NODE", "002-R-PROVENANCE", "002-R-FRESHNESS", "002-T-E2E-2")
def test_results_nodes_and_provenance_have_exactly_their_keys(library: Library) -> None:
    found = results(library(PROSE, VECTORS).search("ttl", "mcb"))
    assert [set(item) for item in found] == [RESULT_KEYS] * 3
    assert [set(item["node"]) for item in found] == [NODE_KEYS] * 3
    assert {item["freshness"] for item in found} == {"Fresh"}
    assert {item["freshness_penalty"] for item in found} == {1.0}
    for item in found:
        assert set(item["provenance"]) == {
            "matched_bm25",
            "matched_semantic",
            "matched_graph_expansion",
            "distance_in_graph",
        }


@pytest.mark.requirement("002-ARCH", "002-STEP-4", "002-R-SCORE", "002-T-E2E-3", "002-RRF-FORMULA")
def test_text_and_vectors_are_fused_by_weighted_rrf(library: Library) -> None:
    found = results(library(PROSE, VECTORS).search("ttl", "mcb"))
    expected = {
        "a.txt": (1.0 / 60 + 0.8 / 61) / MOST,
        "b.txt": (1.0 / 61 + 0.8 / 62) / MOST,
        "c.txt": (0.8 / 60) / MOST,
    }
    assert {item["node"]["path"]: item["score"] for item in found} == pytest.approx(expected)
    assert paths(library(PROSE, VECTORS).search("ttl", "mcb")) == ["a.txt", "b.txt", "c.txt"]


@pytest.mark.requirement("002-R-BM25-RANK", "002-R-SEMANTIC-RANK", "002-R-PROVENANCE", "002-T-E2E-4")
def test_ranks_are_shares_of_their_list_and_zero_when_absent(library: Library) -> None:
    found = {item["node"]["path"]: item for item in results(library(PROSE, VECTORS).search("ttl", "mcb"))}
    assert {path: item["bm25_rank"] for path, item in found.items()} == {
        "a.txt": 1 - 0 / 2,
        "b.txt": 1 - 1 / 2,
        "c.txt": 0.0,
    }
    assert {path: item["semantic_rank"] for path, item in found.items()} == {
        "c.txt": 1 - 0 / 3,
        "a.txt": 1 - 1 / 3,
        "b.txt": 1 - 2 / 3,
    }
    assert found["c.txt"]["provenance"] == {
        "matched_bm25": False,
        "matched_semantic": True,
        "matched_graph_expansion": False,
        "distance_in_graph": None,
    }
    assert {item["graph_rank"] for item in found.values()} == {0.0}


@pytest.mark.requirement("002-R-GRAPH-RANK", "002-R-DISTANCE", "002-R-PENALTY", "002-R-FRESHNESS")
def test_the_projection_shows_graph_evidence_and_freshness() -> None:
    document = Document("root", "m.py", "m", "text/x-python", "python", 1, 0, "hash")
    chunk = Chunk("c", document.id, 0, "def f(): ...", "", 4, 9, "function", "f")
    graph = Evidence(3, 4, 0.5, 0.5, 0.5, 0.6, 0.2, distance=2)
    answer = Answer(
        [Ranked("node", 0.1, "c", {"graph": graph}, 0.7)],
        {"c": Passage(chunk, document)},
        {},
        {"c": "Stale"},
        "none",
    )
    plan = mcb.plan("f", mcb.Params())
    body: Any = mcb.project(mcb.Params(), plan, answer)
    (item,) = body["results"]
    assert item["graph_rank"] == 1 - 2 / 4
    assert item["provenance"]["matched_graph_expansion"] is True
    assert item["provenance"]["distance_in_graph"] == 2
    assert (item["freshness"], item["freshness_penalty"]) == ("Stale", 0.7)
    assert item["node"] == {
        "id": "node",
        "kind": "function",
        "name": "f",
        "path": "m.py",
        "start_line": 4,
        "end_line": 9,
        "content": "def f(): ...",
    }


@pytest.mark.requirement("002-STEP-1", "002-STEP-2", "002-PORT-K")
@pytest.mark.parametrize(("place", "seen"), [(4, True), (5, False)])
def test_each_leg_brings_k_candidates(library: Library, place: int, seen: bool) -> None:
    index = library(*same_place_in_both(12, place))
    found = paths(index.search("word", "mcb", k=4))
    assert (found[0] == name_at(place)) is seen and (name_at(place) in found) is seen


@pytest.mark.requirement("002-Q-EMBEDDING", "002-T-SEM-1", "002-STEP-2")
def test_a_precomputed_embedding_takes_the_place_of_the_embedder(library: Library) -> None:
    index = library(PROSE, {**VECTORS, "ttl": OSError("must not be asked")})
    response = index.search("ttl", "mcb", embedding=[0.0, 5])
    semantic = {item["node"]["path"]: item["semantic_rank"] for item in results(response)}
    assert semantic == {"b.txt": 1 - 0 / 3, "a.txt": 1 - 1 / 3, "c.txt": 1 - 2 / 3}
    assert response.status == "ok"


@pytest.mark.requirement("002-Q-EMBEDDING", "002-T-SEM-2")
@pytest.mark.parametrize(
    "embedding", ([], "1,2", [True, False], [float("nan"), 1.0], [10**400, 1], {"a": 1}, [[1.0, 2.0]])
)
def test_an_embedding_that_is_no_list_of_numbers_is_refused(library: Library, embedding: object) -> None:
    with pytest.raises(UsageError, match=r"embedding is .*; it must be a list of finite numbers") as error:
        library(PROSE, VECTORS).search("ttl", "mcb", embedding=embedding)
    assert error.value.code == "invalid_parameter" and error.value.details == {"parameter": "embedding"}


@pytest.mark.requirement("002-Q-EMBEDDING", "002-T-SEM-3")
def test_an_embedding_of_another_length_is_refused(library: Library) -> None:
    with pytest.raises(UsageError, match="the query vector has 3 dimensions; this index has 2"):
        library(PROSE, VECTORS).search("ttl", "mcb", embedding=[1, 2, 3])


@pytest.mark.requirement("002-T-SEM-4", "002-STEP-2")
@pytest.mark.parametrize("vectors", (None, {"ttl": None}, {"ttl": OSError("down")}, {"ttl": (0.0, 0.0)}))
def test_without_a_query_embedding_the_leg_is_skipped(library: Library, vectors: Any) -> None:
    found = results(library(PROSE, vectors).search("ttl", "mcb"))
    assert [item["node"]["path"] for item in found] == ["a.txt", "b.txt"]
    assert [item["score"] for item in found] == [1.0 / 60 / MOST, 1.0 / 61 / MOST]
    assert {item["semantic_rank"] for item in found} == {0.0}


@pytest.mark.requirement("002-T-SEM-5")
def test_vectors_alone_find_what_no_word_matches(library: Library) -> None:
    found = results(library(PROSE, {**VECTORS, "expiry": (1.0, 0.0)}).search("expiry", "mcb"))
    assert [item["node"]["path"] for item in found] == ["c.txt", "a.txt", "b.txt"]
    assert {item["bm25_rank"] for item in found} == {0.0}


@pytest.mark.parametrize("query", ("user name", "getUserName", "username user", "get user"))
def test_the_parts_of_an_identifier_are_found(library: Library, query: str) -> None:
    assert paths(library(FILES).search(query, "mcb"))[0] == "app/users.py"


def test_identifier_parts_are_no_business_of_the_other_contracts(library: Library) -> None:
    index = library({"a.txt": "call getUserName now"})
    assert paths(index.search("user", "mcb")) == paths(index.search("user", "quintet")) == ["a.txt"]
    for contract in ("rifflux", "harness", "cfs"):
        assert paths(index.search("user", contract)) == []


@pytest.mark.parametrize("weights", ({"body": 1}, {"content": -1}, {"content": "x"}, [1], {"content": True}))
def test_field_weights_that_mean_nothing_are_refused(library: Library, weights: object) -> None:
    with pytest.raises(UsageError, match="weights of 0 or more to some of content, heading_path, title"):
        library(PROSE).search("ttl", "mcb", field_weights=weights)


@pytest.mark.requirement("002-Q-SCOPE", "002-STEP-6", "002-SCOPE", "002-T-E2E-5")
@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({"project": "shelf"}, set(FILES)),
        ({"project": "elsewhere"}, set()),
        ({"package": "app"}, {"app/users.py", "app/cache/store.py", "app/cache/__init__.py"}),
        ({"package": "app.cache"}, {"app/cache/store.py", "app/cache/__init__.py"}),
        ({"module": "app.cache.store"}, {"app/cache/store.py"}),
        ({"module": "app/cache"}, {"app/cache/__init__.py"}),
        ({"file": "docs/guide.md"}, {"docs/guide.md"}),
        ({"package": "app", "file": "docs/guide.md"}, set()),
        ({}, set(FILES)),
    ],
)
def test_scope_holds_on_every_leg(library: Library, scope: dict[str, str], expected: set[str]) -> None:
    text_only = library(FILES).search("ttl", "mcb", scope_filter=scope)
    assert set(paths(text_only)) == {path for path in expected if "ttl" in FILES[path]}
    found = results(library(FILES, {"ttl": (1.0, 0.0)}).search("ttl", "mcb", scope_filter=scope))
    assert {item["node"]["path"] for item in found} == expected
    assert all(item["semantic_rank"] > 0 for item in found)


@pytest.mark.requirement("002-SCOPE", "002-T-E2E-6")
def test_scope_applies_before_retrieval(library: Library) -> None:
    """The wanted file is last in both lists; filtered afterwards, a k of one could never reach it."""
    index = library(*same_place_in_both(12, 12))
    last = results(index.search("word", "mcb", k=1, scope_filter={"file": name_at(12)}))
    assert [item["node"]["path"] for item in last] == [name_at(12)]
    assert (last[0]["bm25_rank"], last[0]["semantic_rank"]) == (1.0, 1.0)


@pytest.mark.parametrize("scope", ("app", {"crate": "app"}, {"package": 3}, {"file": ""}))
def test_a_scope_that_means_nothing_is_refused(library: Library, scope: object) -> None:
    with pytest.raises(UsageError) as error:
        library(PROSE).search("ttl", "mcb", scope_filter=scope)
    assert error.value.code == "invalid_filter"


@pytest.mark.requirement("002-Q-GRAPH")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("none", None),
        (None, None),
        ({"callers": {"depth": 2}}, ("callers", 2)),
        ({"dependencies": {"depth": 1}}, ("dependencies", 1)),
        ({"related": {"radius": 10}}, ("related", 10)),
    ],
)
def test_each_graph_strategy_can_be_asked_for(given: Any, expected: Any) -> None:
    expansion = mcb.plan("q", read("mcb", mcb.Params, {"graph_expansion": given}, {})).expansion
    assert (expansion and (expansion.strategy, expansion.distance)) == expected


@pytest.mark.requirement("002-Q-GRAPH")
@pytest.mark.parametrize(
    "given",
    (
        "callers",
        {"callers": {"radius": 2}},
        {"callers": 2},
        {"related": {"radius": 0}},
        {"related": {"radius": 11}},
        {"related": {"radius": True}},
        {"friends": {"depth": 1}},
        {"callers": {"depth": 1}, "related": {"radius": 1}},
    ),
)
def test_a_graph_strategy_that_means_nothing_is_refused(library: Library, given: object) -> None:
    with pytest.raises(UsageError, match=r'graph_expansion is .*; it must be "none"') as error:
        library(PROSE).search("ttl", "mcb", graph_expansion=given)
    assert error.value.details == {"parameter": "graph_expansion"}


@pytest.mark.requirement("002-Q-FLOOR")
def test_a_freshness_floor_of_an_unknown_class_is_refused(library: Library) -> None:
    with pytest.raises(UsageError, match="one of Fresh, Acceptable, Stale, StaleWithRisk"):
        library(PROSE).search("ttl", "mcb", freshness_floor="Mouldy")
    assert mcb.Params().freshness_floor == "StaleWithRisk"


def test_mcb_has_no_modes(library: Library) -> None:
    with pytest.raises(UsageError, match="contract mcb has no modes; leave 'mode' out"):
        library(PROSE).search("ttl", "mcb", mode="hybrid")


@pytest.mark.requirement("002-T-E2E-10")
def test_a_node_names_its_lines_and_itself(library: Library) -> None:
    found = results(library(FILES).search("expire", "mcb"))
    node = found[0]["node"]
    assert node["path"] == "app/cache/store.py" and "def expire" in node["content"]
    assert 1 <= node["start_line"] <= 2 and node["end_line"] == 3
    assert node["name"]


@pytest.mark.requirement("002-PORT-ERRORS")
def test_a_query_that_the_text_index_cannot_read_is_a_usage_error(library: Library) -> None:
    with pytest.raises(UsageError) as error:
        library(PROSE).search("ttl AND (", "mcb", syntax="fts5")
    assert error.value.code == "bad_query"


def test_notes_tell_what_is_not_there_yet(library: Library) -> None:
    response = library(PROSE).search("ttl", "mcb")
    assert "embedder_missing" in codes(response) and response.status == "degraded"
