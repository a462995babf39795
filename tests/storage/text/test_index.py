"""Full text: the scores are SQLite's own, the order is total, and every script can be found."""

import random
from math import log
from typing import TYPE_CHECKING

import apsw
import pytest

from quintet.errors import UsageError
from quintet.model.filters import Condition, Filter
from quintet.model.text_query import TextQuery
from quintet.storage.sqlite.migrations import UNICODE

if TYPE_CHECKING:
    from conftest import Shelf

WORDS = [f"w{number}" for number in range(40)]


def _texts(seed: int, count: int = 200) -> dict[str, str]:
    chance = random.Random(seed)
    weights = [1 / (place + 1) for place in range(len(WORDS))]
    return {
        f"{number:03d}.txt": " ".join(chance.choices(WORDS, weights, k=chance.randint(1, 60)))
        for number in range(count)
    }


def _sqlite(
    texts: dict[str, str], expression: str, *, title: str = "", weights: str = "1.0"
) -> dict[str, float]:
    """What SQLite says of a plain FTS5 table of its own."""
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5 (content, heading_path, title, {UNICODE})")
    connection.executemany("INSERT INTO t VALUES (?, '', ?)", ((text, title) for text in texts.values()))
    paths = list(texts)
    rows = connection.execute(f"SELECT rowid, bm25(t, {weights}) FROM t WHERE t MATCH ?", (expression,))
    return {paths[row - 1]: score for row, score in rows}


QUERIES = [
    ("w0",),
    ("w39",),
    ("w1", "w7", "w30"),
    ("w3 w4",),
    ("w5-w6", "w9"),
    tuple(WORDS[:20]),
    ("nowhere", "w2"),
]


@pytest.mark.parametrize("terms", QUERIES)
def test_bm25_is_sqlites_own(shelf: "Shelf", terms: tuple[str, ...]) -> None:
    texts = _texts(1)
    shelf.put(texts)
    expression = " OR ".join(f'"{term}"' for term in terms)
    found = shelf.scores(TextQuery(terms))
    assert found == _sqlite(texts, expression)
    assert list(found) == sorted(found, key=lambda path: (found[path], path))


def test_bm25_counts_the_words_of_title_and_heading(shelf: "Shelf") -> None:
    texts = _texts(2)
    shelf.put(texts, title="a long title of many words")
    expected = _sqlite(texts, '"w1" OR "w7"', title="a long title of many words")
    assert shelf.scores(TextQuery(("w1", "w7"))) == expected


def test_bm25_of_the_content_alone_is_that_of_a_table_without_title_and_heading(shelf: "Shelf") -> None:
    texts = _texts(2)
    shelf.put(texts | {"gone.txt": "w1 w1 w1", "titled.txt": "nothing of it"}, title="w1 w7 and more")
    shelf.remove("gone.txt")
    shelf.put({"titled.txt": "nothing of it"}, title="w1")
    for terms in QUERIES:
        found = shelf.scores(TextQuery(terms, content_only=True))
        expression = " OR ".join(f'"{term}"' for term in terms)
        assert found == _sqlite(texts | {"titled.txt": "nothing of it"}, expression)


def test_a_phrase_that_is_required_in_the_content_is_not_found_in_a_title(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "w1 here"}, title="w2 w3")
    shelf.put({"b.txt": "w1 w2 w3"}, title="other")
    shelf.put({f"{n}.txt": "nothing" for n in range(9)})
    query = TextQuery(("w1",), ("w2 w3",), phrases_required=True)
    assert sorted(shelf.scores(query)) == ["a.txt", "b.txt"]
    alone = TextQuery(("w1",), ("w2 w3",), phrases_required=True, content_only=True)
    assert list(shelf.scores(alone)) == ["b.txt"]
    with shelf.store.snapshot() as snapshot:
        ids = [hit.chunk_id for hit in snapshot.text.search(query, 9)]
        assert list(snapshot.text.scores(alone, ids)) == [snapshot.text.search(alone, 9)[0].chunk_id]
        fields = snapshot.text.matched_fields(alone, ids)
        assert sorted(fields.values()) == [["content"], ["content"]]


def test_field_weights_are_sqlites_own(shelf: "Shelf") -> None:
    texts = _texts(3)
    shelf.put(texts, title="w1 w2")
    weights = (("content", 0.00001), ("title", 3.5))
    found = shelf.scores(TextQuery(("w1", "w7"), field_weights=weights))
    expected = _sqlite(texts, '"w1" OR "w7"', title="w1 w2", weights="0.00001, 1.0, 3.5")
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.requirement("002-PORT-FIELD-WEIGHTS")
@pytest.mark.parametrize(
    ("table", "term", "expression", "among_all"),
    [
        ("parts", "user", '"user"', 1.0),
        ("parts", "userName", '"user name"', 1.0),
        # All five chunks with CJK hold the term, of 60 chunks.
        ("cjk", "検索", '"検索"', log((60 - 5 + 0.5) / (5 + 0.5)) / 1e-6),
    ],
)
def test_field_weights_of_parts_and_cjk_are_sqlites_own(
    shelf: "Shelf", table: str, term: str, expression: str, among_all: float
) -> None:
    shelf.put(
        {f"{n:02d}.txt": "getUserName 検索 " * n + "pad " * 3 * n for n in range(5)}, title="userId 検索"
    )
    shelf.put({f"{n:02d}.txt": "nothing of it" for n in range(5, 60)})
    weights = (("content", 0.25), ("title", 3.5))
    with shelf.store.snapshot() as snapshot:
        rows = snapshot.text._connection.execute(
            f"SELECT c.id, bm25({table}, 0.25, 1.0, 3.5) FROM {table} JOIN chunks c ON c.row = {table}.rowid "
            f"WHERE {table} MATCH ?",
            (expression,),
        )
        expected = {chunk_id: score * among_all for chunk_id, score in rows}
        found = snapshot.text.search(TextQuery((term,), parts=table == "parts", field_weights=weights), 100)
    assert {hit.chunk_id: hit.raw for hit in found} == pytest.approx(expected, rel=1e-12)
    assert len(expected) >= 4


def test_the_way_a_text_came_into_the_index_does_not_matter(shelf: "Shelf", other: "Shelf") -> None:
    final = _texts(4)
    shelf.put(final)

    chance = random.Random(5)
    paths = list(final)
    other.put(_texts(6, 260))  # other texts under the same names, and sixty more
    for _ in range(6):
        portion = chance.sample(paths, 37)
        other.remove(*portion)
        other.put({path: final[path] for path in portion})
    other.put({path: final[path] for path in chance.sample(paths, len(paths))})
    other.remove(*(f"{number:03d}.txt" for number in range(200, 260)))

    for terms in QUERIES:
        for parts in (False, True):
            query = TextQuery(terms, parts=parts)
            assert shelf.hits(query) == other.hits(query)


def test_a_search_to_any_depth_is_the_beginning_of_the_whole_list(shelf: "Shelf") -> None:
    shelf.put(_texts(7) | {f"tie{number:02d}.txt": "w1 w2" for number in range(40, 0, -1)})
    for query in (TextQuery(("w1", "w2")), TextQuery(("w1", "w2"), parts=True), TextQuery(("w1 w2",))):
        whole = shelf.hits(query)
        for depth in range(1, len(whole) + 2):
            assert shelf.hits(query, depth) == whole[:depth]


def test_equal_scores_go_by_path_sequence_and_id(shelf: "Shelf") -> None:
    shelf.put({"b.txt": ["same", "same"], "a.txt": ["same", "same"], "B.txt": "same"})
    assert shelf.find("same") == ["B.txt", "a.txt", "a.txt#1", "b.txt", "b.txt#1"]
    assert list(shelf.scores(TextQuery(("same",)), depth=3)) == ["B.txt", "a.txt", "a.txt#1"]


@pytest.mark.parametrize("parts", [False, True])
def test_a_filter_leaves_scores_as_they_are(shelf: "Shelf", parts: bool) -> None:
    shelf.put(_texts(8))
    query = TextQuery(("w1", "w7"), parts=parts)
    whole = shelf.scores(query)
    kept = {path: score for path, score in whole.items() if path.startswith("01")}
    filter = Filter((Condition("path", "01*.txt"),))
    assert shelf.scores(query, filter=filter) == kept
    assert list(shelf.scores(query, 3, filter)) == list(kept)[:3]
    assert shelf.scores(query, filter=Filter((Condition("path", "none"),))) == {}


def test_case_and_accents_do_not_matter_but_words_do(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "Über naïve Straße", "b.txt": "uber naive", "c.txt": "subera"})
    assert set(shelf.find("ÜBER")) == {"a.txt", "b.txt"}
    assert set(shelf.find("u\u0308ber")) == {"a.txt", "b.txt"}
    assert shelf.find("straße") == ["a.txt"]


def test_punctuation_inside_a_term_makes_a_phrase(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "local-first software", "b.txt": "first the local", "c.txt": "local first"})
    assert set(shelf.find("local-first")) == {"a.txt", "c.txt"}
    assert shelf.find("C++") == []


@pytest.mark.parametrize("query", ["東京", "京都", "東京都", "東", "都", "庁", "タワー", "ワ"])
def test_cjk_is_found_by_every_substring(shelf: "Shelf", query: str) -> None:
    shelf.put({"a.txt": "東京都庁と東京タワー", "b.txt": "大阪城", "c.txt": "plain words"})
    assert shelf.find(query) == ["a.txt"]


def test_a_cjk_run_is_not_found_across_a_gap(shelf: "Shelf") -> None:
    shelf.put(
        {"a.txt": "東 京", "b.txt": "東、京", "c.txt": "東x京", "d.txt": "東\n\n京", "e.txt": ["東", "京"]}
    )
    assert shelf.find("東京") == []
    assert len(shelf.find("東")) == 5


def test_a_longer_run_is_one_substring_and_not_its_pairs_anywhere(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "東京 京都", "b.txt": "東京都"})
    assert shelf.find("東京都") == ["b.txt"]


def test_hangul_and_half_width_kana_are_found(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "서울특별시", "b.txt": "ｶﾀｶﾅ"})
    assert shelf.find("특별") == ["a.txt"]
    assert shelf.find("ﾀｶ") == ["b.txt"]


def test_a_term_of_both_scripts_is_looked_up_in_both(shelf: "Shelf") -> None:
    shelf.put(
        {"a.txt": "Python検索エンジン", "b.txt": "Python only", "c.txt": "検索のみ", "d.txt": "neither"}
    )
    assert set(shelf.find("Python検索")) == {"a.txt", "b.txt", "c.txt"}
    assert shelf.find("Python検索")[0] == "a.txt"


def test_the_words_between_cjk_runs_are_no_phrase_across_them(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "zzcjk", "b.txt": "東京 and 大阪"})
    assert shelf.find("zzcjk") == ["a.txt"]


def test_identifiers_are_found_by_their_parts_only_where_asked(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "call getUserName()", "b.txt": "user name", "c.txt": "get_user_name"})
    assert shelf.find("getUserName") == ["a.txt"]
    assert set(shelf.find("getUserName", parts=True)) == {"a.txt", "c.txt"}
    assert set(shelf.find("username", parts=True)) == set()
    assert set(shelf.find("user", parts=True)) == {"a.txt", "b.txt", "c.txt"}


@pytest.mark.parametrize(
    ("terms", "phrases", "found"),
    [
        (("dawn",), ("red fox",), ["both.txt"]),
        ((), ("red fox",), ["both.txt", "phrase.txt"]),
        (("dawn",), ("red fox", "blue bird"), []),
        (("dawn",), ("東京",), ["mixed.txt"]),
        (("東京",), ("red fox",), ["phrase.txt"]),
        (("dawn", "東京"), ("red fox",), ["both.txt", "phrase.txt"]),
        ((), ("東京", "red fox"), ["phrase.txt"]),
    ],
)
def test_required_phrases_hold_across_tables(
    shelf: "Shelf", terms: tuple[str, ...], phrases: tuple[str, ...], found: list[str]
) -> None:
    shelf.put(
        {
            "both.txt": "at dawn a red fox",
            "phrase.txt": "the red fox of 東京",
            "word.txt": "dawn; the fox is red",
            "mixed.txt": "dawn in 東京都",
        }
    )
    query = TextQuery(terms, phrases, phrases_required=True)
    assert sorted(shelf.scores(query)) == found


def test_phrases_that_are_not_required_are_alternatives(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "a red fox", "b.txt": "dawn", "c.txt": "fox red"})
    assert set(shelf.scores(TextQuery(("dawn",), ("red fox",)))) == {"a.txt", "b.txt"}


def test_fts5_syntax_is_passed_on(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "red fox at dawn", "b.txt": "red at dawn", "c.txt": "foxes"})
    assert sorted(shelf.scores(TextQuery(expression="fox*"))) == ["a.txt", "c.txt"]
    assert sorted(shelf.scores(TextQuery(expression="red NOT fox"))) == ["b.txt"]
    assert sorted(shelf.scores(TextQuery(expression="NEAR(red dawn, 1)"))) == ["b.txt"]


@pytest.mark.parametrize(
    "expression", ["red AND", '"red', "nosuch : red", "*reads", "(" * 300, "NEAR(red", "red + "]
)
def test_bad_fts5_syntax_is_refused_in_one_line(shelf: "Shelf", expression: str) -> None:
    shelf.put({"a.txt": "red"})
    with pytest.raises(UsageError) as caught:
        shelf.hits(TextQuery(expression=expression))
    assert caught.value.code == "bad_query"
    assert len(caught.value.message.splitlines()) == 1


def test_matched_fields_name_the_columns_that_hold_a_term(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "lantern"}, title="harbour", heading="lantern > dawn")
    query = TextQuery(("lantern", "harbour"))
    (hit,) = shelf.hits(query)
    with shelf.store.snapshot() as snapshot:
        assert snapshot.text.matched_fields(query, [hit.chunk_id]) == {
            hit.chunk_id: ["content", "heading_path", "title"]
        }
