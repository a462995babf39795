"""How sure the house ranking is of its first result, and when it does not know."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from math import exp
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quintet
from contracts.fixed import FixedEmbedder, circle, codes, ladder, results, write
from quintet.contracts.confidence import (
    FITTED,
    LOW,
    Calibration,
    Signs,
    confidence,
    covered,
    low_confidence,
    signs,
)
from quintet.contracts.contract import Answer
from quintet.contracts.intent import QueryIntent, read_intent
from quintet.embed.models import MODELS, OLDER
from quintet.model.documents import Chunk, Document, Passage
from quintet.model.results import Evidence, Ranked

GRANITE = MODELS["granite"].identity
FAR = (1.0, 3.0)
ASKED = read_intent("cache ttl")


class Granite(FixedEmbedder):
    """Vectors by hand under the name of the model that was fitted."""

    identity = GRANITE


Shelf = Callable[..., quintet.Index]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """Indexes of a ladder of files; the nearest to the query `word` comes first."""
    with ExitStack() as stack:

        def make(count: int = 15, vectors: Mapping[str, Any] | None = None) -> quintet.Index:
            files = ladder(count)
            files["f000.txt"] = "word word"  # `word` alone is the query
            place = tmp_path / str(count)
            embedder = Granite(circle(list(files.values())) if vectors is None else vectors)
            index = stack.enter_context(quintet.open(place / "index", embedder=embedder))
            index.sync([write(place / "shelf", files)])
            return index

        yield make


def evidence(raw: float) -> Evidence:
    return Evidence(1, 1, raw, raw, raw, 1.0, raw)


def passage(text: str, path: str = "a.py", heading: str = "") -> Passage:
    document = Document("docs", path, "", "text/plain", "", 1, 0, "")
    return Passage(Chunk("0", document.id, 0, text, heading, 1, 1, "text", ""), document)


def ten(first: float = 0.9, last: float = 0.5) -> list[Ranked]:
    scores = [first, *[last] * 9]
    return [Ranked(str(at), score, str(at), {"semantic": evidence(score)}) for at, score in enumerate(scores)]


def answered(best: list[Ranked], text: str = "the ttl of a cache", embedder: str = GRANITE) -> Answer:
    return Answer(best[:1], {"0": passage(text)}, {}, {}, embedder, best)


def test_the_fitted_models_are_those_that_are_shipped() -> None:
    assert set(FITTED) == {GRANITE, OLDER["granite-1"].identity}


def test_confidence_is_the_logistic_function_of_its_signs(shelf: Shelf) -> None:
    body: Any = shelf().search("word").body
    fitted, found = FITTED[GRANITE], body["results"]
    cosine, lead = found[0]["signals"]["semantic"]["raw"], found[0]["score"] - found[9]["score"]
    odds = fitted.intercept + fitted.cosine * cosine + fitted.cover * 1.0 + fitted.lead * lead
    assert body["confidence"] == round(1 / (1 + exp(-odds)), 3)
    assert list(body) == ["query", "mode", "confidence", "results"]


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_probability_stays_in_range_and_grows_with_each_sign(
    cosine: float, cover: float, lead: float, more: float
) -> None:
    for fitted in FITTED.values():
        here = fitted.probability(Signs(cosine, cover, lead))
        assert 0 <= here <= 1
        assert fitted.probability(Signs(cosine + more, cover, lead)) >= here
        assert fitted.probability(Signs(cosine, cover + more, lead)) >= here
        assert fitted.probability(Signs(cosine, cover, lead + more)) >= here
        assert fitted.probability(Signs(cosine, cover, lead, more)) <= here


@pytest.mark.parametrize(
    ("query", "text", "share"),
    [
        ("cache ttl", "the TTL of a cache", 1.0),
        ("cache ttl", "time to live", 0.0),
        ("cached entries", "it caches one entry", 1.0),  # endings may differ
        ("configuration entries", "configure one entry", 1 / 2),  # by three letters at most
        ("log", "logs", 1.0),
        ("logs", "log", 1.0),
        ("log", "logical", 0.0),
        ("HTTPAdapter", "class HTTPAdapter", 1.0),
        ("qzxv wjfk", "class HTTPAdapter", 0.0),
    ],
)
def test_a_passage_covers_the_words_that_it_holds(query: str, text: str, share: float) -> None:
    assert covered(read_intent(query).words, passage(text)) == share


def test_headings_and_paths_cover_words_too() -> None:
    assert covered(("cache",), passage("", path="src/cache.py")) == 1.0
    assert covered(("cache",), passage("", heading="Settings > Cache")) == 1.0


def test_a_name_that_the_first_result_does_not_define_is_doubted() -> None:
    best = ten()
    defining = best[0]._replace(evidence={**best[0].evidence, "definition": evidence(0.7)})
    symbol: QueryIntent = read_intent("CacheStore")
    assert signs(symbol, answered(best)) == Signs(0.9, 1 / 2, 0.9 - 0.5, 1.0)
    assert signs(symbol, answered([defining, *best[1:]])) == Signs(0.9, 1 / 2, 0.9 - 0.5, 1.0 - 0.7)
    assert signs(ASKED, answered([defining, *best[1:]])) == Signs(0.9, 1.0, 0.9 - 0.5), "words, no name"


def test_the_limit_changes_nothing(shelf: Shelf) -> None:
    index = shelf()
    found = {limit: index.search("word", limit=limit) for limit in (1, 3, 10, 16)}
    assert [len(results(one)) for one in found.values()] == [1, 3, 10, 15]
    assert len({one.body["confidence"] for one in found.values()}) == 1
    assert found[1].body["confidence"] is not None
    assert all(len(one.answer.best) == 10 for one in found.values() if one.answer)


@pytest.mark.parametrize(
    "params",
    [
        {"mode": "lexical"},
        {"mode": "semantic"},
        {"semantic_weight": 0.5},
        {"heading_weight": 1.0},
        {"half_score": 30.0},
        {"feedback": 0.0},
        {"syntax": "fts5"},
    ],
)
def test_scores_made_in_another_way_say_nothing_about_it(shelf: Shelf, params: dict[str, Any]) -> None:
    response = shelf().search("word", **params)
    assert len(results(response)) == 10
    assert response.body["confidence"] is None
    assert "low_confidence" not in codes(response)


def test_fewer_than_ten_results_say_nothing_about_it(shelf: Shelf) -> None:
    assert shelf(9).search("word").body["confidence"] is None
    index = shelf(10)
    assert index.search("word").body["confidence"] is not None
    nine = index.search("word", filters={"not": {"path": "f003.txt"}})
    assert (len(results(nine)), nine.body["confidence"]) == (9, None)
    assert signs(ASKED, answered([])) is None


def test_one_result_without_a_vector_makes_the_lead_meaningless() -> None:
    whole = ten()
    assert signs(ASKED, answered(whole)) == Signs(0.9, 1.0, 0.9 - 0.5)
    blind = Ranked("9", 0.5, "9", {"lexical": evidence(0.5)})
    assert signs(ASKED, answered([*whole[:9], blind])) is None


def test_another_embedder_says_nothing_about_it() -> None:
    assert confidence(ASKED, answered(ten())) is not None
    assert confidence(ASKED, answered(ten(), embedder="hash-384")) is None


def test_a_query_without_a_word_has_no_confidence() -> None:
    assert confidence(read_intent("$$$"), answered(ten())) is None


def test_a_query_without_an_embedding_says_nothing_about_it(shelf: Shelf) -> None:
    response = shelf(vectors={"word": None}).search("word")
    assert (response.status, response.body["confidence"]) == ("degraded", None)


def test_low_confidence_is_noted_with_the_number_and_what_to_do(shelf: Shelf) -> None:
    texts = ["word word", *list(ladder(15).values())[1:]]
    response = shelf(vectors={"word": (1.0, 0.0), **dict.fromkeys(texts, FAR)}).search("word", limit=2)
    known = response.body["confidence"]
    assert isinstance(known, float) and known < LOW
    (note,) = response.notes
    assert note["code"] == "low_confidence"
    assert f"only a {100 * known:g} % chance" in note["message"]
    assert "use other words, or check that it is indexed" in note["message"]


def test_a_sure_answer_has_no_note(shelf: Shelf) -> None:
    texts = ["word word", *list(ladder(15).values())[1:]]
    near = {"word": (1.0, 0.0), **dict.fromkeys(texts, FAR), texts[4]: (1.0, 0.01)}
    response = shelf(vectors=near).search("word")
    known = response.body["confidence"]
    assert isinstance(known, float) and known > 0.9
    assert codes(response) == []


@pytest.mark.parametrize(("known", "noted"), [(None, 0), (0.0, 1), (LOW - 0.001, 1), (LOW, 0), (1.0, 0)])
def test_the_note_is_for_what_lies_below_the_threshold(known: float | None, noted: int) -> None:
    assert len(low_confidence(known)) == noted


def test_a_receipt_stays_the_same_whatever_the_table_holds(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = shelf()
    before, receipt = index.receipts.search("word")
    monkeypatch.setitem(FITTED, GRANITE, Calibration(0.0, 0.0, 0.0, 0.0, 0.0))
    assert index.search("word").body["confidence"] == 0.5 != before.body["confidence"]
    assert index.receipts.verify(receipt).identical
