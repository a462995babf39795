"""A filter that leaves nothing is told apart from a query that finds nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quintet

NONE_SUCH: dict[str, dict[str, Any]] = {
    "quintet": {"filters": "lang:cobol"},
    "rifflux": {"filters": "path:nowhere/**"},
    "harness": {"filters": "tag:none"},
    "mcb": {"scope_filter": {"project": "another"}},
    "knowledge": {"filters": {"title": "None such"}, "search_method": "hybrid"},
    "cfs": {"filters": "lang:cobol"},
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[quintet.Index]:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.md").write_text("# Fog\n\nA lantern in the fog.\n", "utf-8")
    with quintet.open(tmp_path / "index", "hashing") as opened:
        opened.sync([tmp_path / "files"])
        yield opened


def codes(response: quintet.Response) -> list[str]:
    return [note["code"] for note in response.notes if note["code"] == "nothing_passes"]


@pytest.mark.parametrize("contract", NONE_SUCH)
def test_a_filter_that_nothing_passes_is_told_by_every_contract(index: quintet.Index, contract: str) -> None:
    for _ in range(2):  # the second time from the cache
        assert codes(index.search("lantern", contract, **NONE_SUCH[contract])) == ["nothing_passes"]


def test_so_is_one_among_the_words_of_a_query_or_behind_the_ranking(index: quintet.Index) -> None:
    assert codes(index.search("lantern lang:cobol")) == ["nothing_passes"]
    for query in ("lantern", "zeppelin"):
        found = index.search(query, "cfs", mode="lexical", filters="lang:cobol", filter_mode="post")
        assert codes(found) == ["nothing_passes"]


def test_a_filter_that_something_passes_is_not_to_blame(index: quintet.Index) -> None:
    for filter_mode in ("pre", "post"):
        found = index.search("zeppelin", "cfs", mode="lexical", filters="path:*.md", filter_mode=filter_mode)
        assert (found.body["results"], codes(found)) == ([], [])
    assert codes(index.search("zeppelin", mode="lexical")) == []


def test_an_empty_index_is_told_by_its_status_alone(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", "none") as index:
        for filter_mode in ("pre", "post"):
            found = index.search("x", "cfs", mode="lexical", filters="lang:cobol", filter_mode=filter_mode)
            assert (found.status, codes(found)) == ("never_indexed", [])


def test_recall_knowledge_bases_contexts_and_both_together_tell_it(index: quintet.Index) -> None:
    index.memory.remember("The fog comes at dawn")
    assert codes(index.memory.recall("fog", kind="task")) == ["nothing_passes"]
    assert codes(index.memory.recall("fog", kind="fact")) == []
    base = index.knowledge.create("faq")
    base.put("Lanterns are lit at dusk.", title="Light")
    asked = {"index": "kb_faq", "filters": {"title": "None such"}, "search_method": "hybrid"}
    assert codes(index.search("dusk", "knowledge", **asked)) == ["nothing_passes"]
    assert codes(index.context("dusk", index="kb_faq", filters={"title": "None such"})) == ["nothing_passes"]
    both = index.search_all("fog", code={"filters": "lang:cobol"}, memory={"kind": "task"})
    assert codes(both) == ["nothing_passes", "nothing_passes"]
