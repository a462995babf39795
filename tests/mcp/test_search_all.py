"""The MCP tool `search_all`, asked by the SDK's client."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp_support import body, inside, refusal, text
from mcp_types import ResourceLink

from quintet.serving.shared_index import SharedIndex

pytestmark = pytest.mark.anyio


@pytest.fixture
def both(shared: SharedIndex, library: Path) -> SharedIndex:
    """SharedIndex to an index with code and memories."""
    shared.index.sync([library])
    shared.index.memory.remember("the cache was cold on monday", about=["cache_answer"])
    shared.index.memory.remember("cache answers for five minutes", "decision")
    return shared


async def test_code_and_memory_come_in_one_answer_as_its_schema_says(both: SharedIndex) -> None:
    async with inside(both) as client:
        (tool,) = [one for one in (await client.list_tools()).tools if one.name == "search_all"]
        found = body(await client.call_tool("search_all", {"query": "cache"}))
    assert tool.output_schema is not None and tool.annotations is not None
    Draft202012Validator(tool.output_schema).validate(found)
    assert tool.annotations.read_only_hint is True
    assert tool.input_schema["required"] == ["query"]
    assert found == json.loads(json.dumps(both.index.search_all("cache").wire()))
    assert {one["kind"] for one in found["hybrid_rank"]} == {"code", "memory"}


async def test_the_text_has_both_in_their_one_order_and_links_to_the_code(both: SharedIndex) -> None:
    async with inside(both) as client:
        result = await client.call_tool("search_all", {"query": "cache"})
    found, said = body(result), text(result)
    contents = {one["node"]["id"]: one["node"]["content"] for one in found["code"]}
    contents |= {one["id"]: one["text"] for one in found["memory"]}
    assert said.splitlines()[0] == f"{len(found['code'])} of code, 2 remembered [ok]"
    starts = [said.index(f"\n\n{rank}. ") for rank in range(1, len(found["hybrid_rank"]) + 1)]
    assert starts == sorted(starts)
    for start, end, one in zip(starts, [*starts[1:], len(said)], found["hybrid_rank"], strict=True):
        assert contents[one["id"]] in said[start:end]
    assert "about store.cache_answer: unchanged" in said
    links = {one.name for one in result.content if isinstance(one, ResourceLink)}
    assert links == {one["node"]["path"] for one in found["code"]}


async def test_each_half_takes_its_own_parameters(both: SharedIndex) -> None:
    given = {"query": "cache", "code": {"k": 1, "filters": "path:src/**"}, "memory": {"kind": "decision"}}
    async with inside(both) as client:
        found = body(await client.call_tool("search_all", given))
    assert [one["node"]["path"] for one in found["code"]] == ["src/store.py"]
    assert [one["kind"] for one in found["memory"]] == ["decision"]


async def test_a_budget_cuts_both_from_the_end_of_their_one_order(both: SharedIndex) -> None:
    async with inside(both) as client:
        whole = body(await client.call_tool("search_all", {"query": "cache"}))
        result = await client.call_tool("search_all", {"query": "cache", "max_tokens": 80})
        nothing = body(await client.call_tool("search_all", {"query": "cache", "max_tokens": 1}))
    short = body(result)
    kept = len(short["hybrid_rank"])
    assert 1 < kept < len(whole["hybrid_rank"])
    assert short["hybrid_rank"] == whole["hybrid_rank"][:kept]
    for kind in ("code", "memory"):
        count = sum(one["kind"] == kind for one in short["hybrid_rank"])
        assert short[kind] == whole[kind][:count]
    assert short["notes"][-1]["code"] == "results_cut"
    assert f"{kept} of {len(whole['hybrid_rank'])}" in text(result)
    assert (nothing["code"], nothing["memory"], nothing["hybrid_rank"]) == ([], [], [])


@pytest.mark.parametrize(
    ("given", "code", "hint"),
    [
        ({}, "invalid_parameter", "needs the argument 'query'"),
        ({"query": " "}, "bad_query", ""),
        (
            {"query": "x", "limit": 3},
            "invalid_parameter",
            "it takes: query, context, code, memory, max_tokens",
        ),
        ({"query": "x", "code": 3}, "invalid_parameter", "code is 3"),
        ({"query": "x", "memory": []}, "invalid_parameter", "memory is []"),
        ({"query": "x", "code": {"query": "y"}}, "invalid_parameter", "give it beside code"),
        ({"query": "x", "code": {"contract": "cfs"}}, "invalid_parameter", "give it beside code"),
        ({"query": "x", "memory": {"self": "y"}}, "invalid_parameter", "give it beside memory"),
        ({"query": "x", "code": {"scope_filters": {}}}, "invalid_parameter", "did you mean 'scope_filter'?"),
        ({"query": "x", "memory": {"tags": "a"}}, "invalid_parameter", "a list of texts"),
        ({"query": "x", "max_tokens": 0}, "invalid_parameter", "greater than or equal to 1"),
    ],
)
async def test_a_wrong_call_is_a_tool_error_with_its_code_and_one_sentence(
    both: SharedIndex, given: dict[str, Any], code: str, hint: str
) -> None:
    async with inside(both) as client:
        found, message = refusal(await client.call_tool("search_all", given))
    assert found == code
    assert hint in message
    assert "\n" not in message
