"""Contract 003 over a knowledge base: filters before retrieval on both branches, in every mode."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import quintet
from formats.papers import lines, paper
from knowledge.answers import found, ids
from quintet.errors import UsageError
from quintet.knowledge import KnowledgeBase, Upload

MODES = ("semantic", "keyword", "hybrid")


@pytest.mark.requirement("003-REQ-INDEX-KB", "003-OWN-BACKEND-FORWARD", "003-OWN-BACKEND-REQUEST")
def test_the_canonical_request_of_the_specification_is_answered_by_its_base(index: quintet.Index) -> None:
    base = index.knowledge.create("product_docs")
    text = "Hybrid retrieval blends semantic recall with lexical precision."
    base.put(text, title="Architecture Overview", uri="https://example.com/architecture", id="doc-1")
    request: dict[str, Any] = {
        "index": "kb_product_docs",
        "query": "How does retrieval work?",
        "top_k": 5,
        "filters": {},
        "search_method": "hybrid",
        "query_preprocessing": "normalize",
        "hybrid_alpha": 0.5,
    }
    body: Any = index.search(contract="knowledge", **request).body
    (call,) = body["retrieval_calls"]
    (result,) = call.pop("results")
    assert call == {
        **{name: value for name, value in request.items() if name != "filters"},
        "query": "how does retrieval work",
        "result_count": 1,
    }
    assert (result["text"], result["metadata"]["title"]) == (text, "Architecture Overview")
    assert result["metadata"]["uri"] == "https://example.com/architecture"
    parts = result["relevance_components"]
    assert result["relevance_score"] == 0.5 * parts["semantic_score"] + 0.5 * parts["keyword_score"]


@pytest.fixture
def typed(index: quintet.Index) -> KnowledgeBase:
    kinds = {"team": "text", "weight": "number", "year": "int", "public": "boolean"}
    base = index.knowledge.create("typed", properties=[{"name": k, "type": v} for k, v in kinds.items()])
    base.put("a word of one", id="one", metadata={"team": "core", "weight": 1.5, "year": 1, "public": True})
    base.put("a word of two", id="two", metadata={"team": "1", "weight": 1, "year": 2, "public": False})
    base.put("a word of none", id="none")
    return base


@pytest.mark.requirement("003-FILTER-SCHEMA")
@pytest.mark.parametrize("mode", MODES)
def test_properties_of_the_schema_are_filters_in_every_mode(typed: KnowledgeBase, mode: str) -> None:
    for filters, expected in (
        ({"team": "core"}, ["one"]),
        ({"team": "1"}, ["two"]),
        ({"weight": 1.5}, ["one"]),
        ({"weight": 1}, ["two"]),
        ({"year": 2}, ["two"]),
        ({"public": True}, ["one"]),
        ({"public": False}, ["two"]),
        ({"team": "core", "year": 2}, []),
    ):
        assert ids(typed.search("word", mode=mode, filters=filters)) == expected, filters


@pytest.mark.parametrize("mode", MODES)
def test_empty_text_is_a_value_like_any_other(typed: KnowledgeBase, mode: str) -> None:
    typed.put("a word of nobody", id="nobody", metadata={"team": ""})
    assert ids(typed.search("word", mode=mode, filters={"team": ""})) == ["nobody"]


@pytest.mark.parametrize(
    "filters", [{"team": 1}, {"year": "2"}, {"year": 1.5}, {"public": 1}, {"weight": "x"}, {"other": "x"}]
)
def test_a_filter_of_another_type_or_an_unknown_one_is_refused(typed: KnowledgeBase, filters: Any) -> None:
    with pytest.raises(UsageError, match=next(iter(filters))) as refused:
        typed.search("word", filters=filters)
    assert refused.value.code == "invalid_filter"


@pytest.mark.parametrize("name", ["year", "weight"])
@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**26 - 1])
def test_a_whole_number_of_which_digits_would_be_lost_is_neither_kept_nor_asked_for(
    typed: KnowledgeBase, name: str, value: int
) -> None:
    with pytest.raises(UsageError, match=f"metadata {name} .* must fit into 64 bits"):
        typed.put("a large word", id="large", metadata={name: value})
    with pytest.raises(UsageError, match=f"filter {name} .* must fit into 64 bits") as refused:
        typed.search("word", filters={name: value})
    assert refused.value.code == "invalid_filter"


@pytest.mark.parametrize("name", ["year", "weight"])
@pytest.mark.parametrize("value", [2**63 - 1, -(2**63)])
def test_every_digit_of_a_whole_number_counts(typed: KnowledgeBase, name: str, value: int) -> None:
    typed.put("a large word", id="large", metadata={name: value})
    near = value - 1 if value > 0 else value + 1
    assert ids(typed.search("word", mode="keyword", filters={name: value})) == ["large"]
    assert ids(typed.search("word", mode="keyword", filters={name: near})) == []


def test_a_schema_holds_for_its_own_base_alone(index: quintet.Index, typed: KnowledgeBase) -> None:
    index.knowledge.create("plain").put("word")
    with pytest.raises(UsageError, match="unknown filter 'year'"):
        index.search("word", "knowledge", index="kb_plain", filters={"year": 1})


@pytest.mark.parametrize("mode", MODES)
def test_every_built_in_field_is_a_filter_on_a_base(
    index: quintet.Index, base: KnowledgeBase, tmp_path: Path, mode: str
) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.pdf").write_bytes(paper(lines("a word"), lines("another word"), title="Paper"))
    base.put("the word of a text", id="text", uri="https://example.com/t", title="Text")
    base.put_file(b"the word of a file", "file.txt", id="file")
    base.sync_source(str(base.add_source("papers", "My papers")["id"]))
    everything = found(base.search("word", mode=mode, top_k=50))
    assert len(everything) == 4
    for result in everything:
        for name, value in result["metadata"].items():
            if value is None or name == "page_count":
                continue
            some = found(base.search("word", mode=mode, top_k=50, filters={name: value}))
            same = [one["id"] for one in everything if one["metadata"].get(name) == value]
            assert sorted(one["id"] for one in some) == sorted(same), (name, value)
    by_page = found(base.search("word", mode=mode, filters={"page_number": 2}))
    assert [(one["text"], one["metadata"]["title"]) for one in by_page] == [("another word", "Paper")]


def test_nothing_of_our_own_leaves_with_an_answer(base: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.md").write_text("a word", "utf-8")
    base.put("a word", id="one", title="T")
    base.sync_source(str(base.add_source("papers")["id"]))
    said = json.dumps(
        [base.search("word").wire(), base.documents(), base.describe(), base.sources(), base.get("one")]
    )
    assert "_knowledge_base" not in said
    assert str(tmp_path) not in said


def test_the_cache_of_a_base_gives_the_same_bytes_and_forgets_with_each_change(base: KnowledgeBase) -> None:
    base.put("a word", id="one")
    first = base.search("word", mode="hybrid")
    assert base.search("word", mode="hybrid").body == first.body
    base.put("a second word", id="two")
    assert set(ids(base.search("word", mode="hybrid"))) == {"one", "two"}
    base.delete("one")
    assert ids(base.search("word", mode="hybrid")) == ["two"]


def test_while_many_are_put_every_answer_holds_whole_documents(base: KnowledgeBase) -> None:
    """Every document has a passage for each of its three sections: all of them are there, or none."""
    sections = "".join(f"# Part {part}\n\n{'alpha ' * 150}\n\n{'beta ' * 150}\n\n" for part in range(3))
    uploads = [
        Upload(f"{sections}n{number}".encode(), f"{number}.md", id=f"d{number}") for number in range(96)
    ]
    whole = base.put_file(uploads[0].data, "x.md", id="measure").chunks
    assert whole > 3
    failed: list[object] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            try:
                counts: dict[str, int] = {}
                answer = base.search("alpha", mode="keyword", top_k=1000)
                for result in found(answer):
                    name = result["metadata"]["document_id"]
                    counts[name] = counts.get(name, 0) + 1
                lacking = {name: n for name, n in counts.items() if n != alphas}
                semantic = base.search("alpha", top_k=1000, filters={"document_id": "d0"})
                partly = [note for note in semantic.notes if note["code"] == "partly_embedded"]
                if lacking or partly:
                    failed.append((lacking, partly))
            except BaseException as error:
                failed.append(error)
                return

    alphas = len(found(base.search("alpha", mode="keyword", top_k=1000)))
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    outcomes = base.put_many(uploads)
    done.set()
    for thread in threads:
        thread.join()
    assert failed == []
    assert {one.outcome for one in outcomes} == {"created"}


def test_a_base_gives_no_receipt_and_says_so(index: quintet.Index, base: KnowledgeBase) -> None:
    with pytest.raises(
        quintet.NotFound, match="only the index 'default', which covers the indexed folders, has receipts"
    ):
        index.receipts.search("word", "knowledge", index=base.index_name)
