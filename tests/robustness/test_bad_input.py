"""What is asked wrongly is refused: by class, code and exit code, in one line that says what to do."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quintet
from quintet import Index, NotFound, QuintetError, UsageError
from quintet.contracts import CONTRACTS


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    base = tmp_path_factory.mktemp("bad-input")
    (base / "files").mkdir()
    (base / "files" / "a.txt").write_text("the lantern is lit\n", "utf-8")
    with quintet.open(base / "index", embedder="hashing") as opened:
        opened.sync([base / "files"])
        yield opened


def _refused(error: QuintetError, kind: type[QuintetError], code: str, exit_code: int) -> None:
    assert type(error) is kind
    assert (error.code, error.exit_code) == (code, exit_code)
    first, *pointed = error.message.splitlines()
    assert first
    assert len(pointed) == (2 if code == "invalid_filter" and "position" in error.details else 0)
    assert ";" in error.message, "what was wrong; what to do"


def _usage(index: Index, code: str, *, names: str, contract: Any = "rifflux", **params: Any) -> None:
    with pytest.raises(QuintetError) as caught:
        index.search("lantern", contract, **params)
    _refused(caught.value, UsageError, code, 2)
    assert names in caught.value.message


@pytest.mark.parametrize("contract", ["riflux", "", None, 7, ["rifflux"]])
def test_an_unknown_contract_is_refused_with_the_list_of_those_there_are(index: Index, contract: Any) -> None:
    _usage(index, "unknown_contract", contract=contract, names="harness")


@pytest.mark.parametrize("contract", [name for name, one in CONTRACTS.items() if one.mode])
@pytest.mark.parametrize("mode", ["fuzzy", "", None, 3, True, "HYBRID"])
def test_an_unknown_mode_is_refused_with_the_list_of_those_there_are(
    index: Index, contract: str, mode: Any
) -> None:
    code = "invalid_search_method" if contract == "knowledge" else "invalid_parameter"
    _usage(index, code, contract=contract, mode=mode, names="hybrid")


def test_a_mode_where_a_contract_has_none_is_refused(index: Index) -> None:
    _usage(index, "invalid_parameter", contract="mcb", mode="hybrid", names="no modes")


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("limit", [0, -1, True, 10**9, "5", 1.5, None, float("nan"), [5]])
def test_a_limit_that_is_no_whole_number_from_1_to_1000_is_refused(
    index: Index, contract: str, limit: Any
) -> None:
    code = "invalid_top_k" if contract == "knowledge" else "invalid_parameter"
    _usage(index, code, contract=contract, limit=limit, names="from 1 to 1000")


def test_the_same_limit_given_by_both_its_names_is_refused(index: Index) -> None:
    _usage(index, "invalid_parameter", top_k=5, limit=5, names="twice")


def test_an_unknown_parameter_is_refused_with_the_nearest_name(index: Index) -> None:
    _usage(index, "invalid_parameter", topk=5, names="did you mean 'top_k'?")


FRONT_MATTER = "knowledge"  # its default index takes every other name for a field of front matter


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("filters", [{"colour": "red"}, "path", ["path"], {1: 2}, None])
def test_an_unknown_filter_is_refused(index: Index, contract: str, filters: Any) -> None:
    if contract == FRONT_MATTER and isinstance(filters, dict):
        notes = index.search("word", contract, filters=filters).notes
        assert "nothing_passes" in [note["code"] for note in notes]
    else:
        _usage(index, "invalid_filter", contract=contract, filters=filters, names="filter")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("path", 3), ("path", ""), ("path", "a\0b"), ("path", "\ud800"), ("path", None), ("path", ["a"])),
        *(("after", "yesterday"), ("after", 1.5), ("after", True), ("contains", {})),
    ],
)
def test_a_filter_of_the_wrong_type_is_refused_by_name(index: Index, name: str, value: Any) -> None:
    _usage(index, "invalid_filter", filters={name: value}, names=f"filter {name}")


def test_a_filter_value_of_any_size_is_taken(index: Index) -> None:
    for value in (10**30, -(10**30), 2**63, -(2**63)):
        response = index.search("lantern", "rifflux", filters={"after": value})
        assert len(response.body["results"]) == (value < 0)
    assert index.search("lantern", "rifflux", filters={"path": "*" * 50 + "z"}).body["results"] == []
    assert index.search("lantern", "rifflux", filters={"contains": "lantern" * 10_000}).body["results"] == []


@pytest.mark.parametrize("query", [None, 3, b"lantern", ["lantern"]])
def test_a_query_that_is_not_text_is_refused(index: Index, query: Any) -> None:
    with pytest.raises(UsageError, match="it must be text") as caught:
        index.search(query)
    _refused(caught.value, UsageError, "bad_query", 2)


def test_a_query_beyond_the_longest_is_refused_with_the_limit(index: Index) -> None:
    with pytest.raises(UsageError, match="at most 200000") as caught:
        index.search("x" * 200_001)
    _refused(caught.value, UsageError, "bad_query", 2)


@pytest.mark.parametrize(
    ("contract", "params"),
    [
        *(("rifflux", {"rrf_k": value}) for value in (-1, "60", None, float("inf"), float("nan"), True)),
        *(("harness", {"hybrid_alpha": value}) for value in ("0.5", None, float("nan"), [])),
        ("harness", {"candidate_k_keyword": 5}),
        *(("mcb", {"embedding": value}) for value in ([], "x", [1, "a"], [float("nan")], {}, [True])),
        ("mcb", {"embedding": [1.0] * 7}),
        *(
            ("mcb", {"graph_expansion": value})
            for value in ("all", {}, {"callers": {}}, {"callers": {"depth": 99}})
        ),
        *(("mcb", {"field_weights": value}) for value in ({"body": 1}, {"content": -1}, {"content": "1"}, 3)),
        *(("cfs", {"min_similarity": value}) for value in (2, "0.5", float("nan"))),
    ],
)
def test_a_parameter_out_of_range_is_refused_by_name(
    index: Index, contract: str, params: dict[str, Any]
) -> None:
    (name,) = params
    with pytest.raises(UsageError) as caught:
        index.search("lantern", contract, **params)
    assert (caught.value.code, caught.value.exit_code) == ("invalid_parameter", 2)
    assert caught.value.message.splitlines() == [caught.value.message]
    assert name in caught.value.message or "dimensions" in caught.value.message


def test_the_largest_weights_a_field_may_have_still_give_numbers(index: Index) -> None:
    response = index.search("lantern", "mcb", field_weights={"content": 1e308, "title": 1e308})
    assert json.dumps(response.wire(), allow_nan=False)


@pytest.mark.parametrize(
    "setting",
    [{"batch_files": 0}, {"batch_files": True}, {"chunk_chars": "800"}, {"colour": 1}, {"include": "*.md"}],
)
def test_a_wrong_setting_is_refused_before_anything_is_made(tmp_path: Path, setting: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        quintet.open(tmp_path / "index", **setting)
    _refused(caught.value, UsageError, "invalid_parameter", 2)
    assert not (tmp_path / "index").exists()


def test_all_paths_are_checked_before_any_is_indexed(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.mkdir()
    (good / "a.txt").write_text("lantern", "utf-8")
    with quintet.open(tmp_path / "index") as index:
        for missing in (tmp_path / "nowhere", "", "x\0y", "name=nowhere", "=" + str(good), "y" * 5_000):
            with pytest.raises(UsageError) as caught:
                index.sync([good, missing])
            _refused(caught.value, UsageError, "invalid_path", 2)
        assert index.status().files == 0
        assert index.search("lantern").status == "never_indexed"


def test_a_missing_index_is_not_made_where_it_is_only_to_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="quintet index") as caught:
        quintet.open(tmp_path / "index", create=False)
    _refused(caught.value, NotFound, "not_indexed", 3)
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("reference", ["nowhere.txt", "a.txt:9-", "\0", "\ud800", "../a.txt", "x" * 5_000])
def test_a_document_that_is_not_there_is_named_in_the_answer(index: Index, reference: str) -> None:
    for ask in (index.get, index.forget):
        with pytest.raises(NotFound) as caught:
            ask(reference)
        _refused(caught.value, NotFound, "document_not_found", 3)


def test_an_unknown_embedder_is_refused_with_the_list_of_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="hashing") as caught:
        quintet.open(tmp_path / "index", embedder="word2vec")
    _refused(caught.value, UsageError, "invalid_parameter", 2)


def test_a_closed_index_says_so(tmp_path: Path) -> None:
    index = quintet.open(tmp_path / "index")
    index.close()
    index.close()
    for ask in (lambda: index.search("x"), index.status, index.sync):
        with pytest.raises(quintet.StoreError, match="was closed; open it again"):
            ask()
