"""Spec 002's tests of full text, over both engines: indexing, parsing of queries, accuracy of ranks."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import quintet
from contracts.fixed import ladder, name_at, paths, results, write
from quintet.model.text_query import TextQuery

ENGINES = ("tantivy", "fts5")  # the specification names the first
Shelf = Callable[[dict[str, str]], quintet.Index]


@pytest.fixture(params=ENGINES)
def shelf(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Shelf]:
    """Indexes whose full text is by one of the engines."""
    made: list[quintet.Index] = []

    def make(files: dict[str, str]) -> quintet.Index:
        place = tmp_path / str(len(made))
        index = quintet.open(place / "index", embedder=None, text_index=request.param)
        index.sync([write(place / "shelf", files)])
        made.append(index)
        return index

    yield make
    for index in made:
        index.close()


@pytest.mark.requirement("002-T-FTS-1", "002-PORT-INDEX")
def test_what_was_indexed_changed_or_removed_is_found_by_its_present_words_only(
    shelf: Shelf, tmp_path: Path
) -> None:
    index = shelf({"a.txt": "before", "b.txt": "other", "c.txt": "leaving"})
    (tmp_path / "0" / "shelf" / "a.txt").write_text("afterwards and longer", "utf-8")
    (tmp_path / "0" / "shelf" / "c.txt").unlink()
    index.sync()
    found = {
        query: paths(index.search(query, "mcb")) for query in ("before", "afterwards", "other", "leaving")
    }
    assert found == {"before": [], "afterwards": ["a.txt"], "other": ["b.txt"], "leaving": []}


@pytest.mark.requirement("002-T-FTS-2")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("name", ["camel.txt"]),
        ("getUserName", ["camel.txt"]),
        ("local-first", ["hyphen.txt"]),
        ('"first local"', []),
        ('"local first" server', ["acronym.txt", "hyphen.txt"]),
        ("C++ AND (server", ["acronym.txt"]),
        ('server "', ["acronym.txt"]),
        ("検索", ["cjk.txt"]),
        ("*:?", []),
    ],
)
def test_a_query_is_words_phrases_and_parts_of_names_whatever_a_person_types(
    shelf: Shelf, query: str, expected: list[str]
) -> None:
    files = {
        "camel.txt": "call getUserName now",
        "acronym.txt": "an HTTPServer too",
        "hyphen.txt": "a local-first design",
        "cjk.txt": "全文検索の話",
        "none.txt": "nothing of the kind",
    }
    assert sorted(paths(shelf(files).search(query, "mcb"))) == expected


@pytest.mark.requirement("002-T-FTS-3")
def test_ranks_are_those_of_bm25(shelf: Shelf) -> None:
    """The rarer word, the more frequent word and the shorter text come first."""
    index = shelf(ladder(8))
    found = results(index.search("word", "mcb"))
    assert [item["node"]["path"] for item in found] == [name_at(place) for place in range(1, 9)]
    assert [item["bm25_rank"] for item in found] == [1 - place / 8 for place in range(8)]
    texts = {f"{number}.txt": "common filler text" for number in range(20)}
    texts |= {"rare.txt": "rare filler text", "often.txt": "common common text"}
    both = shelf(texts)
    assert paths(both.search("common rare", "mcb", k=2)) == ["rare.txt", "often.txt"]


@pytest.mark.requirement("002-PORT-MIN-SCORE", "002-T-FTS-4")
def test_a_least_score_keeps_the_hits_that_reach_it(shelf: Shelf) -> None:
    index = shelf(ladder(8))
    with index._collection.snapshot() as snapshot:
        scores = [hit.score for hit in snapshot.text.search(TextQuery(("word",), parts=True), 8)]
    assert len(set(scores)) == 8
    for kept, score in enumerate(scores, start=1):
        assert paths(index.search("word", "mcb", min_score=score)) == [
            name_at(at) for at in range(1, kept + 1)
        ]
    assert results(index.search("word", "mcb", min_score=scores[0] + 1)) == []


@pytest.mark.requirement("002-PORT-FIELD-WEIGHTS", "002-PORT-MATCHED-FIELDS", "002-T-FTS-5")
def test_field_weights_decide_which_field_counts(shelf: Shelf) -> None:
    files = {
        "head.md": "# falcon\n\nabout a bird of the sky\n",
        "body.txt": "a falcon is about falcon falcon",
    }
    index = shelf(files)
    heading = results(index.search("falcon", "mcb", field_weights={"heading_path": 50, "content": 0}))
    content = results(index.search("falcon", "mcb", field_weights={"heading_path": 0, "title": 0}))
    assert heading[0]["node"]["path"] == "head.md" and content[0]["node"]["path"] == "body.txt"
    fields = {item["node"]["path"]: item["matched_fields"] for item in heading}
    assert fields["body.txt"] == ["content"]
    assert {"heading_path", "title"} <= set(fields["head.md"])
