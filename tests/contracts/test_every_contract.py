"""What holds for every contract: parameters, limits, query text, filters, states of the index."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import quintet
from contracts.conftest import Library
from contracts.fixed import codes, path_of, paths, results, same_place_in_both, write
from quintet.contracts import CONTRACTS, HOUSE, contract_named, read
from quintet.contracts.harness import iso_utc
from quintet.errors import UsageError
from quintet.filters.fields import TIME
from quintet.model import parameters
from quintet.model.filters import Condition, Filter

FILES = {
    "one.txt": "local-first C++ don't panic",
    "two.txt": "全文検索エンジンの話",
    "three.txt": "plain words foo.bar",
}
NAMES = tuple(CONTRACTS)
LEXICAL = {"knowledge": {"search_method": "keyword"}}  # its default needs an embedder


def _search(index: quintet.Index, contract: str, query: str, **given: Any) -> quintet.Response:
    return index.search(query, contract, **{**LEXICAL.get(contract, {}), **given})


def test_the_house_contract_is_the_default(library: Library) -> None:
    index = library(FILES)
    assert HOUSE == "quintet" and index.search("plain").body == index.search("plain", "quintet").body


@pytest.mark.parametrize("name", ("rifluxx", None, 7))
def test_an_unknown_contract_is_refused(library: Library, name: Any) -> None:
    with pytest.raises(UsageError) as error:
        library(FILES).search("plain", name)
    assert error.value.code == "unknown_contract"
    expected = f"there is no contract {name!r}; there are: quintet, rifflux, harness, mcb, knowledge, cfs"
    assert error.value.message == expected


@pytest.mark.parametrize("contract", NAMES)
@pytest.mark.parametrize("limit", (True, 0, -1, 1001, 10**9, 2.0, "5", None))
def test_a_limit_is_a_whole_number_from_1_to_1000(library: Library, contract: str, limit: object) -> None:
    name = CONTRACTS[contract].limit
    with pytest.raises(UsageError) as error:
        _search(library(FILES), contract, "plain", **{name: limit})
    assert error.value.code == ("invalid_top_k" if contract == "knowledge" else "invalid_parameter")
    assert error.value.details == {"parameter": name}
    assert error.value.message.startswith(f"{name} is ")
    assert error.value.message.endswith("; it must be a whole number from 1 to 1000")


@pytest.mark.parametrize("contract", NAMES)
def test_an_unknown_parameter_is_refused_with_a_hint(library: Library, contract: str) -> None:
    name = CONTRACTS[contract].limit
    index = library(FILES)
    with pytest.raises(UsageError) as error:
        index.search("plain", contract, **{"filtres": {}})
    assert error.value.message == f"contract {contract} has no parameter 'filtres'; did you mean 'filters'?"
    with pytest.raises(UsageError, match=f"has no parameter 'zzz'; it takes: .*{name}"):
        index.search("plain", contract, zzz=1)


@pytest.mark.parametrize("contract", [name for name in NAMES if CONTRACTS[name].mode])
def test_an_unknown_mode_is_refused(library: Library, contract: str) -> None:
    own = CONTRACTS[contract].mode
    with pytest.raises(UsageError, match=f"^{own} is 'fuzzy'; it must be one of ") as error:
        library(FILES).search("plain", contract, mode="fuzzy")
    assert error.value.details == {"parameter": own}


@pytest.mark.parametrize("contract", NAMES)
def test_limit_is_understood_by_every_contract_but_not_twice(library: Library, contract: str) -> None:
    index = library({f"{number}.txt": "word" for number in range(4)})
    assert len(paths(_search(index, contract, "word", limit=2))) == 2
    own = CONTRACTS[contract].limit
    if own != "limit":
        with pytest.raises(UsageError, match=f"{own} was given twice"):
            _search(index, contract, "word", limit=2, **{own: 2})


@pytest.mark.parametrize("contract", [name for name in NAMES if name != "knowledge"])
def test_an_unknown_filter_is_refused_with_a_hint(library: Library, contract: str) -> None:
    index = library(FILES)
    wrong, right = "paht", "path"
    with pytest.raises(UsageError) as error:
        _search(index, contract, "plain", filters={wrong: "x"})
    assert error.value.code == "invalid_filter"
    assert error.value.message == f"unknown filter {wrong!r}; did you mean {right!r}?"
    with pytest.raises(UsageError, match="unknown filter 'zzz'; the filters are: "):
        _search(index, contract, "plain", filters={"zzz": "x"})


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"path": 3}, "filter path is 3; it must be text that is not empty"),
        ({"after": "now"}, f"filter after is 'now'; it must be {TIME}"),
        ({"after": True}, f"filter after is True; it must be {TIME}"),
        ({"before": 10**400}, f"filter before is {str(10**400)[:77]}...; it must be {TIME}"),
        ({"path": ""}, "filter path is ''; it must be text that is not empty"),
        ({"path": "\ud800"}, "filter path is '\\ud800'; it must be text without NUL or lone surrogates"),
        (
            ["docs/**"],
            "filters is ['docs/**']; it must be an object such as {'path': 'docs/**'}, or text such as "
            "'path:docs/**'",
        ),
    ],
)
def test_a_filter_value_of_the_wrong_kind_is_refused(library: Library, filters: object, message: str) -> None:
    with pytest.raises(UsageError) as error:
        library(FILES).search("plain", "rifflux", filters=filters)
    assert (error.value.code, error.value.message) == ("invalid_filter", message)


@pytest.mark.parametrize("contract", [name for name in NAMES if name != "knowledge"])
def test_filters_apply_before_retrieval_on_both_legs(library: Library, contract: str) -> None:
    index = library(*same_place_in_both(60, 60))
    response = index.search("word", contract, limit=1, filters={"path": "f059.txt"})
    assert paths(response) == ["f059.txt"]
    hybrid = results(response)[0]
    both = {
        "quintet": lambda: set(hybrid["signals"]) == {"lexical", "semantic"},
        "rifflux": lambda: hybrid["score_breakdown"]["rrf"] == 1 / 61 + 1 / 61,
        "harness": lambda: hybrid["doc_score"] == (1 - 0.6) * 1.0 + 0.6 * 1.0,
        "mcb": lambda: (hybrid["bm25_rank"], hybrid["semantic_rank"]) == (1.0, 1.0),
        "cfs": lambda: hybrid["score"] == 1 / 61 + 1 / 61,
    }
    assert both[contract]()


@pytest.mark.parametrize("contract", NAMES)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("C++", ["one.txt"]),
        ("local-first", ["one.txt"]),
        ("don't", ["one.txt"]),
        ("what is foo.bar?", ["three.txt"]),
        ("plain AND", ["three.txt"]),
        ('"panic', ["one.txt"]),
        ("NEAR( plain", ["three.txt"]),
        ("plain*", ["three.txt"]),
        ("検索", ["two.txt"]),
        ("文検", ["two.txt"]),
        ("話", ["two.txt"]),
        ("検索🙂", ["two.txt"]),
        ("🙂", []),
        ("plain\0words", ["three.txt"]),
    ],
)
def test_whatever_a_person_types_is_safe(
    library: Library, contract: str, query: str, expected: list[str]
) -> None:
    response = _search(library(FILES), contract, query)
    assert paths(response) == expected


@pytest.mark.parametrize("contract", NAMES)
def test_a_column_of_fts5_is_a_word_of_the_query_like_any_other(library: Library, contract: str) -> None:
    found = paths(_search(library(FILES), contract, "content:plain"))
    # As a phrase it stands nowhere; the house ranking looks for any word of it.
    assert found == (["three.txt"] if contract == "quintet" else [])


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[quintet.Index]:
    place = tmp_path_factory.mktemp("shelf")
    with quintet.open(place / "index", embedder="hashing") as index:
        index.sync([write(place / "shelf", FILES)])
        yield index


@settings(max_examples=60, deadline=None)
@given(
    query=st.text(min_size=1, max_size=40) | st.text('"*()-+^:{}ANDORNTE abc検索\0', min_size=1, max_size=25)
)
def test_no_text_raises_or_loses_a_leg(shelf: quintet.Index, query: str) -> None:
    assume(query.replace("\0", " ").strip())
    for contract in NAMES:
        mode = {"search_method": "hybrid"} if contract == "knowledge" else {}
        response = shelf.search(query, contract, **mode)
        assert response.status == "ok"
        json.dumps(response.wire(), ensure_ascii=False).encode()


@pytest.mark.parametrize("contract", NAMES)
def test_a_query_without_searchable_terms_is_told(library: Library, contract: str) -> None:
    response = _search(library(FILES), contract, "?!")
    assert paths(response) == [] and "no_searchable_terms" in codes(response)


@pytest.mark.parametrize("contract", NAMES)
@pytest.mark.parametrize("query", ("", "  \n", "\0", None, 7, b"plain"))
def test_a_blank_query_is_refused(library: Library, contract: str, query: Any) -> None:
    with pytest.raises(UsageError) as error:
        library(FILES).search(query, contract)
    assert error.value.code == "bad_query"


def test_an_overlong_query_is_refused_and_many_terms_are_capped(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", embedder=None, max_terms=3, max_query_chars=50) as index:
        index.sync([write(tmp_path / "shelf", FILES)])
        with pytest.raises(UsageError, match="the query has 51 characters; at most 50 are allowed"):
            index.search("x" * 51)
        response = index.search("alpha beta gamma plain", "rifflux")
        assert paths(response) == [] and codes(response)[0] == "terms_capped"
        assert response.notes[0]["message"] == "of 4 terms the first 3 were looked up"


@pytest.mark.parametrize("contract", NAMES)
def test_fts5_syntax_passes_through(library: Library, contract: str) -> None:
    index = library({"a.txt": "alpha beta", "b.txt": "alpha gamma", "c.txt": "alphabet"})
    found = paths(_search(index, contract, "alpha NOT gamma", syntax="fts5"))
    assert found == ["a.txt"]
    assert len(paths(_search(index, contract, "alpha*", syntax="fts5"))) == 3


@pytest.mark.parametrize("contract", NAMES)
@pytest.mark.parametrize(("query", "position"), [("alpha AND AND", 10), ("alpha )", 6), ("alpha AND", 9)])
def test_bad_fts5_syntax_names_the_position(
    library: Library, contract: str, query: str, position: int
) -> None:
    with pytest.raises(UsageError, match=f"not valid FTS5 at position {position}") as error:
        _search(library(FILES), contract, query, syntax="fts5")
    assert error.value.code == "bad_query" and error.value.details == {"position": position}


@pytest.mark.parametrize("contract", NAMES)
def test_an_unknown_syntax_is_refused(library: Library, contract: str) -> None:
    with pytest.raises(UsageError, match=r"^syntax is 'lucene'; it must be one of plain, fts5$"):
        _search(library(FILES), contract, "plain", syntax="lucene")


@pytest.mark.parametrize("contract", NAMES)
def test_an_index_tells_never_filled_from_empty_from_no_match(tmp_path: Path, contract: str) -> None:
    with quintet.open(tmp_path / "index", embedder=None) as index:
        never = _search(index, contract, "word")
        (tmp_path / "shelf").mkdir()
        index.sync([tmp_path / "shelf"])
        empty = _search(index, contract, "word")
        index.sync([write(tmp_path / "shelf", FILES)])
        other = _search(index, contract, "zebra")
    assert [paths(one) for one in (never, empty, other)] == [[], [], []]
    expected = "ok" if contract == "knowledge" else "degraded"  # there is no embedder for the other leg
    assert [one.status for one in (never, empty, other)] == ["never_indexed", "empty_index", expected]


def test_an_embedder_fills_nothing_and_what_is_forgotten_was_there(tmp_path: Path) -> None:
    def status(index: quintet.Index) -> str:
        return index.search("word", "rifflux").status

    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.embed()
        assert (status(index), index.clear()) == ("never_indexed", 0)
        index.reembed("hashing")
        assert status(index) == "never_indexed"
        shelf = write(tmp_path / "shelf", FILES)
        for emptied in (index.clear, lambda: index.forget(str(shelf))):
            index.sync([shelf])
            assert emptied() == len(FILES)
            index.embed()
            assert status(index) == "empty_index"


@pytest.mark.parametrize("contract", [name for name in NAMES if name != "quintet"])
def test_a_word_that_a_query_repeats_counts_once(library: Library, contract: str) -> None:
    """FTS5 itself would count it again, and then the other file came first."""
    index = library(
        {"cache.txt": "cache cache", "ttl.txt": "ttl and some other words", "none.txt": "nothing"}
    )
    once = results(_search(index, contract, "ttl cache"))
    again = results(_search(index, contract, "ttl TTL cache ttl Ttl"))
    assert [path_of(item) for item in once] == ["cache.txt", "ttl.txt"]
    assert again == once
    written = _search(index, contract, "ttl OR ttl OR ttl OR cache OR ttl", syntax="fts5")
    assert paths(written) == ["ttl.txt", "cache.txt"]


@pytest.mark.parametrize("contract", NAMES)
def test_status_and_notes_lie_beside_the_body_and_never_in_a_result(library: Library, contract: str) -> None:
    response = _search(library(FILES), contract, "plain")
    wire = response.wire()
    assert set(wire) == set(response.body) | {"status", "notes"}
    assert {"status", "notes"}.isdisjoint(response.body)
    assert all({"status", "notes"}.isdisjoint(item) for item in results(response))


def test_settings_of_a_contract_lie_under_the_request(tmp_path: Path) -> None:
    (tmp_path / "quintet.toml").write_text("[contracts.rifflux]\ntop_k = 1\nmode = 'lexical'\n")
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([write(tmp_path / "shelf", {"a.txt": "word", "b.txt": "word"})])
        assert index.search("word", "rifflux").body["count"] == 1
        assert index.search("word", "rifflux", top_k=2).body["count"] == 2
        assert index.search("word", "rifflux").body["mode"] == "lexical"
        assert len(paths(index.search("word", "cfs"))) == 2


@pytest.mark.parametrize("contract", NAMES)
def test_every_parameter_has_help_and_a_schema(contract: str) -> None:
    declared = parameters.fields(CONTRACTS[contract].parameters)
    assert {CONTRACTS[contract].limit, "filters", "syntax"} <= {one.name for one in declared}
    for one in declared:
        rule = parameters.rule_of(one)
        assert rule.help and rule.help[0].islower() and not rule.help.endswith(".")
        assert rule.check.schema


@pytest.mark.parametrize("value", ("0.5", True, float("nan"), float("inf"), 10**400, -1, None))
def test_a_number_is_finite_and_in_its_range(value: object) -> None:
    kind = CONTRACTS["rifflux"].parameters
    with pytest.raises(UsageError, match=r"^rrf_k is .*; it must be a number from 0$"):
        read("rifflux", kind, {"rrf_k": value}, {})


def test_numbers_say_which_side_is_open() -> None:
    kind = CONTRACTS["harness"].parameters
    with pytest.raises(UsageError, match=r"hybrid_alpha is 'x'; it must be a number$"):
        read("harness", kind, {"hybrid_alpha": "x"}, {})
    assert read("harness", kind, {"hybrid_alpha": 1}, {}).hybrid_alpha == 1.0


def test_a_long_value_is_cut_in_a_message() -> None:
    assert parameters.shown("x" * 200) == repr("x" * 200)[:77] + "..."
    assert parameters.shown(10**5000) == "a number too long to show"
    assert contract_named("cfs").name == "cfs"


def test_filters_are_read_in_one_order() -> None:
    kind = CONTRACTS["cfs"].parameters
    one = read("cfs", kind, {"filters": {"path": "a", "mime": "b"}}, {}).filters
    other = read("cfs", kind, {"filters": {"mime": "b", "path": "a"}}, {}).filters
    assert one == other == Filter((Condition("mime", "b"), Condition("path", "a")))


@pytest.mark.parametrize(
    ("milliseconds", "expected"),
    [(0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (1, "1970-01-01T00:00:00.001Z")],
)
def test_times_are_iso_utc(milliseconds: int, expected: str) -> None:
    assert iso_utc(milliseconds) == expected
