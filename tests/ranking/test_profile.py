"""How deep a signal is asked, and profiles as data."""

import pytest

from quintet.model.results import Hit
from quintet.ranking import Branch, Fetch, Profile, Rrf, Saturating, WeightedSum
from ranking.material import PROFILES


def test_a_fetch_multiplies_the_limit() -> None:
    assert Fetch(times=2).depth(10) == 2 * 10


def test_a_fetch_stays_between_its_bounds() -> None:
    over_fetch = Fetch(3, at_least=10, at_most=50)
    assert [over_fetch.depth(limit) for limit in (1, 3, 4, 16, 17, 40)] == [10, 10, 3 * 4, 3 * 16, 50, 50]


def test_a_fetch_that_covers_the_limit_never_falls_below_it() -> None:
    assert Fetch(3, at_least=10, at_most=50, covers_limit=True).depth(51) == 51
    assert Fetch(3, at_least=10, at_most=50, covers_limit=False).depth(51) == 50


def test_a_fetch_that_ignores_the_limit_is_constant() -> None:
    assert {Fetch(times=0, at_least=20).depth(limit) for limit in (1, 10, 1000)} == {20}


def test_a_profile_finds_its_branch_by_signal() -> None:
    branch = Branch("semantic", Fetch())
    profile = Profile((Branch("lexical", Fetch()), branch), WeightedSum(), ("path",))
    assert profile.branch("semantic") is branch
    assert profile.branch("graph") is None


@pytest.mark.parametrize("name", PROFILES)
def test_the_text_of_a_profile_rebuilds_it(name: str) -> None:
    known = (Profile, Branch, Fetch, Rrf, Saturating, WeightedSum)
    names = {one.__name__: one for one in known}
    assert eval(repr(PROFILES[name]), names) == PROFILES[name]


def test_profiles_that_say_the_same_are_the_same() -> None:
    assert len({repr(profile) for profile in PROFILES.values()}) == len(set(PROFILES.values()))
    assert Hit("a", 1.0, -1.0) == Hit("a", 1.0, -1.0) != Hit("a", 1.0, -2.0)
