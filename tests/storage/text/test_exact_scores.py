"""Scores from postings are FTS5's own to the last bit, whatever was written, removed and written again."""

from contextlib import closing
from math import log
from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintet.model.text_query import TextQuery
from quintet.ranking.order import steady
from quintet.storage.text.postings.segment import FIELDS
from quintet.storage.text.query import lookup, weight_literals

if TYPE_CHECKING:
    from conftest import MakeShelf, Shelf

PORTER = "tokenize='porter unicode61 remove_diacritics 2'"
WORDS = [
    "the",
    "run",
    "runs",
    "running",
    "connect",
    "Connection",
    "fox",
    "foxes",
    "getUserName",
    "Über",
    "42",
]
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
PUT = st.tuples(st.sampled_from("abcdefgh"), TEXT, TEXT, TEXT)
STEPS = st.lists(st.one_of(PUT, st.sampled_from("abcdefgh")), min_size=1, max_size=12)
WEIGHT = st.one_of(st.sampled_from([0.0, 1.0, 3.0]), st.floats(0.01, 9))
WEIGHTS = st.one_of(
    st.just(()), st.tuples(st.tuples(st.just("content"), WEIGHT), st.tuples(st.just("title"), WEIGHT))
)
TERMS = st.lists(st.sampled_from([*WORDS, "fox run", "none"]), min_size=1, max_size=5, unique=True).map(tuple)


def _apply(shelf: "Shelf", step: object) -> None:
    if isinstance(step, str):
        shelf.remove(step)
    else:
        path, content, heading, title = step  # type: ignore[misc]
        shelf.put({path: content}, heading=heading, title=title)


def _by_fts5(shelf: "Shelf", table: str, query: TextQuery) -> dict[str, float]:
    """What SQLite says of its own table, by chunk id."""
    expression = " OR ".join(f'"{term}"' for term in query.terms)
    with shelf.store.snapshot() as snapshot:
        rows = snapshot.text._connection.execute(
            f"SELECT c.id, rank FROM {table} f JOIN chunks c ON c.row = f.rowid "
            f"WHERE {table} MATCH ? AND rank MATCH ?",
            (expression, f"bm25({weight_literals(query)})"),
        )
        return dict(rows)


@given(steps=STEPS, terms=TERMS, weights=WEIGHTS)
@settings(max_examples=20, deadline=None)
def test_a_score_is_what_the_real_table_gives_to_the_last_bit(
    make_shelf: "MakeShelf",
    steps: list[object],
    terms: tuple[str, ...],
    weights: tuple[tuple[str, float], ...],
) -> None:
    query = TextQuery(terms, field_weights=weights)
    shelf = make_shelf()
    with closing(shelf.store):
        for step in steps:
            _apply(shelf, step)
            found = {hit.chunk_id: hit.raw for hit in shelf.hits(query)}
            assert found == _by_fts5(shelf, "text", query)


@given(steps=STEPS, terms=TERMS, parts=st.booleans())
@settings(max_examples=20, deadline=None)
def test_the_fields_that_hold_a_term_are_those_that_fts5_finds_it_in(
    make_shelf: "MakeShelf", steps: list[object], terms: tuple[str, ...], parts: bool
) -> None:
    query = TextQuery(terms, parts=parts)
    shelf = make_shelf()
    with closing(shelf.store):
        for step in steps:
            _apply(shelf, step)
        with shelf.store.snapshot() as snapshot:
            ids: list[str] = [one for (one,) in snapshot.text._connection.execute("SELECT id FROM chunks")]
            expected: dict[str, list[str]] = {one: [] for one in ids}
            for field in FIELDS:
                found = {
                    one
                    for table, expression in lookup(query).scored.items()
                    for (one,) in snapshot.text._connection.execute(
                        f"SELECT c.id FROM {table} f JOIN chunks c ON c.row = f.rowid WHERE {table} MATCH ?",
                        (f"{{{field}}} : ({expression})",),
                    )
                }
                for one in found:
                    expected[one].append(field)
            assert snapshot.text.matched_fields(query, ids) == expected


@given(steps=STEPS, terms=TERMS, weights=WEIGHTS)
@settings(max_examples=15, deadline=None)
def test_stems_score_like_a_table_of_the_porter_tokenizer_but_for_common_words(
    make_shelf: "MakeShelf",
    steps: list[object],
    terms: tuple[str, ...],
    weights: tuple[tuple[str, float], ...],
) -> None:
    """A word in most chunks still counts, by log(1 + odds): each of FTS5's scores is taken times that."""
    terms = tuple({word.lower()[:3]: word for term in terms for word in term.split()}.values())
    query = TextQuery(terms, stems=True, field_weights=weights)
    shelf = make_shelf()
    with closing(shelf.store):
        kept: dict[str, tuple[str, str, str]] = {}
        for step in steps:
            _apply(shelf, step)
            kept.pop(step if isinstance(step, str) else step[0], None)  # type: ignore[index]
            if not isinstance(step, str):
                kept[step[0]] = step[1:]  # type: ignore[index]
        porter = apsw.Connection(":memory:")
        porter.execute(f"CREATE VIRTUAL TABLE t USING fts5 (content, heading_path, title, {PORTER})")
        porter.executemany("INSERT INTO t VALUES (?, ?, ?)", list(kept.values()))
        expected: dict[str, float] = {}
        for term in terms:
            found = porter.execute(
                "SELECT rowid, rank FROM t WHERE t MATCH ? AND rank MATCH ?",
                (f'"{term}"', f"bm25({weight_literals(query)})"),
            ).fetchall()
            odds = (len(kept) - len(found) + 0.5) / (len(found) + 0.5)
            for row, score in found:
                path = list(kept)[row - 1]
                gentle = score / max(log(odds), 1e-6) * log(1 + odds)
                expected[path] = expected.get(path, 0.0) + gentle
        assert shelf.scores(query) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("read", [0, 10_000])
@given(
    steps=STEPS, words=st.lists(st.sampled_from([*WORDS, "none"]), min_size=2, max_size=3), weights=WEIGHTS
)
@settings(max_examples=20, deadline=None)
def test_a_phrase_scores_the_same_whether_fts5_or_the_text_tells_where_it_is(
    make_shelf: "MakeShelf",
    read: int,
    steps: list[object],
    words: list[str],
    weights: tuple[tuple[str, float], ...],
) -> None:
    query = TextQuery((" ".join(words),), field_weights=weights)
    shelf = make_shelf()
    with pytest.MonkeyPatch.context() as patch, closing(shelf.store):
        patch.setattr("quintet.storage.text.query.READ", read)
        for step in steps:
            _apply(shelf, step)
            for _ in ("asked", "kept"):
                found = {hit.chunk_id: hit.raw for hit in shelf.hits(query)}
                assert found == _by_fts5(shelf, "text", query)


@pytest.mark.parametrize("read", [0, 10_000])
@pytest.mark.parametrize("rare", [0, 10_000])
def test_a_phrase_counts_as_often_as_it_stands_there_even_upon_itself(
    shelf: "Shelf", monkeypatch: pytest.MonkeyPatch, read: int, rare: int
) -> None:
    monkeypatch.setattr("quintet.storage.text.query.READ", read)
    monkeypatch.setattr("quintet.storage.text.postings.score.RARE", rare)
    long = "x" * 40_000
    shelf.put(
        {"a": "no no no no, fox", "b": "no fox no", "c": f"{long} {long}y end", "d": "no; no"}, title="no no"
    )
    shelf.put({"e": "other", "f": "getFoxRun", "b": "no fox"})
    for term in ("no-no", "no.fox", f"{long} {long}", "fox.none", "Fox-run"):
        for weights in ((), (("content", 0.3), ("title", 0.7))):
            query = TextQuery((term,), field_weights=weights)
            found = {hit.chunk_id: hit.raw for hit in shelf.hits(query)}
            assert found == _by_fts5(shelf, "text", query), term[:10]


def _texts(count: int) -> dict[str, str]:
    """Words by something like Zipf's law: word n stands in every n-th text, the more often the smaller."""
    return {
        f"{number:04d}.txt": " ".join(
            f"w{word} " * (1 + number % 3) for word in range(1, 60) if not number % word
        )
        for number in range(count)
    }


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("stems", [False, True])
@pytest.mark.parametrize("weights", [(), (("content", 4.0), ("title", 0.5))])
def test_the_best_are_the_same_as_when_all_are_scored(
    shelf: "Shelf",
    monkeypatch: pytest.MonkeyPatch,
    parts: bool,
    stems: bool,
    weights: tuple[tuple[str, float], ...],
) -> None:
    monkeypatch.setattr("quintet.storage.text.postings.search.AT_FIRST", 16)
    monkeypatch.setattr("quintet.storage.text.postings.search.LOOKUP", 0.01)
    shelf.put(_texts(200))
    shelf.put({"0007.txt": "w1 w59 getW1"}, title="w53")  # a second segment, and a chunk that is gone
    for some in (("w1", "w59"), ("w1", "w2", "w3", "w31"), tuple(f"w{word}" for word in range(1, 60))):
        query = TextQuery(some, parts=parts, stems=stems, field_weights=weights)
        whole = shelf.hits(query, 10_000)
        assert [steady(hit.raw) for hit in whole] == sorted(steady(hit.raw) for hit in whole)
        for depth in (1, 3, 10, 60):
            assert shelf.hits(query, depth) == whole[:depth]


def test_scores_are_those_of_the_search_for_chunks_that_it_left_out_too(shelf: "Shelf") -> None:
    shelf.put(_texts(80))
    for query in (
        TextQuery(("w3", "w7"), parts=True, stems=True),
        TextQuery(("w3", "w7")),
        TextQuery(("w3",), ("w1 w2",)),
        TextQuery(("w3",), ("w1 w2",), phrases_required=True, stems=True),
        TextQuery(expression="w3 NOT w7"),
    ):
        whole = {hit.chunk_id: hit.score for hit in shelf.hits(query)}
        with shelf.store.snapshot() as snapshot:
            ids = [chunk_id for (chunk_id,) in snapshot.text._connection.execute("SELECT id FROM chunks")]
            snapshot.text.search(query, 1)
            assert snapshot.text.scores(query, [*ids, "none"]) == whole


def test_a_match_in_a_field_that_weighs_nothing_is_found_last(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "lantern"})
    shelf.put({"b.txt": "other"}, title="lantern")
    query = TextQuery(("lantern",), field_weights=(("content", 0.0),))
    assert shelf.scores(query) == {"b.txt": pytest.approx(shelf.scores(query)["b.txt"]), "a.txt": 0.0}
    assert list(shelf.scores(query, depth=1)) == ["b.txt"]


def test_a_token_longer_than_fts5_keeps_is_found_by_its_beginning(shelf: "Shelf") -> None:
    for token in ("é" * 20_000 + "x" * 20_000, "x" + "ß" * 20_000):  # the second is cut inside a character
        shelf.put({"a.txt": token, "b.txt": "short"})
        query = TextQuery((token,))
        assert {hit.chunk_id: hit.raw for hit in shelf.hits(query)} == _by_fts5(shelf, "text", query)
        assert shelf.find(token[:-5]) == shelf.find(token, stems=True) == ["a.txt"]


def test_required_phrases_and_stems_go_together(shelf: "Shelf") -> None:
    shelf.put(
        {
            "a.txt": "the foxes ran to a red door",
            "b.txt": "a fox",
            "c.txt": "a red door",
            "d.txt": "fox 東京 red door",
        }
    )
    query = TextQuery(("fox",), ("red door",), phrases_required=True, stems=True, parts=True)
    assert set(shelf.scores(query)) == {"a.txt", "d.txt"}
    mixed = TextQuery(("東京",), ("red door",), phrases_required=True, stems=True, parts=True)
    assert set(shelf.scores(mixed)) == {"d.txt"}
    identifier = TextQuery((), ("getUserName",), phrases_required=True, parts=True)
    shelf.put({"e.txt": "call getUserName", "f.txt": "get_user_name", "g.txt": "get the user name"})
    assert set(shelf.scores(identifier)) == {"e.txt", "f.txt"}
