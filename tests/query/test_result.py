"""Results as objects: iterated, with attributes, the same for every contract."""

from collections.abc import Iterator

import pytest

import quintet
from quintet.contracts import CONTRACTS


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[quintet.Index]:
    folder = tmp_path_factory.mktemp("results")
    (folder / "notes").mkdir()
    (folder / "notes" / "tides.md").write_text("# Tides\n\nThe tide turns at noon.\n", "utf-8")
    (folder / "notes" / "moon.py").write_text("def tide(moon):\n    return moon\n", "utf-8")
    with quintet.open(folder / ".quintet", "hashing") as opened:
        opened.sync([folder / "notes"])
        yield opened


@pytest.mark.parametrize("contract", CONTRACTS)
def test_results_are_iterated_with_the_same_attributes_for_every_contract(
    index: quintet.Index, contract: str
) -> None:
    response = index.search("tide", contract)
    assert [result.path for result in response] == [result.path for result in response.results]
    assert len(response) == len(response.results) > 0
    for result in response:
        (passage, *_) = index.get(result.id)
        assert (result.content, result.lines[0]) == (passage.chunk.content, passage.chunk.first_line)
        assert (result.root, result.title) == ("notes", passage.document.title)
    scores = [result.score for result in response]
    assert scores == sorted(scores, reverse=True)


def test_memories_and_documents_of_a_base_are_iterated_too(index: quintet.Index) -> None:
    kept = index.memory.remember("the tide is high")
    assert [memory.metadata["id"] for memory in index.memory.recall("tide")] == [kept.id]
    base = index.knowledge.create("sea")
    base.put("The tide is low.", id="low")
    assert [result.content for result in base.search("tide", mode="keyword")] == ["The tide is low."]


def test_an_answer_with_two_lists_says_so(index: quintet.Index) -> None:
    with pytest.raises(quintet.UsageError, match="several lists"):
        iter(index.search_all("tide"))


def test_an_answer_without_results_is_an_answer(index: quintet.Index) -> None:
    nothing = index.search("tide", filters="lang:cobol")
    assert (len(nothing), bool(nothing), list(nothing)) == (0, True, [])


def test_what_people_print_says_what_it_is(index: quintet.Index) -> None:
    assert repr(index) == f"Index({str(index.folder)!r}, embedder='hash-384')"
    assert repr(index.knowledge.create("handbook")) == "KnowledgeBase('handbook')"
    (first, *_) = index.search("tide", filters="path:*.md")
    assert repr(first).startswith(f"Result(id='{first.id}', root='notes', path='tides.md', lines=(1, 3), ")
    assert "noon" not in repr(first)
