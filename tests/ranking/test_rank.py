"""Gathering, ordering, grouping and freshness, each by its rule; then what holds for any input."""

import random
from dataclasses import replace
from math import nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.contracts import cfs, harness, knowledge, mcb, rifflux
from quintet.model.results import Evidence, Facts, Freshness, Hit
from quintet.ranking import Branch, Fetch, contenders, rank
from quintet.ranking.fuse import add_up
from quintet.ranking.order import steady
from ranking.material import NAMES, PROFILES, SITUATIONS, Hits, fact, facts_of, ids, listed, scored, scores

MCB = mcb.profile(mcb.Params())
HARNESS = harness.profile(harness.Params())
IN_UNIT = (
    "harness",
    "mcb",
    "knowledge semantic",
    "knowledge hybrid",
    "cfs lexical",
    "cfs semantic",
    "quintet hybrid",
)


def test_nothing_found_ranks_nothing() -> None:
    for profile in PROFILES.values():
        assert rank(profile, {}, {}, 5) == []
        assert rank(profile, {"lexical": [], "semantic": []}, {}, 5) == []


def test_a_leg_counts_only_as_deep_as_its_branch_fetches() -> None:
    profile = rifflux.profile(rifflux.Params())
    hits = {"lexical": listed("a", "b", "c"), "semantic": listed("d", "e", "c")}
    assert ids(rank(profile, hits, facts_of(*"abcde"), 1)) == ["a"]  # two deep: nobody saw c
    assert ids(rank(profile, hits, facts_of(*"abcde"), 2))[0] == "c"
    (best,) = rank(profile, hits, facts_of(*"abcde"), 1)
    assert best.evidence["lexical"].of == 2


def test_evidence_says_all_that_a_signal_knew() -> None:
    hits = {"lexical": [Hit("a", 3.0, -3.0), Hit("b", 1.0, -1.0)], "semantic": [Hit("b", 0.5, 7.0)]}
    found = {item.item_id: item for item in rank(HARNESS, hits, facts_of("a", "b"), 12)}
    assert found["a"].evidence == {"lexical": Evidence(1, 2, 3.0, -3.0, 1.0, 1 - 0.6, (1 - 0.6) * 1.0)}
    assert found["b"].evidence == {
        "lexical": Evidence(2, 2, 1.0, -1.0, 0.0, 1 - 0.6, 0.0),
        "semantic": Evidence(1, 1, 0.5, 7.0, 1.0, 0.6, 0.6 * 1.0),
    }


@pytest.mark.requirement("002-R-DISTANCE")
def test_a_graph_hit_keeps_its_distance() -> None:
    hits = {"graph": [Hit("near", 1.0, 1.0, distance=1), Hit("far", 0.5, 0.5, distance=3)]}
    found = rank(MCB, hits, facts_of("near", "far"), 20)
    assert [(item.item_id, item.evidence["graph"].distance) for item in found] == [("near", 1), ("far", 3)]


@pytest.mark.requirement("002-R-NODE", "002-T-RRF-8")
def test_chunks_of_one_node_are_merged_before_ranks_are_counted() -> None:
    facts = {
        "one-a": fact("m.py", 0, node="one"),
        "one-b": fact("m.py", 1, node="one"),
        "two": fact("m.py", 2, node="two"),
    }
    found = rank(MCB, {"lexical": listed("one-b", "one-a", "two")}, facts, 20)
    assert [(item.item_id, item.best_chunk) for item in found] == [("one", "one-b"), ("two", "two")]
    assert [(item.evidence["lexical"].rank, item.evidence["lexical"].of) for item in found] == [
        (1, 2),
        (2, 2),
    ]
    assert found[1].score == 1.0 / (60 + 1) / ((1.0 + 0.8 + 0.6) / 60)


def test_an_item_is_shown_by_the_best_chunk_of_the_first_branch_that_saw_it() -> None:
    facts = {"text": fact("m.py", 0, node="n"), "vector": fact("m.py", 1, node="n")}
    (item,) = rank(MCB, {"semantic": listed("vector"), "lexical": listed("text")}, facts, 20)
    assert item.best_chunk == "text"


@pytest.mark.requirement("001-TIE-NEWER", "001-V4")
def test_of_equal_documents_the_newer_comes_first() -> None:
    facts = {"a": fact("a", modified_ms=1), "b": fact("b", modified_ms=3), "c": fact("c", modified_ms=2)}
    assert ids(rank(HARNESS, {"lexical": scored(a=2.0, b=2.0, c=2.0)}, facts, 12)) == ["b", "c", "a"]


@pytest.mark.requirement("001-TIE-ID", "001-V4")
def test_of_equally_new_documents_the_lower_id_comes_first() -> None:
    facts = {
        "x": fact("1", document="dd"),
        "y": fact("2", document="d"),
        "z": fact("3", document="D"),
    }
    assert ids(rank(HARNESS, {"semantic": scored(x=0.2, y=0.2, z=0.2)}, facts, 12)) == ["D", "d", "dd"]


@pytest.mark.requirement("004-S6-SCORE", "004-S6-PATH", "004-S6-SEQUENCE")
def test_cfs_orders_by_score_then_path_then_sequence() -> None:
    facts = {
        "z": fact("a.md", 10),
        "y": fact("a.md", 9),
        "x": fact("b.md", 0),
        "w": fact("zz.md", 0),
    }
    profile = cfs.profile(cfs.Params(mode="semantic"))
    found = rank(profile, {"semantic": scored(w=0.9, x=0.5, y=0.5, z=0.5)}, facts, 10)
    assert ids(found) == ["w", "y", "z", "x"]


def test_scaling_never_hides_what_the_signal_still_saw() -> None:
    """Clamped or rounded to the same score, two chunks keep the order of their own scores, not of paths."""
    unlike = {"semantic": scored(z=-0.25, a=-0.5)}
    for contract in (cfs.Params(mode="semantic"), knowledge.Params()):
        profile = cfs.profile(contract) if isinstance(contract, cfs.Params) else knowledge.profile(contract)
        found = rank(profile, unlike, facts_of("a", "z"), 5)
        assert ids(found) == ["z", "a"] and found[0].score == found[1].score == 0.0
    close = {"lexical": scored(best=2.0, z=2e-13, a=1e-13, worst=-1.0)}
    found = rank(cfs.profile(cfs.Params(mode="lexical")), close, facts_of("best", "z", "a", "worst"), 10)
    assert ids(found) == ["best", "z", "a", "worst"]
    assert steady(found[1].score) == steady(found[2].score)


def test_the_last_bit_of_bm25_decides_nothing() -> None:
    """It comes from the system's logarithm: what differs only there is a tie, and goes by path."""
    profile = cfs.profile(cfs.Params(mode="lexical"))
    for one, other in ((nextafter(0.5, 1), 0.5), (0.5, nextafter(0.5, 1))):
        close = {"lexical": scored(best=2.0, z=one, a=other, worst=-1.0)}
        assert ids(rank(profile, close, facts_of("best", "z", "a", "worst"), 10))[1:3] == ["a", "z"]


def test_rifflux_breaks_ties_by_lexical_rank_then_path() -> None:
    profile = rifflux.profile(rifflux.Params())
    facts = {"t": fact("z.md"), "v": fact("a.md")}
    tied = rank(profile, {"lexical": listed("t"), "semantic": listed("v")}, facts, 10)
    assert ids(tied) == ["t", "v"] and tied[0].score == tied[1].score
    facts = {"p": fact("b.md", 1), "q": fact("b.md", 0), "r": fact("a.md", 5)}
    semantic = rifflux.profile(rifflux.Params(mode="semantic"))
    assert ids(rank(semantic, {"semantic": scored(p=0.5, q=0.5, r=0.5)}, facts, 10)) == ["r", "q", "p"]


def test_mcb_breaks_ties_by_path_line_and_node() -> None:
    profile = replace(MCB, branches=(Branch("lexical", Fetch(), 1.0), Branch("semantic", Fetch(), 1.0)))
    cases = (
        ({"l": fact("b.py", node="1"), "s": fact("a.py", node="2")}, ["2", "1"]),
        ({"l": fact("a.py", line=9, node="1"), "s": fact("a.py", line=8, node="2")}, ["2", "1"]),
        ({"l": fact("a.py", node="2"), "s": fact("a.py", node="1")}, ["1", "2"]),
    )
    for facts, expected in cases:
        assert ids(rank(profile, {"lexical": listed("l"), "semantic": listed("s")}, facts, 20)) == expected


def test_knowledge_breaks_ties_by_id() -> None:
    profile = knowledge.profile(knowledge.Params(search_method="keyword"))
    assert ids(rank(profile, {"lexical": scored(b=2.0, a=2.0, c=3.0)}, facts_of(*"abc"), 5)) == [
        "c",
        "a",
        "b",
    ]


@pytest.mark.requirement("001-AGG-MAX", "001-FINAL-SNIPPET")
def test_a_document_scores_as_its_best_chunk_and_is_shown_by_it() -> None:
    facts = {"low": fact("d", 0), "high": fact("d", 1), "other": fact("e", 0)}
    found = rank(HARNESS, {"lexical": scored(high=9.0, other=5.0, low=1.0)}, facts, 12)
    assert [(item.item_id, item.best_chunk, item.score) for item in found] == [
        ("d", "high", (1 - 0.6) * 1.0),
        ("e", "other", (1 - 0.6) * (5 - 1) / (9 - 1)),
    ]


def test_an_average_runs_over_the_candidate_chunks_of_a_document() -> None:
    profile = harness.profile(harness.Params(doc_agg="avg"))
    facts = {"low": fact("d", 0), "high": fact("d", 1), "unseen": fact("d", 2), "other": fact("e", 0)}
    found = rank(profile, {"lexical": scored(high=9.0, other=6.0, low=1.0)}, facts, 12)
    assert scores(found) == {
        "e": (1 - 0.6) * (6 - 1) / (9 - 1),
        "d": ((1 - 0.6) * 1.0 + (1 - 0.6) * 0.0) / 2,
    }
    assert ids(found) == ["e", "d"]


def test_grouped_by_chunk_the_harness_returns_chunks() -> None:
    profile = harness.profile(harness.Params(group_by="chunk"))
    facts = {"low": fact("d", 0), "high": fact("d", 1)}
    assert ids(rank(profile, {"lexical": scored(high=9.0, low=1.0)}, facts, 12)) == ["high", "low"]


@pytest.mark.requirement("002-FRESH-PENALTY", "002-T-FRESH-1", "002-R-PENALTY")
def test_each_freshness_class_multiplies_the_score_by_its_factor() -> None:
    factors: dict[Freshness, float] = {"Fresh": 1.0, "Acceptable": 0.9, "Stale": 0.7, "StaleWithRisk": 0.5}
    for freshness, factor in factors.items():
        facts = {"x": fact(node="x", freshness=freshness)}
        (item,) = rank(MCB, {"lexical": listed("x")}, facts, 20)
        assert item.freshness_factor == factor
        assert item.score == 1.0 / 60 / ((1.0 + 0.8 + 0.6) / 60) * factor


@pytest.mark.requirement("002-FRESH-RESORT", "002-T-FRESH-2", "002-S-FRESHNESS", "002-RRF-SORT")
@pytest.mark.requirement("002-STEP-5")
def test_a_stale_result_falls_behind_a_fresh_one_that_matched_less() -> None:
    facts = {"stale": fact("a", node="stale", freshness="Stale"), "fresh": fact("b", node="fresh")}
    found = rank(MCB, {"lexical": listed("stale", "fresh")}, facts, 20)
    assert ids(found) == ["fresh", "stale"]
    assert [item.evidence["lexical"].rank for item in found] == [2, 1]


@pytest.mark.requirement("002-FRESH-FLOOR", "002-T-FRESH-3", "002-Q-FLOOR")
def test_the_freshness_floor_drops_what_lies_below_it() -> None:
    order: tuple[Freshness, ...] = ("Fresh", "Acceptable", "Stale", "StaleWithRisk")
    facts = {name: fact(f"{name}.md", node=name, freshness=name) for name in order}
    for at, floor in enumerate(order):
        profile = mcb.profile(mcb.Params(freshness_floor=floor))
        assert ids(rank(profile, {"lexical": listed(*order)}, facts, 20)) == list(order[: at + 1])


def test_a_profile_without_freshness_leaves_scores_alone() -> None:
    facts = {"x": fact(freshness="StaleWithRisk")}
    (item,) = rank(rifflux.profile(rifflux.Params()), {"lexical": listed("x")}, facts, 10)
    assert (item.score, item.freshness_factor) == (1 / (60 + 1), 1.0)


@pytest.mark.requirement("001-V5")
def test_a_document_that_one_signal_missed_can_still_come_first() -> None:
    hits = {"semantic": scored(v=0.9, x=0.1), "lexical": scored(x=9.0, y=1.0)}
    assert ids(rank(HARNESS, hits, facts_of("v", "x", "y"), 12))[0] == "v"


@pytest.mark.requirement("001-EDGE-NO-KEYWORD", "001-EDGE-NO-VECTOR")
@pytest.mark.parametrize("alpha", (0.0, 0.3, 0.6, 1.0))
def test_with_one_leg_empty_the_other_decides_the_order(alpha: float) -> None:
    profile = harness.profile(harness.Params(hybrid_alpha=alpha))
    facts = facts_of("c", "a", "b")
    for signal, weight in (("semantic", alpha), ("lexical", 1 - alpha)):
        found = rank(profile, {signal: scored(c=0.9, a=0.6, b=0.3)}, facts, 12)
        assert ids(found) == ["c", "a", "b"]
        assert found[0].score == weight * 1.0 and found[2].score == 0.0


@given(NAMES, SITUATIONS, st.integers(1, 12), st.randoms(use_true_random=False))
def test_the_order_of_dictionaries_changes_nothing(
    name: str, situation: tuple[Hits, dict[str, Facts]], limit: int, dice: random.Random
) -> None:
    hits, facts = situation
    legs, known = list(hits.items()), list(facts.items())
    dice.shuffle(legs)
    dice.shuffle(known)
    expected = rank(PROFILES[name], hits, facts, limit)
    shuffled = rank(PROFILES[name], dict(legs), dict(known), limit)
    assert repr(shuffled) == repr(expected) and shuffled == expected


@given(NAMES, SITUATIONS, st.integers(1, 12))
def test_the_limit_holds_and_nothing_comes_twice(
    name: str, situation: tuple[Hits, dict[str, Facts]], limit: int
) -> None:
    found = rank(PROFILES[name], *situation, limit)
    assert len(found) <= limit
    assert len(set(ids(found))) == len(found)


@given(NAMES, SITUATIONS, st.integers(1, 12), st.integers(1, 12))
def test_the_first_are_found_without_facts_about_those_that_cannot_be_among_them(
    name: str, situation: tuple[Hits, dict[str, Facts]], limit: int, places: int
) -> None:
    hits, facts = situation
    profile = PROFILES[name]
    near = {one: facts[one] for one in contenders(profile, hits, limit, places)}
    assert rank(profile, hits, near, limit)[:places] == rank(profile, hits, facts, limit)[:places]


def test_only_ties_make_more_contenders_than_places() -> None:
    hits = {"semantic": scored(a=3.0, b=2.0, c=2.0, d=1.0)}
    profile = PROFILES["quintet semantic"]
    assert contenders(profile, hits, 10, 1) == ["a"]
    assert contenders(profile, hits, 10, 2) == contenders(profile, hits, 10, 3) == ["a", "b", "c"]


@pytest.mark.requirement("001-V1", "001-FINAL-SCORE")
@given(
    st.sampled_from([name for name in PROFILES if name.startswith(IN_UNIT)]), SITUATIONS, st.integers(1, 12)
)
def test_scores_promised_in_the_unit_interval_are_in_it(
    name: str, situation: tuple[Hits, dict[str, Facts]], limit: int
) -> None:
    assert all(0.0 <= item.score <= 1.0 for item in rank(PROFILES[name], *situation, limit))


@given(st.sampled_from(("rifflux hybrid", "cfs hybrid")), SITUATIONS, st.integers(1, 12))
def test_rrf_scores_never_exceed_first_in_both_lists(
    name: str, situation: tuple[Hits, dict[str, Facts]], limit: int
) -> None:
    assert all(0.0 < item.score <= 2 / (60 + 1) for item in rank(PROFILES[name], *situation, limit))


@given(NAMES, SITUATIONS, st.integers(1, 12))
def test_contributions_and_freshness_make_the_score(
    name: str, situation: tuple[Hits, dict[str, Facts]], limit: int
) -> None:
    if name.startswith("harness average"):  # the average is over chunks of which only the best is shown
        return
    for item in rank(PROFILES[name], *situation, limit):
        total = add_up(seen.contribution for seen in item.evidence.values())
        assert item.score == total * item.freshness_factor


@given(NAMES, SITUATIONS, st.integers(1, 12))
def test_scores_fall_and_only_the_lead_may_break_that(
    name: str, situation: tuple[Hits, dict[str, Facts]], limit: int
) -> None:
    hits, facts = situation
    found = [steady(item.score) for item in rank(PROFILES[name], hits, facts, limit)]
    if "average" not in name:
        assert found == sorted(found, reverse=True)


@given(NAMES, SITUATIONS)
def test_a_longer_list_begins_with_the_shorter_one_where_depth_is_constant(
    name: str, situation: tuple[Hits, dict[str, Facts]]
) -> None:
    profile = PROFILES[name]
    if any(branch.fetch.times for branch in profile.branches):
        profile = replace(
            profile, branches=tuple(replace(one, fetch=Fetch(0, at_least=9)) for one in profile.branches)
        )
    assert rank(profile, *situation, 3) == rank(profile, *situation, 12)[:3]
