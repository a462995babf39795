"""Full text through tantivy: it finds what FTS5 finds, and its scores hang on the texts alone."""

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.errors import MissingExtra
from quintet.model.text_query import TextQuery
from quintet.storage.sqlite.store import SqliteStore
from quintet.storage.text.tantivy.doctor import speed_check

if TYPE_CHECKING:
    from conftest import MakeShelf, Shelf

WORDS = [f"w{number}" for number in range(40)]
TEXTS = {
    "caches.md": "The caches were cached again, local-first.",
    "code.py": "def getUserName(): return HTTPServer.cached_value",
    "japanese.txt": "全文検索エンジンの仕組み, and café",
    "chinese.txt": "使用Python编写的搜索引擎",
    "plain.txt": "user name of the server",
    "phrase.txt": "name of the user; the value cached",
}


@pytest.fixture
def shelf(make_shelf: "MakeShelf") -> "Shelf":
    return make_shelf("tantivy")


@pytest.fixture
def other(make_shelf: "MakeShelf") -> "Shelf":
    return make_shelf("tantivy")


@pytest.fixture(scope="module")
def both(make_shelf: "MakeShelf") -> tuple["Shelf", "Shelf"]:
    """The same texts under FTS5 and under tantivy."""
    made = make_shelf("fts5"), make_shelf("tantivy")
    for one in made:
        one.put(TEXTS, title="Guide to caching", heading="The Server > userName")
    return made


def _texts(seed: int, count: int = 200) -> dict[str, str]:
    chance = random.Random(seed)
    weights = [1 / (place + 1) for place in range(len(WORDS))]
    return {
        f"{number:03d}.txt": " ".join(chance.choices(WORDS, weights, k=chance.randint(1, 60)))
        for number in range(count)
    }


TERMS = st.sampled_from(
    [
        *(
            "cached",
            "caching",
            "user",
            "getUserName",
            "local-first",
            "検索",
            "索",
            "CAFE",
            "the",
            "HTTPServer",
        ),
        *("cached_value", "编写", "引", "server", "guide", "name of", "用Python编", "nothing", "userName"),
    ]
)


@pytest.mark.requirement("002-PORT-TANTIVY")
@given(
    terms=st.lists(TERMS, max_size=4),
    phrases=st.lists(TERMS, max_size=2),
    required=st.booleans(),
    parts=st.booleans(),
    stems=st.booleans(),
)
def test_it_finds_what_fts5_finds_and_in_the_same_fields(
    both: tuple["Shelf", "Shelf"],
    terms: list[str],
    phrases: list[str],
    required: bool,
    parts: bool,
    stems: bool,
) -> None:
    query = TextQuery(tuple(terms), tuple(phrases), required, parts, stems)
    answers = []
    for one in both:
        with one.store.snapshot() as snapshot:
            ids = sorted(hit.chunk_id for hit in snapshot.text.search(query, 100))
            answers.append((ids, snapshot.text.matched_fields(query, ids)))
    assert answers[0] == answers[1]


def test_the_doctor_finds_every_chunk_by_its_words(both: tuple["Shelf", "Shelf"]) -> None:
    speed, sound = (one.store.examine()[-1] for one in both)
    assert (speed.name, speed.ok, sound.name, sound.ok) == ("speed", True, "tantivy", True)
    assert sound.message == f"{len(TEXTS)} chunks, as in the database"
    assert speed.message == f"Quintet's postings score text, which is fast with {len(TEXTS)} chunks"


def test_the_doctor_names_tantivy_only_where_it_pays() -> None:
    assert speed_check(100_000, 1.49).message.endswith("a query of 5 words takes 1.5 ms in 100000 chunks")
    assert speed_check(1_000_000, 5.18).message.endswith(
        "a query of 5 words takes 5.2 ms in 1000000 chunks; "
        "text_index = 'tantivy' would start faster and use less memory"
    )


@pytest.mark.parametrize("terms", [("w1",), ("w0", "w7", "w30"), ("w3 w4", "w9"), tuple(WORDS)])
def test_scores_do_not_hang_on_the_order_or_the_number_of_runs(
    shelf: "Shelf", other: "Shelf", terms: tuple[str, ...]
) -> None:
    texts = _texts(1)
    shelf.put(texts)
    shuffled = list(texts.items())
    random.Random(2).shuffle(shuffled)
    for start in range(0, len(shuffled), 30):
        other.put(dict(shuffled[start : start + 30]))
    expected = shelf.scores(TextQuery(terms))
    assert expected
    assert list(other.scores(TextQuery(terms)).items()) == list(expected.items())
    assert other.scores(TextQuery(terms[::-1])) == expected


def test_what_was_replaced_or_removed_leaves_no_trace(shelf: "Shelf", other: "Shelf") -> None:
    final = _texts(4)
    shelf.put(final)
    other.put(_texts(5, 230))
    other.remove(*(f"{number:03d}.txt" for number in range(200, 230)))
    other.put(final)
    query = TextQuery(("w1", "w7", "w30"))
    assert other.scores(query) == shelf.scores(query)


def test_a_tie_over_the_cut_goes_by_path_whenever_the_texts_came(shelf: "Shelf") -> None:
    names = [f"{number:03d}.txt" for number in range(120)]
    random.Random(1).shuffle(names)
    for start in range(0, 120, 40):
        shelf.put(dict.fromkeys(names[start : start + 40], "one two three"))
    assert list(shelf.scores(TextQuery(("two", "three", "one")), 3)) == ["000.txt", "001.txt", "002.txt"]


def test_a_phrase_does_not_reach_from_one_field_into_the_next(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "ends in blue"}, heading="green field", title="yellow house")
    assert shelf.find("blue green") == shelf.find("field yellow") == []
    assert shelf.find("green field") == shelf.find("yellow house") == ["a.txt"]


def test_weights_lift_the_fields_they_are_given_to(shelf: "Shelf") -> None:
    shelf.put({"content.txt": "a cache", "other.txt": "some text"}, title="")
    shelf.put({"title.txt": "some text"}, title="cache")
    for stems in (False, True):
        for heavy, first in (("title", "title.txt"), ("content", "content.txt")):
            weighed = TextQuery(("cache",), stems=stems, field_weights=((heavy, 3.0),))
            assert next(iter(shelf.scores(weighed))) == first
    no_title = TextQuery(("cache",), field_weights=(("title", 0.0),))
    assert shelf.scores(no_title)["title.txt"] == 0.0


def test_equal_weights_scale_every_score(shelf: "Shelf") -> None:
    shelf.put(_texts(6), title="w1")
    plain = shelf.scores(TextQuery(("w1", "w7")))
    twice = TextQuery(("w1", "w7"), field_weights=(("content", 2.0), ("heading_path", 2.0), ("title", 2.0)))
    gained = 2 * (1.2 + 1) / (2 + 1.2)  # a word that counts twice, as BM25 saturates it
    assert shelf.scores(twice) == pytest.approx({path: gained * score for path, score in plain.items()})


@pytest.mark.parametrize("share", [2, 50, 200])
def test_a_filter_changes_no_score_whether_it_lets_much_or_little_through(shelf: "Shelf", share: int) -> None:
    shelf.put(_texts(7, 400))
    query = TextQuery(("w0", "w1", "w7"))
    with shelf.store.snapshot() as snapshot:
        everything = snapshot.text.search(query, 1_000)
        rows = np.arange(1, 401, share, dtype=np.int64)
        allowed = {hit.chunk_id for hit in snapshot.text.search(query, 1_000, rows)}
        assert 0 < len(allowed) <= len(rows)
        expected = [hit for hit in everything if hit.chunk_id in allowed]
        assert snapshot.text.search(query, 5, rows) == expected[:5]
        asked = [hit.chunk_id for hit in everything[::-7]]
        assert snapshot.text.scores(query, asked) == {hit.chunk_id: hit.score for hit in everything[::-7]}


def test_scores_that_must_be_fts5s_own_are(make_shelf: "MakeShelf", shelf: "Shelf") -> None:
    exact = make_shelf("fts5")
    exact.put(_texts(8))
    shelf.put(_texts(8))
    query = TextQuery(("w1", "w7"), exact_bm25=True)
    assert shelf.scores(query) == exact.scores(query) != shelf.scores(TextQuery(("w1", "w7")))
    language = TextQuery(expression="w1 NOT w2")
    assert shelf.scores(language) == exact.scores(language)


def test_rare_words_are_ordered_much_as_fts5_orders_them(make_shelf: "MakeShelf", shelf: "Shelf") -> None:
    """Tantivy's idf is log(1 + x) where FTS5's is log(x): only for common words is that much."""
    exact = make_shelf("fts5")
    exact.put(_texts(9))
    shelf.put(_texts(9))
    for terms in (("w20",), ("w30", "w31", "w32")):
        ours, theirs = (list(one.scores(TextQuery(terms), 10)) for one in (shelf, exact))
        assert len(set(ours) & set(theirs)) >= 9


def test_without_the_package_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tantivy", None)
    with pytest.raises(MissingExtra, match=r"pip install 'quintet\[tantivy\]'"):
        SqliteStore(tmp_path / "index", text_index="tantivy")
