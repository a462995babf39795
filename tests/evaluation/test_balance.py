"""How much say a signal has: none where all agree, all where it decides alone, a half where two are equal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.contracts import mcb
from quintet.evaluation.balance import MOST, Influence, agreement, dominating, influences, share, shares
from quintet.model.results import Hit, Signal
from quintet.ranking import Branch, Fetch, Profile, Rrf
from ranking.material import facts_of, listed

MCB = mcb.profile(mcb.Params())
RANKINGS = st.lists(st.sampled_from("abcdefghijklmno"), unique=True, max_size=10)


def say(profile: Profile, **hits: list[Hit]) -> dict[Signal, Influence]:
    named: dict[Signal, list[Hit]] = {
        branch.signal: hits[branch.signal] for branch in profile.branches if branch.signal in hits
    }
    return influences(
        profile, named, facts_of(*(hit.chunk_id for found in hits.values() for hit in found)), 20
    )


def weighing(lexical: float, semantic: float) -> Profile:
    branches = (Branch("lexical", Fetch(), lexical), Branch("semantic", Fetch(), semantic))
    return Profile(branches, Rrf(), ("path",))


def test_agreement_is_the_mean_of_what_each_depth_shares() -> None:
    assert agreement(["a", "b", "c"], ["b", "a", "d"]) == pytest.approx((0 / 1 + 2 / 2 + 2 / 3) / 3)


def test_what_a_short_list_lacks_counts_as_different() -> None:
    assert agreement(["a", "b"], ["a"]) == pytest.approx((1 / 1 + 1 / 2) / 2)
    assert agreement([], ["a"]) == 0.0


@given(RANKINGS, RANKINGS)
def test_agreement_is_mutual_and_whole_for_the_same_list_only(one: list[str], other: list[str]) -> None:
    assert agreement(one, other) == agreement(other, one)
    assert 0 <= agreement(one, other) <= 1
    assert (agreement(one, other) == 1) == (one == other)


def test_signals_that_agree_leave_nothing_to_decide() -> None:
    found = say(MCB, lexical=listed("a", "b", "c"), semantic=listed("a", "b", "c"))
    assert found == {"lexical": Influence(0, 0), "semantic": Influence(0, 0)}
    assert shares([found]) == {"lexical": 0.0, "semantic": 0.0}
    assert dominating([found]) == []


def test_of_two_lists_without_a_common_result_the_heavier_decides_alone() -> None:
    found = say(MCB, lexical=listed(*"abcdefghij"), semantic=listed(*"klmnopqrst"))
    assert found["lexical"] == Influence(own=1.0, others=0.0)
    assert dominating([found]) == ["lexical"]


def test_two_signals_divide_the_say_between_them() -> None:
    found = [
        say(MCB, lexical=listed(*"abcdef"), semantic=listed(*"fedxyz")),
        say(MCB, lexical=listed(*"abcdef"), semantic=listed(*"xbycza")),
    ]
    assert sum(shares(found).values()) == pytest.approx(1)
    assert 0 < shares(found)["semantic"] < shares(found)["lexical"] < 1


def test_the_say_grows_with_the_weight() -> None:
    lists = {"lexical": listed(*"abcdefghij"), "semantic": listed(*"jxhyfzdwbv")}
    found = [share([say(weighing(weight, 1.0), **lists)["lexical"]]) for weight in (0.01, 0.5, 1, 2, 100)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, 1)


def test_a_query_that_one_signal_alone_answers_has_nothing_to_fuse() -> None:
    assert say(MCB, lexical=listed("a", "b"), semantic=[]) == {}
    assert say(MCB, semantic=listed("a", "b")) == {}


def test_twice_the_say_of_all_others_is_allowed_and_more_is_not() -> None:
    assert share([Influence(0.4, 0.2)]) == pytest.approx(MOST)
    assert dominating([{"lexical": Influence(0.5, 0.25)}]) == []
    assert dominating([{"lexical": Influence(0.51, 0.25)}]) == ["lexical"]
