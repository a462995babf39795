"""Which text each contract's BM25 is computed over, compared with FTS5 tables built here from its words."""

from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

import quintet
from contracts.conftest import Library
from contracts.fixed import fts5_scores, results
from quintet.contracts.stop_words import STOP_WORDS

DOCS = Path(__file__).parents[2] / "docs" / "contracts"
QUERIES = (
    "readings", "cfs", "mcb graph", "knowledge base", "rifflux lexical", "alpha clamped", "hybrid mode",
    "freshness floor", "quintet", "contract parameters", "search", "scores ties path", "embedder",
    "document title", "canonical vectors", "min-max", "hybrid_alpha", "filters", "results shape",
    "reciprocal rank fusion", "the specification", "test", "default limits", "harness settings", "node",
    "query embedding", "chunk", "note", "JSON example", "never indexed",
)  # fmt: skip
EXPRESSIONS = (
    "graph NOT search",
    "hyb* AND mode",
    "NEAR(query text, 9)",
    '"min max" OR alpha',
    "(a OR the) AND test",
)


class Row(NamedTuple):
    """A chunk as the index stores it: `chunks.text` of the specification is its content."""

    chunk_id: str
    document_id: str
    path: str
    sequence: int
    modified_ns: int
    content: str
    heading_path: str
    title: str


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("columns")


@pytest.fixture(scope="module")
def index(place: Path) -> Iterator[quintet.Index]:
    with quintet.open(place, embedder=None) as index:
        index.sync([DOCS])
        yield index


@pytest.fixture(scope="module")
def rows(index: quintet.Index, place: Path) -> list[Row]:
    (file,) = place.glob("*.db")
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    chunks = connection.execute(
        "SELECT c.id, d.id, d.path, c.sequence, d.modified_ns, x.content, c.heading_path, d.title "
        "FROM chunks c JOIN documents d ON d.row = c.document JOIN contents x ON x.row = c.row"
    )
    found = [Row(*chunk) for chunk in chunks]
    connection.close()
    assert any(row.heading_path for row in found) and all(row.title for row in found)
    return found


def _bm25(rows: list[Row], columns: tuple[str, ...], expression: str) -> dict[str, float]:
    """FTS5's own number for every chunk that matches, in a table of these columns and no other."""
    texts = [[getattr(row, name) for name in columns] for row in rows]
    return {rows[number].chunk_id: score for number, score in fts5_scores(texts, expression).items()}


def _either(query: str) -> str:
    return " OR ".join(f'"{term}"' for term in query.split())


def _documents(rows: list[Row], bm25: dict[str, float]) -> list[tuple[str, float]]:
    """Spec 001 from "Get keyword candidates" to "Final Results", with alpha 0."""
    by_id = {row.chunk_id: row for row in rows}
    best = sorted(bm25, key=lambda key: (round(bm25[key], 11), by_id[key].path, by_id[key].sequence))[:80]
    raw = {key: -bm25[key] for key in best}
    low, high = min(raw.values(), default=0.0), max(raw.values(), default=0.0)
    scores: dict[str, float] = {}
    for key, score in raw.items():
        norm = 1.0 if high == low else (score - low) / (high - low)
        document = by_id[key].document_id
        scores[document] = max(norm, scores.get(document, 0.0))
    modified = {row.document_id: row.modified_ns // 1_000_000 for row in rows}
    order = sorted(scores, key=lambda key: (-round(scores[key], 11), -modified[key], key))
    return [(key, scores[key]) for key in order[:12]]


@pytest.mark.requirement("001-TERM-CHUNK")
def test_harness_matches_and_scores_the_text_of_chunks_alone(index: quintet.Index, rows: list[Row]) -> None:
    for query in QUERIES:
        expected = _documents(rows, _bm25(rows, ("content",), _either(query)))
        found = results(index.search(query, "harness", mode="keyword"))
        assert [item["document_id"] for item in found] == [document for document, _ in expected], query
        scores = [item["doc_score"] for item in found]
        assert scores == pytest.approx([score for _, score in expected], abs=1e-9), query


@pytest.mark.requirement("001-TERM-CHUNK")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_harness_scores_the_text_alone_in_the_language_of_fts5_too(
    index: quintet.Index, rows: list[Row], expression: str
) -> None:
    expected = _documents(rows, _bm25(rows, ("content",), expression))
    found = results(index.search(expression, "harness", mode="keyword", syntax="fts5"))
    assert expected and [item["document_id"] for item in found] == [document for document, _ in expected]
    assert [item["doc_score"] for item in found] == pytest.approx([score for _, score in expected], abs=1e-9)


def test_a_word_of_a_heading_or_a_title_alone_is_nothing_to_harness(
    index: quintet.Index, rows: list[Row]
) -> None:
    for expression in ("heading_path : readings", "title : cfs"):
        found = index.search(expression, "harness", mode="keyword", syntax="fts5")
        assert results(found) == []


def _given(index: quintet.Index, contract: str, query: str) -> dict[str, float]:
    """BM25 of every match, as the contract shows it."""
    options: dict[str, Any] = {"mode": "lexical"} if contract == "rifflux" else {"search_method": "keyword"}
    found = results(index.search(query, contract, top_k=1000, **options))
    if contract == "rifflux":
        return {item["chunk_id"]: item["score_breakdown"]["bm25"] for item in found}
    return {item["id"]: item["score"] for item in found}


@pytest.mark.requirement("000-LEX-002")
@pytest.mark.parametrize("contract", ("rifflux", "knowledge"))
def test_rifflux_and_knowledge_score_content_heading_path_and_title(
    index: quintet.Index, rows: list[Row], contract: str
) -> None:
    for query in QUERIES:
        expected = _bm25(rows, ("content", "heading_path", "title"), _either(query))
        found = _given(index, contract, query)
        assert found == pytest.approx(expected, rel=1e-12), query
        assert list(found.values()) == sorted(found.values()), query


def test_cfs_scores_content_heading_path_and_title(index: quintet.Index, rows: list[Row]) -> None:
    for query in QUERIES:
        terms = [term for term in query.split() if term not in STOP_WORDS["lucene"]]
        raw = _bm25(rows, ("content", "heading_path", "title"), _either(" ".join(terms)))
        low, high = min(raw.values()), max(raw.values())
        expected = {key: (high - score) / (high - low) if high > low else 1.0 for key, score in raw.items()}
        found = results(index.search(query, "cfs", mode="lexical", top_k=1000))
        scores = {item["chunk"]["id"]: item["score"] for item in found}
        assert scores == pytest.approx(expected, abs=1e-9), query


JAPANESE = {
    "ten.txt": "検索" * 10,
    "one.txt": "検索と索引の話",
    "long.txt": "とても長い文章のなかに検索がいちどだけある",
    "none.txt": "索引の話",
}
ENGLISH = {f"{number}.txt": f"plain words number {number}" for number in range(12)}


def _japanese(term: str, total: int) -> dict[str, float]:
    """BM25 by path: a term is the phrase of its pairs, lengths are those of the chunks that hold CJK, and the
    idf is that among all chunks."""
    rows = [[" ".join(text[at : at + 2] for at in range(len(text)))] for text in JAPANESE.values()]
    phrase = " ".join(term[at : at + 2] for at in range(len(term) - 1))
    found = fts5_scores(rows, f'"{phrase}"')
    held = len(found)
    among_all = log((total - held + 0.5) / (held + 0.5))
    among_cjk = max(log((len(rows) - held + 0.5) / (held + 0.5)), 1e-6)
    return {list(JAPANESE)[at]: score * among_all / among_cjk for at, score in found.items()}


@pytest.mark.parametrize("term", ("検索", "索引", "検索と"))
def test_a_cjk_term_scores_as_a_word_that_is_as_rare_among_all_chunks(library: Library, term: str) -> None:
    index = library(JAPANESE | ENGLISH)
    expected = _japanese(term, len(JAPANESE) + len(ENGLISH))
    rifflux = results(index.search(term, "rifflux", mode="lexical"))
    assert {item["path"]: item["score_breakdown"]["bm25"] for item in rifflux} == pytest.approx(expected)
    knowledge = results(index.search(term, "knowledge", search_method="keyword"))
    assert [item["score"] for item in knowledge] == pytest.approx(sorted(expected.values()))
    best, worst = min(expected.values()), max(expected.values())
    scaled = [
        (worst - score) / (worst - best) if len(expected) > 1 else 1.0 for score in sorted(expected.values())
    ]
    for contract, score, mode in (("cfs", "score", "lexical"), ("harness", "doc_score", "keyword")):
        found = results(index.search(term, contract, mode=mode))
        assert [item[score] for item in found] == pytest.approx(scaled, abs=1e-9), contract


def test_a_text_that_has_a_cjk_term_ten_times_scores_more_than_nothing(library: Library) -> None:
    first, *_ = results(library(JAPANESE | ENGLISH).search("検索", "rifflux", mode="lexical"))
    assert first["path"] == "ten.txt" and first["score_breakdown"]["bm25"] < -1.0
