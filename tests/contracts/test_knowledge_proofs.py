"""Spec 003 taken at its word: how deep hybrid goes, what happens unasked, what other projections keep."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quintet
from contracts.conftest import Library
from contracts.fixed import FixedEmbedder, results, write


@pytest.mark.requirement("003-FUSE-OVERFETCH")
@pytest.mark.parametrize(("top_k", "depth"), [(1, 10), (2, 10), (5, 15), (17, 50), (60, 60)])
def test_hybrid_over_fetches_the_semantic_branch_as_deep_as_the_keyword_branch(
    library: Library, top_k: int, depth: int
) -> None:
    """Each file is found by a word of its own and lies at a known place by meaning: beyond the depth its
    semantic part is missing."""
    files = {f"f{place:02d}.txt": f"only{place}x here" for place in range(1, 71)}
    vectors: dict[str, Any] = {text: (100.0, 10.0 + 3.0 * at) for at, text in enumerate(files.values())}
    queries: dict[str, Any] = {f"only{place}x": (1.0, 0.0) for place in range(1, 71)}
    index = library(files, {**vectors, **queries})

    def semantic(place: int) -> float:
        asked = {"search_method": "hybrid", "top_k": top_k}
        best = results(index.search(f"only{place}x", "knowledge", **asked))[0]
        assert best["metadata"]["uri"] == f"f{place:02d}.txt"
        return float(best["relevance_components"]["semantic_score"])

    assert semantic(depth) > 0.0
    assert semantic(depth + 1) == 0.0


class Watched(FixedEmbedder):
    """Remembers what it was asked to find."""

    def __init__(self) -> None:
        super().__init__({}, 2)
        self.queries: list[str] = []

    def embed_query(self, text: str) -> Any:
        self.queries.append(text)
        return super().embed_query(text)


@pytest.mark.requirement("003-OPTIONAL")
def test_a_base_is_filled_listed_and_read_without_any_retrieval(tmp_path: Path) -> None:
    """Nothing is looked for unless a request asks for it, and then once."""
    embedder = Watched()
    with quintet.open(tmp_path / "index", embedder) as index:
        base = index.knowledge.create("docs")
        base.put("The canteen opens at noon.", id="canteen")
        base.put("Holidays are thirty days.", id="holidays")
        assert {one["id"] for one in base.documents()} == {"canteen", "holidays"}
        assert base.get("canteen")["id"] == "canteen"
        base.delete("holidays")
        assert base.describe()["documents"] == 1
        assert embedder.queries == []
        call = results(index.search("canteen", "knowledge", index="kb_docs", search_method="hybrid"))
    assert [one["metadata"]["document_id"] for one in call] == ["canteen"]
    assert embedder.queries == ["canteen"]


@pytest.mark.requirement("003-PROJECTION")
@pytest.mark.parametrize("method", ("semantic", "keyword", "hybrid"))
def test_a_context_shows_what_the_canonical_retrieval_found_as_it_ranked_and_scored_it(
    library: Library, method: str
) -> None:
    texts = {
        "pump.txt": "A pump moves water.",
        "valve.txt": "The water valve closes pipes when a pump has stopped.",
        "boiler.txt": "Boilers heat.",
    }
    vectors: dict[str, Any] = {text: (1.0, 0.5 * at) for at, text in enumerate(texts.values())}
    index = library(texts, {**vectors, "water pump": (1.0, 0.0)})
    asked: dict[str, Any] = {"search_method": method, "top_k": 2, "query_preprocessing": "normalize"}
    canonical = results(index.search("Water PUMP?", "knowledge", **asked))
    packed: Any = index.context("Water PUMP?", 1000, **asked).body
    assert (packed["index"], packed["query"]) == ("default", "water pump")
    assert [(one["id"], one["relevance_score"]) for one in packed["sources"]] == [
        (one["id"], one["relevance_score"]) for one in canonical
    ]
    assert [one["source_ids"] for one in packed["references"]] == [[one["id"]] for one in canonical]
    assert all(one["text"] in packed["text"] for one in canonical)
    assert "Boilers" not in packed["text"]


@pytest.mark.requirement("003-DEF-PREPROCESSING")
@pytest.mark.requirement("003-ITEM-ID", "003-ITEM-METADATA", "003-ITEM-RELEVANCE-SCORE", "003-DEF-ALPHA")
@pytest.mark.requirement("003-ITEM-COMPONENTS", "003-ITEM-SCORE", "003-OWN-PROVIDER-SCORES")
def test_every_field_of_an_item_has_the_value_that_the_index_has(library: Library) -> None:
    files = {
        "a.md": "---\ncolour: red\n---\nword here",
        "b.txt": "word and some more of it",
        "c.txt": "silent",
    }
    places = {"a.md": (0.6, 0.8), "b.txt": (0.8, 0.6), "c.txt": (0.0, 1.0)}
    texts = {"a.md": "word here", "b.txt": files["b.txt"], "c.txt": "silent"}
    index = library(files, {"?word": (1.0, 0.0), **{texts[name]: places[name] for name in files}})
    passages = {name: index.get(name)[0] for name in files}
    bm25 = {
        item["path"]: item["score_breakdown"]["bm25"]
        for item in results(index.search("?word", "rifflux", mode="lexical"))
    }
    cosine = {
        item["path"]: item["score_breakdown"]["cosine"]
        for item in results(index.search("?word", "rifflux", mode="semantic"))
    }
    scaled = {"a.md": 1.0, "b.txt": 0.0}
    assert bm25["a.md"] < bm25["b.txt"] < 0 and list(cosine) == ["b.txt", "a.md", "c.txt"]
    for method in ("semantic", "keyword", "hybrid"):
        for item in results(index.search("?word", "knowledge", search_method=method)):
            path = item["metadata"]["source_path"]
            assert (item["id"], item["text"]) == (passages[path].chunk.id, passages[path].chunk.content)
            assert item["metadata"]["document_id"] == passages[path].document.id
            assert item["metadata"].get("colour") == ("red" if path == "a.md" else None)
            parts = {"semantic_score": cosine[path], "keyword_score": scaled.get(path, 0.0)}
            fused = 0.5 * parts["semantic_score"] + 0.5 * parts["keyword_score"]
            expected = {
                "semantic": (cosine[path], "cosine", cosine[path], "similarity"),
                "keyword": (bm25.get(path), "bm25", -bm25.get(path, 0.0), "keyword_score"),
                "hybrid": (fused, "hybrid_score", fused, "hybrid_score"),
            }[method]
            shown = tuple(item[name] for name in ("score", "score_kind", "relevance_score", "relevance_kind"))
            assert shown == expected
            assert item.get("relevance_components") == (parts if method == "hybrid" else None)


@pytest.fixture
def based(tmp_path: Path) -> Iterator[quintet.Index]:
    """A base with a text, an uploaded file of two chunks and a folder as its source."""
    papers = write(tmp_path / "papers", {"deep/pump.md": "# Pumps\n\nthe word of a source\n"})
    with quintet.open(tmp_path / "index", None) as index:
        index.sync([write(tmp_path / "shelf", {"note.txt": "the word of a folder"})])
        base = index.knowledge.create("docs")
        base.put("the word of a text", id="text", title="A text", uri="https://example.com/text")
        two = b"# One\n\nthe word of a file\n\n# Two\n\nthe word once more\n"
        base.put_file(two, "two.md", id="file")
        base.sync_source(str(base.add_source(papers)["id"]))
        yield index


def _metadata(index: quintet.Index, **filters: Any) -> list[dict[str, Any]]:
    """Of every chunk of the base that passes."""
    asked: dict[str, Any] = {"search_method": "keyword", "index": "kb_docs", "filters": filters}
    found = results(index.search("word", "knowledge", top_k=20, **asked))
    return sorted((one["metadata"] for one in found), key=lambda one: (one["title"], one["chunk_index"]))


@pytest.mark.requirement("003-META-KNOWLEDGE-BASE-ID", "003-META-DOCUMENT-ID", "003-META-CHUNK-INDEX")
@pytest.mark.requirement("003-META-TITLE", "003-META-SOURCE-TYPE", "003-META-SOURCE-NAME", "003-META-URI")
@pytest.mark.requirement("003-META-SOURCE-ID", "003-META-SOURCE-PATH", "003-META-MANAGED-BY-SOURCE")
def test_every_chunk_of_a_base_carries_the_built_in_metadata_of_where_it_came_from(
    based: quintet.Index,
) -> None:
    text, first, second, managed = _metadata(based)
    nowhere = {"source_name": None, "uri": None, "source_id": None, "source_path": None}
    uploaded = {"knowledge_base_id": "docs", **nowhere, "managed_by_source": False}
    address = "https://example.com/text"
    titled = {"document_id": "text", "chunk_index": 0, "title": "A text"}
    assert text == {**uploaded, **titled, "source_type": "text", "uri": address}
    named = {"document_id": "file", "title": "One", "source_type": "upload", "source_name": "two.md"}
    assert (first, second) == (
        {**uploaded, **named, "chunk_index": 0},
        {**uploaded, **named, "chunk_index": 1},
    )
    (listed,) = [one for one in based.knowledge.get("docs").documents() if one["managed_by_source"]]
    assert managed == {
        "knowledge_base_id": "docs",
        "document_id": listed["id"],
        "chunk_index": 0,
        "title": "Pumps",
        "source_type": "local_directory",
        "source_name": "papers",
        "uri": "deep/pump.md",
        "source_id": "papers",
        "source_path": "deep/pump.md",
        "managed_by_source": True,
    }


@pytest.mark.requirement("003-FILTER-BUILT-IN")
def test_every_built_in_field_of_a_base_is_a_filter(based: quintet.Index) -> None:
    everything = _metadata(based)
    for metadata in everything:
        for name, value in metadata.items():
            if value is not None:
                wanted = [one for one in everything if one[name] == value]
                assert _metadata(based, **{name: value}) == wanted, (name, value)


@pytest.mark.requirement("003-REQ-INDEX", "003-REQ-INDEX-KB")
def test_an_index_is_searched_alone_and_named_in_the_call(based: quintet.Index) -> None:
    ids = {}
    for index in ("default", "kb_docs"):
        body: Any = based.search("word", "knowledge", search_method="keyword", index=index).body
        (call,) = body["retrieval_calls"]
        assert call["index"] == index
        ids[index] = {one["metadata"]["knowledge_base_id"] for one in call["results"]}
    assert ids == {"default": {"default"}, "kb_docs": {"docs"}}
