"""Documents of knowledge bases, found by agents."""

from collections.abc import Iterator
from typing import Any

import pytest
from mcp_support import body, inside, text
from mcp_types import CallToolResult

import quintet
from quintet.serving.shared_index import SharedIndex

pytestmark = pytest.mark.anyio

WAYS = {
    "retrieve": {"query": "cars", "index": "kb_faq", "search_method": "keyword"},
    "search": {"query": "cars", "contract": "knowledge", "mode": "keyword", "params": {"index": "kb_faq"}},
}
PARKING = b"# Parking\n\nCars are parked behind the house.\n"


@pytest.fixture
def index(shared: SharedIndex) -> Iterator[quintet.Index]:
    shared.index.knowledge.create("faq")
    yield shared.index


def found(result: CallToolResult) -> list[dict[str, Any]]:
    (call,) = body(result)["retrieval_calls"]
    return list(call["results"])


@pytest.mark.parametrize("tool", WAYS)
async def test_an_uploaded_file_goes_by_its_name(
    shared: SharedIndex, index: quintet.Index, tool: str
) -> None:
    index.knowledge.get("faq").put_file(PARKING, "parking.md")
    async with inside(shared) as client:
        result = await client.call_tool(tool, WAYS[tool])
    assert len(found(result)) == 1
    assert "1. parking.md (score " in text(result)


@pytest.mark.parametrize("tool", WAYS)
async def test_a_text_that_was_put_goes_by_its_id(
    shared: SharedIndex, index: quintet.Index, tool: str
) -> None:
    index.knowledge.get("faq").put("Cars are parked behind the house.", id="parking")
    async with inside(shared) as client:
        result = await client.call_tool(tool, WAYS[tool])
    assert len(found(result)) == 1
    assert "1. parking (score " in text(result)


@pytest.mark.parametrize("tool", WAYS)
async def test_results_of_a_base_link_to_no_file_of_a_folder(
    shared: SharedIndex, index: quintet.Index, tool: str
) -> None:
    """Neither those of a source, nor an upload that has the name of an indexed file."""
    docs = shared.index.folder.parent / "docs"
    (docs / "cars.md").write_text("# Cars\n\nThe cars of the house.\n", "utf-8")
    index.sync([docs])
    base = index.knowledge.get("faq")
    base.sync_source(str(base.add_source(docs)["id"]))
    base.put_file(PARKING, "cars.md")
    async with inside(shared) as client:
        result = await client.call_tool(tool, WAYS[tool])
        outside = await client.call_tool("retrieve", {"query": "cars", "search_method": "keyword"})
    assert len(found(result)) == 2
    assert [one.type for one in result.content] == ["text"]
    assert [one.type for one in outside.content] == ["text", "resource_link"]
