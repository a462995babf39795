"""What the other chunks of a document say about a chunk."""

import pytest

from quintet.model.results import Facts, Hit
from quintet.ranking import Branch, Fetch, Profile, WeightedSum, rank
from quintet.ranking.gather import FADING, OTHERS

ALL = Fetch(times=0, at_least=100)


def profile(*, agreement: float | None = None, repeat: float = 1.0) -> Profile:
    others = () if agreement is None else (Branch("agreement", ALL, agreement, complete=True),)
    return Profile((Branch("lexical", ALL), *others), WeightedSum(), ("path", "chunk_id"), repeat=repeat)


def facts(*, code: bool = True, **documents: str) -> dict[str, Facts]:
    return {
        chunk: Facts(document, document, 0, 1, 0, chunk, "Fresh", "", "function", "", code)
        for chunk, document in documents.items()
    }


def hits(**scores: float) -> list[Hit]:
    return [Hit(chunk, score, score) for chunk, score in sorted(scores.items(), key=lambda item: -item[1])]


def ranked(profile: Profile, scores: dict[str, float], known: dict[str, Facts]) -> dict[str, float]:
    return {item.item_id: item.score for item in rank(profile, {"lexical": hits(**scores)}, known, 100)}


def test_the_other_chunks_of_a_file_lift_all_of_its_chunks() -> None:
    known = facts(a1="a", a2="a", a3="a", b1="b", weakest="c")
    scores = {"a1": 0.5, "a2": 0.4, "a3": 0.3, "b1": 0.5, "weakest": 0.1}
    lifted = 0.2 * ((0.4 - 0.1) + FADING * (0.3 - 0.1))
    found = ranked(profile(agreement=0.2), scores, known)
    assert found == pytest.approx(
        {"a1": 0.5 + lifted, "a2": 0.4 + lifted, "a3": 0.3 + lifted, "b1": 0.5, "weakest": 0.1}
    )


def test_only_so_many_chunks_of_a_file_count() -> None:
    known = facts(**{f"a{at}": "a" for at in range(20)}, b="b")
    scores = {f"a{at}": 1.0 for at in range(20)} | {"b": 0.0}
    found = ranked(profile(agreement=1.0), scores, known)
    assert found["a0"] == pytest.approx(1 + sum(FADING**at for at in range(OTHERS)))


def test_a_long_page_of_prose_is_no_better_than_a_short_one() -> None:
    known = facts(code=False, a1="a", a2="a", b="b")
    scores = {"a1": 0.5, "a2": 0.4, "b": 0.1}
    assert ranked(profile(agreement=0.2), scores, known) == scores


def test_each_further_chunk_of_a_document_keeps_a_share_of_its_score() -> None:
    known = facts(a1="a", a2="a", a3="a", b="b")
    scores = {"a1": 1.0, "a2": 0.9, "a3": 0.8, "b": 0.5}
    items = rank(profile(repeat=0.5), {"lexical": hits(**scores)}, known, 10)
    assert [item.item_id for item in items] == ["a1", "b", "a2", "a3"]
    assert [item.score for item in items] == pytest.approx([1.0, 0.5, 0.9 / 2, 0.8 / 4])
    lowered = items[2].evidence["diversity"]
    assert (lowered.contribution, lowered.of) == (pytest.approx(-0.9 / 2), 2)


def test_a_score_below_zero_does_not_rise_by_being_repeated() -> None:
    known = facts(a1="a", a2="a")
    assert ranked(profile(repeat=0.5), {"a1": 1.0, "a2": -1.0}, known) == {"a1": 1.0, "a2": -1.0}


def test_a_chunk_that_nothing_is_known_about_is_left_out() -> None:
    known = facts(a1="a", b1="b")
    order = rank(profile(repeat=0.5), {"lexical": hits(unknown=0.9, a1=0.5, b1=0.4)}, known, 1)
    assert [item.item_id for item in order] == ["a1"]
