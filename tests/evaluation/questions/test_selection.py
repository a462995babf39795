"""Which questions are taken, and in which order."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from quintet.evaluation.questions.selection import KINDS, Kind, Question, in_turn, spread, unambiguous


def questions(kind: Kind, count: int, places: int = 1) -> list[Question]:
    return [Question(kind, f"{kind} number {at}", f"place {at % places}", ()) for at in range(count)]


@given(st.lists(st.integers(0, 8), min_size=4, max_size=4), st.integers(1, 20))
def test_kinds_share_evenly_and_what_one_lacks_others_give(sizes: list[int], count: int) -> None:
    given_ones = {kind: questions(kind, size) for kind, size in zip(KINDS, sizes, strict=True)}
    taken = in_turn({kind: iter(them) for kind, them in given_ones.items()}, count)
    assert len(taken) == min(count, sum(sizes))
    shares = {kind: sum(one.kind == kind for one in taken) for kind in KINDS}
    for kind, size in zip(KINDS, sizes, strict=True):
        assert shares[kind] == size or shares[kind] >= max(shares.values()) - 1


def test_no_question_is_taken_that_will_not_be_asked() -> None:
    """Taking one cuts it out of its document."""
    seen: list[Question] = []

    def watched(kind: Kind) -> Iterator[Question]:
        for one in questions(kind, 5):
            seen.append(one)
            yield one

    assert in_turn({kind: watched(kind) for kind in KINDS}, 6) == seen and len(seen) == 6


@given(st.integers(1, 6), st.integers(1, 30), st.integers(0, 3))
def test_every_place_is_asked_once_before_any_is_asked_twice(places: int, count: int, seed: int) -> None:
    ordered = spread(questions("heading", count, places), seed)
    assert sorted(one.text for one in ordered) == sorted(one.text for one in questions("heading", count))
    first = [one.place for one in ordered[: min(places, count)]]
    assert len(set(first)) == len(first)
    assert spread(list(reversed(ordered)), seed) == ordered


def test_the_same_words_twice_are_asked_for_neither_target() -> None:
    same = [Question("heading", "The End", "a", ()), Question("commit", "the end", "b", ())]
    other = Question("heading", "The ends", "a", ())
    assert unambiguous([*same, other]) == [other]
