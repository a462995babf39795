"""Which runs are made: contracts, modes and grids, checked before anything is searched."""

import pytest

from quintet.contracts import CONTRACTS, contract_named, read
from quintet.errors import LimitError, UsageError
from quintet.evaluation.rankings import MOST_RUNS, RankingSpec, ranking_specs


def names(*asked: RankingSpec) -> list[str]:
    return [one.name for one in asked]


def test_each_contract_has_its_own_default_mode() -> None:
    assert names(*ranking_specs(["all"], [], {}, {}, text_only=False)) == [
        "quintet hybrid",
        "rifflux hybrid",
        "harness hybrid",
        "mcb",
        "knowledge semantic",
        "cfs hybrid",
    ]


def test_without_vectors_words_are_the_default() -> None:
    found = ranking_specs(["all"], [], {}, {}, text_only=True)
    assert [one.mode for one in found] == ["lexical", "lexical", "keyword", None, "keyword", "lexical"]
    assert [one.needs_vectors for one in found] == [False, False, False, True, False, False]


def test_lexical_and_keyword_are_one_mode_and_all_is_every_mode() -> None:
    assert names(*ranking_specs(["cfs", "harness"], ["keyword", "lexical"], {}, {}, text_only=False)) == [
        "cfs lexical",
        "harness keyword",
    ]
    assert [one.mode for one in ranking_specs(["cfs"], ["all"], {}, {}, text_only=False)] == [
        "lexical",
        "semantic",
        "hybrid",
    ]
    assert [one.mode for one in ranking_specs(["cfs"], ["all"], {}, {}, text_only=True)] == ["lexical"]


def test_a_grid_is_every_combination_in_the_order_given() -> None:
    grid = {"rrf_k": [10, 60], "top_k": [5]}
    assert names(*ranking_specs(["rifflux"], ["hybrid"], grid, {}, text_only=False)) == [
        "rifflux hybrid rrf_k=10 top_k=5",
        "rifflux hybrid rrf_k=60 top_k=5",
    ]


def test_a_wrong_contract_mode_parameter_or_value_is_refused() -> None:
    for contracts, modes, grid, complaint in (
        (["bm42"], [], {}, "there is no contract 'bm42'"),
        (["cfs"], ["psychic"], {}, "mode is 'psychic'; it must be one of lexical, semantic, hybrid"),
        (["harness"], [], {"rrf_k": [60]}, "contract harness has no parameter 'rrf_k'"),
        (["cfs"], [], {"rrf_k": [60, "x"]}, "rrf_k is 'x'"),
        (["knowledge"], [], {"search_method": ["hybrid"]}, "use --mode"),
        (["knowledge"], [], {"mode": ["hybrid"]}, "use --mode"),
    ):
        with pytest.raises(UsageError, match=complaint):
            ranking_specs(contracts, modes, grid, {}, text_only=False)


def test_a_grid_too_large_is_refused() -> None:
    with pytest.raises(LimitError, match=f"at most {MOST_RUNS}"):
        ranking_specs(["cfs"], [], {"rrf_k": list(range(MOST_RUNS + 1))}, {}, text_only=False)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_what_is_asked_for_is_what_the_contract_can_plan(contract: str) -> None:
    (asked,) = ranking_specs([contract], [], {}, {}, text_only=False)
    given = asked.parameters(5_000, {})
    named = contract_named(contract)
    assert given["limit"] == (80 if contract == "harness" else 1_000)
    spelt = {named.limit: given["limit"]} | ({named.mode: given["mode"]} if named.mode else {})
    assert named.plan("words", read(contract, named.parameters, spelt, {})).limit == given["limit"]


def test_a_number_of_results_that_was_asked_for_is_kept() -> None:
    assert RankingSpec("cfs", "lexical", {"top_k": 7}).parameters(100, {}) == {"top_k": 7, "mode": "lexical"}
    assert RankingSpec("cfs", "lexical", {"limit": 7}).parameters(100, {}) == {"limit": 7, "mode": "lexical"}
    assert RankingSpec("cfs", "lexical").parameters(100, {"cfs": {"top_k": 7}}) == {"mode": "lexical"}
    assert RankingSpec("harness").parameters(500, {"harness": {"candidate_k_keyword": 50}}) == {"limit": 50}
