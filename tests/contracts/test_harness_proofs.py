"""Spec 001 taken at its word: each line of the printed table counts, and so does each default."""

import json
from pathlib import Path
from typing import Any

import pytest

import quintet
from contracts.fixed import FixedEmbedder, fts5_scores, results, same_place_in_both, write

BOOK = "# One\n\nword in the first part\n\n# Two\n\nword word word\n"
MEANT = {"Two\n# Two\n\nword word word": (1.0, 0.0), "One\n# One\n\nword in the first part": (1.0, 0.2)}
TABLE: dict[str, Any] = {
    "hybrid_alpha": 0.25,
    "candidate_k_keyword": 13,
    "candidate_k_vector": 13,
    "final_limit": 2,
    "group_by": "chunk",
    "doc_agg": "avg",
}


@pytest.mark.requirement("001-IN-TABLE")
@pytest.mark.parametrize("names", [*([name] for name in TABLE), list(TABLE)], ids=",".join)
def test_every_line_of_the_retrieval_table_counts_as_if_it_had_been_asked_for(
    tmp_path: Path, names: list[str]
) -> None:
    files, vectors = same_place_in_both(40, 20)
    embedder = FixedEmbedder({**vectors, **MEANT})
    with quintet.open(tmp_path / "index", embedder) as index:
        index.sync([write(tmp_path / "shelf", {**files, "book.md": BOOK})])
        asked = index.search("word", "harness", **{name: TABLE[name] for name in names}).body
        plain = index.search("word", "harness").body
    lines = [f"{name} = {json.dumps(TABLE[name])}" for name in names]
    (tmp_path / "quintet.toml").write_text("\n".join(["[retrieval]", *lines, ""]), "utf-8")
    with quintet.open(tmp_path / "index", embedder) as index:
        assert index.search("word", "harness").body == asked != plain


@pytest.mark.requirement("001-IN-ALPHA", "001-IN-GROUP", "001-IN-AGG")
def test_a_search_that_sets_nothing_weighs_by_six_tenths_and_shows_each_document_by_its_best_chunk(
    tmp_path: Path,
) -> None:
    vectors = {"?word": (1.0, 0.0), "word and more": (1.0, 1.0), "silent": (0.0, 1.0), **MEANT}
    files = {"book.md": BOOK, "leaf.txt": "word and more", "still.txt": "silent"}
    with quintet.open(tmp_path / "index", FixedEmbedder(vectors)) as index:
        index.sync([write(tmp_path / "shelf", files)])
        found = results(index.search("?word", "harness"))
        chunks = results(index.search("?word", "rifflux", mode="semantic"))
    keyword = {at: -score for at, score in fts5_scores([[one["content"]] for one in chunks], "word").items()}
    vector = {at: one["score_breakdown"]["cosine"] for at, one in enumerate(chunks)}
    scaled = []
    for scores in (keyword, vector):
        low, high = min(scores.values()), max(scores.values())
        scaled.append({at: (score - low) / (high - low) for at, score in scores.items()})
    best: dict[str, float] = {}
    for at, one in enumerate(chunks):
        score = 0.4 * scaled[0].get(at, 0.0) + 0.6 * scaled[1][at]
        best[one["path"]] = max(score, best.get(one["path"], 0.0))
    assert len(chunks) == 4  # the book has two chunks
    assert [item["path"] for item in found] == ["book.md", "leaf.txt", "still.txt"]
    assert {item["path"]: item["doc_score"] for item in found} == pytest.approx(best)
