"""`quintet search`: results for people and for programs."""

import json
from pathlib import Path

import pytest

import quintet as library_of_quintet
from cli.conftest import Quintet

CONTRACTS = ("quintet", "rifflux", "harness", "mcb", "knowledge", "cfs")


def test_a_result_has_a_number_a_place_a_heading_a_score_and_a_snippet(
    indexed: Path, quintet: Quintet
) -> None:
    done = quintet("search", "five minutes")
    head, *rest = done.out.splitlines()
    assert done.code == 0
    assert head.startswith(" 1. docs/cache.md:5-7  Guide > Caching  0.")
    assert "    The cache keeps answers for five minutes." in rest


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_contract_is_shown_in_the_same_form(indexed: Path, quintet: Quintet, contract: str) -> None:
    done = quintet("search", "five minutes cache", "--contract", contract)
    assert done.code == 0
    assert " 1. docs/cache.md:5-7  Guide > Caching  " in done.out
    assert "    The cache keeps answers for five minutes." in done.out


@pytest.mark.parametrize("contract", CONTRACTS)
def test_json_is_the_wire_and_nothing_else(indexed: Path, quintet: Quintet, contract: str) -> None:
    done = quintet("search", "cache", "--contract", contract, "--json")
    with library_of_quintet.open(indexed / ".quintet", create=False) as index:
        wire = index.search("cache", contract=contract).wire()
    assert done.out == json.dumps(wire, ensure_ascii=False) + "\n"
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("contract", CONTRACTS)
def test_limit_is_each_contracts_own(indexed: Path, quintet: Quintet, contract: str) -> None:
    out = quintet("search", "cache", "--contract", contract, "--limit", "1").out
    assert " 1. " in out
    assert " 2. " not in out


def test_mode_is_each_contracts_own(indexed: Path, quintet: Quintet) -> None:
    keyword = json.loads(
        quintet("search", "cache", "--contract", "knowledge", "--mode", "keyword", "--json").out
    )
    assert keyword["retrieval_calls"][0]["search_method"] == "keyword"


def test_nothing_found_is_exit_code_one_and_said_on_standard_error(indexed: Path, quintet: Quintet) -> None:
    done = quintet("search", "zeppelin", "--mode", "lexical")
    assert (done.code, done.out, done.err) == (1, "", "no match\n")
    as_json = quintet("search", "zeppelin", "--mode", "lexical", "--json")
    assert (as_json.code, json.loads(as_json.out)["results"]) == (1, [])


def test_notes_go_to_standard_error_with_their_code(indexed: Path, quintet: Quintet) -> None:
    done = quintet("search", "cache", "--contract", "harness", "--param", "hybrid_alpha=7")
    assert done.err == "note: hybrid_alpha 7 was clamped to 1; it lies between 0 and 1 [alpha_clamped]\n"
    assert "alpha_clamped" not in done.out


def test_parameters_are_json_where_they_parse_and_else_text(indexed: Path, quintet: Quintet) -> None:
    arguments = ("--contract", "mcb", "--param", 'scope_filter={"file": "src/store.py"}', "--json")
    paths = [one["node"]["path"] for one in json.loads(quintet("search", "cache", *arguments).out)["results"]]
    assert set(paths) == {"src/store.py"}
    spelt = quintet(
        "search", "cache", "--contract", "knowledge", "--param", "search_method=keyword", "--json"
    )
    assert json.loads(spelt.out)["retrieval_calls"][0]["search_method"] == "keyword"


def test_filters_hold_together(indexed: Path, quintet: Quintet) -> None:
    arguments = ("--filter", "path:docs/**", "--filter", "contains:digest", "--filter", "after:0")
    found = json.loads(quintet("search", "cache", *arguments, "--json").out)["results"]
    assert [one["path"] for one in found] == ["docs/keys.md"]


def test_a_filter_of_true_or_false_and_one_of_a_whole_number_are_read_so(
    indexed: Path, quintet: Quintet
) -> None:
    arguments = ("--contract", "knowledge", "--filter", "managed_by_source:true", "--filter", "chunk_index:1")
    assert " 1. docs/cache.md:5-7" in quintet("search", "cache", *arguments).out


@pytest.mark.parametrize("text", ["path:docs/** OR", "lang:python AND", "lang:python )", "lang:python -"])
def test_a_filter_that_ends_too_early_is_refused(indexed: Path, quintet: Quintet, text: str) -> None:
    result = quintet("search", "cache", "--filter", text)
    assert result.code == 2
    assert "invalid_filter" in result.err


def test_a_colon_in_a_filters_value_belongs_to_the_value(indexed: Path, quintet: Quintet) -> None:
    assert quintet("search", "cache", "--filter", "contains:a:b", "--json").code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--param", "feedback"), "invalid_parameter", "name=value"),
        (("--param", "=5"), "invalid_parameter", "name=value"),
        (("--param", "feedback=high"), "invalid_parameter", "feedback is 'high'"),
        (("--param", "fedback=1"), "invalid_parameter", "did you mean 'feedback'?"),
        (("--param", "query=x"), "invalid_parameter", "query is not a parameter"),
        (("--param", "limit=5", "--limit", "5"), "invalid_parameter", "limit was given twice"),
        (("--contract", "nobody"), "unknown_contract", "there is no contract 'nobody'"),
        (("--limit", "0"), "invalid_parameter", "from 1 to 1000"),
        (("--mode", "psychic"), "invalid_parameter", "one of"),
        (("--syntax", "regex"), "invalid_parameter", "one of plain, fts5"),
    ],
)
def test_what_cannot_be_understood_is_one_line_and_exit_code_two(
    indexed: Path, quintet: Quintet, arguments: tuple[str, ...], code: str, said: str
) -> None:
    done = quintet("search", "cache", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("quintet: ")
    assert done.err.endswith(f" [{code}]\n")
    assert said in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("filter", "said", "position"),
    [
        ("docs", "write name:value", 0),
        ("path:docs/** after:yesterday", "a whole number of Unix milliseconds, or a date", 13),
        ("lang:python colour:red", "unknown filter 'colour'", 12),
        ("(path:a OR path:b", "this bracket is never closed", 0),
    ],
)
def test_a_filter_that_cannot_be_read_is_pointed_at(
    indexed: Path, quintet: Quintet, filter: str, said: str, position: int
) -> None:
    done = quintet("search", "cache", "--filter", filter)
    first, line, caret = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert said in first
    assert first.endswith(" [invalid_filter]")
    assert (line, caret) == ("  " + filter, "  " + " " * position + "^")


def test_filters_of_several_options_and_of_one_mean_the_same(indexed: Path, quintet: Quintet) -> None:
    several = quintet("search", "cache", "--filter", "path:docs/**", "--filter=-contains:digest", "--json")
    one = quintet("search", "cache", "--filter", "path:docs/** -contains:digest", "--json")
    assert (one.code, one.out) == (0, several.out)
    either = quintet("search", "cache", "--filter", "path:docs/** OR lang:python", "--json")
    assert len(either.out) > len(one.out)


def test_a_single_filter_may_hold_spaces_without_quotes(indexed: Path, quintet: Quintet) -> None:
    bare = quintet("search", "cache", "--filter", "contains:five minutes", "--json")
    quoted = quintet("search", "cache", "--filter", 'contains:"five minutes"', "--json")
    assert (bare.code, bare.out) == (0, quoted.out)


def test_fts5_syntax_is_passed_on_and_refused_by_name(indexed: Path, quintet: Quintet) -> None:
    assert quintet("search", "minutes NOT bread", "--syntax", "fts5", "--mode", "lexical").code == 0
    done = quintet("search", "minutes NOT", "--syntax", "fts5", "--mode", "lexical")
    assert done.code == 2
    assert done.err.endswith("[bad_query]\n")


@pytest.fixture
def two_roots(library: Path, quintet: Quintet) -> Path:
    """Two roots that hold the same path with the same words, told apart by one line."""
    for root in ("one", "two"):
        (library / root).mkdir()
        (library / root / "same.md").write_text(f"# Same\n\nzeppelin {root}\n", "utf-8")
    quintet("index", "one", "two", "--embedder", "hashing")
    return library


@pytest.mark.parametrize("contract", CONTRACTS)
def test_among_several_roots_a_place_begins_with_the_name_of_its_own(
    two_roots: Path, quintet: Quintet, contract: str
) -> None:
    out = quintet("search", "zeppelin", "--contract", contract).out
    for root in ("one", "two"):
        assert out.count(f". {root}/same.md:1-3  Same  ") == 1
        _, _, behind = out.partition(f". {root}/same.md:1-3  ")
        assert f"    zeppelin {root}" in behind.splitlines()[:3]


def test_get_takes_a_place_among_several_roots_as_search_shows_it(two_roots: Path, quintet: Quintet) -> None:
    heads = [line for line in quintet("search", "zeppelin").out.splitlines() if ". " in line[:5]]
    places = [head.split()[1] for head in heads]
    assert sorted(places) == ["one/same.md:1-3", "two/same.md:1-3"]
    for place in places:
        done = quintet("get", place)
        assert (done.code, done.err) == (0, "")
        assert f"zeppelin {place[:3]}" in done.out


def test_json_has_the_path_as_the_contract_writes_it_among_several_roots(
    two_roots: Path, quintet: Quintet
) -> None:
    results = json.loads(quintet("search", "zeppelin", "--json").out)["results"]
    assert [one["path"] for one in results] == ["same.md", "same.md"]


def test_a_query_that_looks_like_an_option_follows_two_dashes(indexed: Path, quintet: Quintet) -> None:
    done = quintet("search", "--mode", "lexical", "--", "--json")
    assert (done.code, done.out, done.err) == (1, "", "no match\n")


def test_an_index_that_was_never_filled_says_so(tmp_path: Path, quintet: Quintet) -> None:
    folder = tmp_path / "new"
    library_of_quintet.open(folder, embedder=None).close()
    done = quintet("search", "cache", "--mode", "lexical", "--db", str(folder))
    assert (done.code, done.err) == (3, "never indexed: run 'quintet index'\n")


def test_an_index_that_was_emptied_says_so(library: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "none")
    quintet("forget", str(library))
    done = quintet("search", "cache", "--mode", "lexical")
    assert (done.code, done.err) == (1, "the index is empty\n")


def test_a_context_for_which_nothing_is_small_enough_says_so(indexed: Path, quintet: Quintet) -> None:
    done = quintet("context", "cache", "--budget", "1")
    assert (done.code, done.out) == (1, "")
    assert "0 of 5 passages fit into 1 tokens; raise the budget: all of them need about" in done.err
