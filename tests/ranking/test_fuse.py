"""What evidence is worth: the formulas of the specifications, and their worked examples."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.contracts import cfs, harness, knowledge, mcb, quintet, rifflux
from quintet.model.results import Hit, Signal
from quintet.ranking import Branch, Fetch, Profile, Rrf, WeightedSum, rank
from quintet.ranking.fuse import contributions, maximum
from ranking.material import fact, facts_of, ids, listed, scored, scores

MCB = mcb.profile(mcb.Params())
CFS = cfs.profile(cfs.Params())


def _rrf(*weights: float, rrf_k: float = 60.0, first_rank: int = 1, share: bool = False) -> Profile:
    signals = ("lexical", "semantic", "graph")
    branches = tuple(
        Branch(signal, Fetch(), weight) for signal, weight in zip(signals, weights, strict=False)
    )
    return Profile(branches, Rrf(rrf_k, first_rank, share), ("path",))


@pytest.mark.requirement("000-RRF-001")
def test_rrf_gives_one_over_k_plus_the_rank_counted_from_one() -> None:
    profile = _rrf(1.0, 1.0)
    worths = contributions(profile, profile.branches[0], (1, 2, 10), (0.0, 0.0, 0.0))
    assert worths == [1 / (60 + 1), 1 / (60 + 2), 1 / (60 + 10)]


@pytest.mark.requirement("002-RRF-FORMULA", "002-T-RRF-1")
def test_mcb_counts_ranks_from_zero_and_weighs_each_signal() -> None:
    lexical, semantic, graph = MCB.branches
    most = (1.0 + 0.8 + 0.6) / (60 + 0)
    assert contributions(MCB, lexical, [1], [0.0]) == [1.0 / (60 + 0) / most]
    assert contributions(MCB, semantic, [3], [0.0]) == [0.8 / (60 + 2) / most]
    assert contributions(MCB, graph, [8], [0.0]) == [0.6 / (60 + 7) / most]


@pytest.mark.requirement("002-R-SCORE", "002-T-RRF-2")
def test_the_most_an_mcb_result_can_reach_is_four_hundredths_which_is_shown_as_one() -> None:
    assert maximum(MCB) == (1.0 + 0.8 + 0.6) / (60 + 0) == pytest.approx(0.04)
    (best,) = rank(
        MCB,
        {"lexical": listed("x"), "semantic": listed("x"), "graph": listed("x")},
        {"x": fact(node="x")},
        20,
    )
    assert best.score == pytest.approx(1.0) and best.score <= 1.0


@pytest.mark.requirement("002-WEIGHTS", "002-T-RRF-3")
def test_mcb_weighs_text_over_vectors_over_graph() -> None:
    assert [(branch.signal, branch.weight) for branch in MCB.branches] == [
        ("lexical", 1.0),
        ("semantic", 0.8),
        ("graph", 0.6),
    ]
    first_of_each = {"lexical": listed("t"), "semantic": listed("v"), "graph": listed("g")}
    assert ids(rank(MCB, first_of_each, facts_of("t", "v", "g"), 20)) == ["t", "v", "g"]


@pytest.mark.requirement("002-T-RRF-4", "002-ARCH")
@pytest.mark.parametrize("weights", list(product((1.0, 0.8, 0.6), repeat=3)))
def test_every_combination_of_weights_adds_up_by_the_formula(weights: tuple[float, float, float]) -> None:
    hits = {"lexical": listed("a", "b"), "semantic": listed("b", "a"), "graph": listed("c", "b")}
    found = scores(rank(_rrf(*weights, first_rank=0), hits, facts_of("a", "b", "c"), 3))
    text, vector, graph = weights
    assert found == {
        "a": text / 60 + vector / 61,
        "b": text / 61 + vector / 60 + graph / 61,
        "c": graph / 60,
    }


@pytest.mark.requirement("002-T-RRF-5")
def test_with_one_signal_alone_rrf_keeps_its_order() -> None:
    order = ["d", "a", "c", "b"]
    for signal in ("lexical", "semantic", "graph"):
        assert ids(rank(MCB, {signal: listed(*order)}, facts_of(*order), 20)) == order


@pytest.mark.requirement("000-RRF-002", "004-S4-K60")
def test_a_low_rrf_k_lets_first_places_dominate_and_a_high_one_flattens() -> None:
    def share_of_first(rrf_k: float) -> float:
        profile = _rrf(1.0, rrf_k=rrf_k)
        first, tenth = contributions(profile, profile.branches[0], (1, 10), (0.0, 0.0))
        return first / tenth

    assert share_of_first(10) == (10 + 10) / (10 + 1)
    assert share_of_first(60) == pytest.approx((60 + 10) / (60 + 1))
    assert share_of_first(10) > share_of_first(60) > share_of_first(100) > 1.0
    for contract in (rifflux, cfs):
        assert contract.profile(contract.Params()).fusion == Rrf(60.0, 1)
        assert contract.profile(contract.Params(rrf_k=7.5)).fusion == Rrf(7.5, 1)


@pytest.mark.requirement("000-EX-RRF", "000-EDGE-4", "000-RRF-003", "000-VAL-3", "000-AC-007")
def test_the_worked_example_of_rifflux() -> None:
    hits = {"lexical": listed("c1", "c2"), "semantic": listed("c2", "c3")}
    found = rank(rifflux.profile(rifflux.Params()), hits, facts_of("c1", "c2", "c3"), 10)
    assert scores(found) == {"c2": 1 / (60 + 2) + 1 / (60 + 1), "c1": 1 / (60 + 1), "c3": 1 / (60 + 2)}
    assert ids(found) == ["c2", "c1", "c3"]


@pytest.mark.requirement("004-S4-EXAMPLE", "004-S4-FORMULA")
def test_the_worked_example_of_cfs_ranks_a_c_b_d() -> None:
    hits = {"semantic": listed("A", "B", "C"), "lexical": listed("C", "A", "D")}
    found = rank(CFS, hits, facts_of("A", "B", "C", "D"), 10)
    assert ids(found) == ["A", "C", "B", "D"]
    assert scores(found) == {
        "A": 1 / (60 + 1) + 1 / (60 + 2),
        "C": 1 / (60 + 3) + 1 / (60 + 1),
        "B": 1 / (60 + 2),
        "D": 1 / (60 + 3),
    }
    assert [round(item.score, 4) for item in found] == [0.0325, 0.0323, 0.0161, 0.0159]


@pytest.mark.requirement("004-V-MERKLE")
def test_the_merkle_tree_vector_of_cfs() -> None:
    """Its "(in both)" item is in neither semantic place printed, so it stands fourth; paths break the tie."""
    texts = {
        "structure": fact("a-structure.md"),
        "roots": fact("b-roots.md"),
        "computed": fact("c-computed.md"),
        "hash": fact("d-hash.md"),
        "blockchain": fact("e-blockchain.md"),
        "binary": fact("f-binary.md"),
    }
    hits = {
        "semantic": listed("roots", "hash", "blockchain", "structure"),
        "lexical": listed("structure", "computed", "binary"),
    }
    found = rank(CFS, hits, texts, 3)
    assert ids(found) == ["structure", "roots", "computed"]
    assert scores(found)["structure"] == 1 / (60 + 4) + 1 / (60 + 1)
    assert scores(found)["computed"] == 1 / (60 + 2)  # as much as "hash", whose path comes later


@pytest.mark.requirement("004-V-EXACT")
def test_the_exact_match_vector_of_cfs() -> None:
    """The exact chunk wins when vectors saw it at all; with disjoint lists RRF ties and the path decides."""
    vague = [f"vague{number}" for number in range(5)]
    facts = facts_of(*vague, "zz-exact")
    among = {"semantic": listed(*vague, "zz-exact"), "lexical": listed("zz-exact")}
    assert ids(rank(CFS, among, facts, 10))[0] == "zz-exact"
    disjoint = {"semantic": listed(*vague), "lexical": listed("zz-exact")}
    tied = rank(CFS, disjoint, facts, 10)[:2]
    assert ids(tied) == ["vague0", "zz-exact"] and tied[0].score == tied[1].score


@pytest.mark.requirement("003-FUSE-FORMULA", "003-FUSE-MINMAX")
def test_the_worked_vector_of_the_retrieval_contract() -> None:
    profile = knowledge.profile(knowledge.Params(search_method="hybrid", hybrid_alpha=0.5))
    hits = {"semantic": scored(d1=0.9, d2=0.6), "lexical": scored(d2=8.0, d3=2.0)}
    found = rank(profile, hits, facts_of("d1", "d2", "d3"), 5)
    assert scores(found) == {
        "d2": 0.5 * 0.6 + 0.5 * (8 - 2) / (8 - 2),
        "d1": 0.5 * 0.9 + 0.5 * 0.0,
        "d3": 0.5 * 0.0 + 0.5 * (2 - 2) / (8 - 2),
    }
    assert [(item.item_id, round(item.score, 10)) for item in found] == [("d2", 0.8), ("d1", 0.45), ("d3", 0)]


@pytest.mark.requirement("001-CHUNK-SCORE")
def test_the_harness_weighs_both_scaled_legs_and_a_missing_one_counts_nothing() -> None:
    profile = harness.profile(harness.Params(hybrid_alpha=0.6))
    hits = {"lexical": scored(a=9.0, b=5.0, c=1.0), "semantic": scored(c=0.8, b=0.2, d=-0.4)}
    found = scores(rank(profile, hits, facts_of("a", "b", "c", "d"), 12))
    assert found == {
        "a": (1 - 0.6) * 1.0 + 0.6 * 0.0,
        "b": (1 - 0.6) * (5 - 1) / (9 - 1) + 0.6 * (0.2 + 0.4) / (0.8 + 0.4),
        "c": (1 - 0.6) * 0.0 + 0.6 * 1.0,
        "d": 0.0,
    }


@pytest.mark.requirement("000-RRF-004", "000-VAL-5", "002-T-RRF-6")
@given(st.floats(0.001, 1e9), st.floats(0.001, 1.0))
def test_rrf_never_looks_at_the_scores(bm25: float, cosine: float) -> None:
    profile = rifflux.profile(rifflux.Params())
    facts = facts_of("a", "b", "c")

    def fused(lexical: float, semantic: float) -> list[tuple[str, float]]:
        hits = {
            "lexical": [Hit("a", 2 * lexical, -2 * lexical), Hit("b", lexical, -lexical)],
            "semantic": [Hit("b", semantic, semantic), Hit("c", semantic / 2, semantic / 2)],
        }
        return [(item.item_id, item.score) for item in rank(profile, hits, facts, 10)]

    assert fused(bm25, cosine) == fused(1.0, 0.5)


@pytest.mark.requirement("002-S-BALANCE", "002-T-RRF-7")
@given(st.integers(1, 20), st.integers(1, 20))
def test_no_single_signal_dominates(text_place: int, vector_place: int) -> None:
    """What two signals like a little outranks what one likes best, for every place in the top twenty."""
    text, vector = [f"t{n}" for n in range(20)], [f"v{n}" for n in range(20)]
    text[text_place - 1] = vector[vector_place - 1] = "both"
    hits = {"lexical": listed(*text), "semantic": listed(*vector)}
    found = rank(MCB, hits, facts_of(*text, *vector), 20)
    assert found[0].item_id == "both"


@pytest.mark.requirement("004-P3-DIVERSITY")
@given(st.integers(1, 10))
def test_both_signals_have_their_share_of_every_page(size: int) -> None:
    hits = {
        "semantic": listed(*(f"v{n}" for n in range(10))),
        "lexical": listed(*(f"t{n}" for n in range(10))),
    }
    facts = facts_of(*(hit.chunk_id for found in hits.values() for hit in found))
    page = ids(rank(CFS, hits, facts, 2 * size))
    assert sorted(item[0] for item in page) == ["t"] * size + ["v"] * size


def test_a_chunk_found_by_both_signals_outranks_one_found_by_either() -> None:
    hits = {"lexical": listed("one", "both"), "semantic": listed("other", "both")}
    assert (
        ids(rank(rifflux.profile(rifflux.Params()), hits, facts_of("one", "both", "other"), 10))[0] == "both"
    )


def test_a_weighted_sum_multiplies_the_scaled_score() -> None:
    profile = Profile((Branch("lexical", Fetch(), 0.25, "min_max"),), WeightedSum(), ("path",))
    assert contributions(profile, profile.branches[0], [7], [0.5]) == [0.25 * 0.5]


def test_what_a_signal_scored_for_another_counts_but_has_no_rank() -> None:
    hits: dict[Signal, list[Hit]] = {
        "lexical": [Hit("a", 40.0, -40.0), Hit("b", 10.0, -10.0, listed=False)],
        "semantic": [Hit("b", 0.9, 0.9), Hit("a", 0.5, 0.5, listed=False)],
    }
    found = rank(quintet.profile(quintet.Params()), hits, facts_of("a", "b"), 10)
    assert scores(found) == {
        "b": pytest.approx(0.7 * 0.9 + 0.3 * 10 / 70),
        "a": pytest.approx(0.7 * 0.5 + 0.3 * 40 / 100),
    }
    (b, a) = found
    assert [b.evidence["lexical"].rank, b.evidence["semantic"].rank] == [None, 1]
    assert [a.evidence["lexical"].rank, a.evidence["semantic"].rank] == [1, None]
    assert all(seen.of == 1 for item in found for seen in item.evidence.values())


def test_rrf_gives_nothing_for_what_has_no_rank() -> None:
    profile = rifflux.profile(rifflux.Params())
    complete = replace(profile, branches=tuple(replace(one, complete=True) for one in profile.branches))
    hits = {"lexical": listed("a", "b"), "semantic": [*listed("a"), Hit("b", 0.1, 0.1, listed=False)]}
    assert scores(rank(complete, hits, facts_of("a", "b"), 10)) == {"a": 2 / 61, "b": 1 / 62}
    assert rank(profile, hits, facts_of("a", "b"), 10)[1].evidence.keys() == {"lexical"}
