"""The MCP tools `remember` and `recall`, asked by the SDK's client."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from mcp_support import body, inside, refusal, text

import quintet
from quintet.serving.shared_index import SharedIndex

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def shared(project: Path) -> Iterator[SharedIndex]:
    opened = SharedIndex(quintet.open(project / ".quintet", "hashing"), base=project)
    opened.index.sync([project])
    yield opened
    opened.close()


async def test_remember_writes_and_destroys_nothing_recall_only_reads(shared: SharedIndex) -> None:
    async with inside(shared) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    write, read = tools["remember"].annotations, tools["recall"].annotations
    assert write is not None and read is not None
    assert (write.read_only_hint, write.destructive_hint, write.idempotent_hint) == (False, False, False)
    assert (read.read_only_hint, read.destructive_hint, read.idempotent_hint) == (True, False, True)
    assert tools["remember"].input_schema["required"] == ["text"]
    assert tools["remember"].input_schema["properties"]["kind"]["enum"][0] == "decision"


async def test_an_agent_recalls_what_it_remembered(shared: SharedIndex, project: Path) -> None:
    async with inside(shared) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        kept = body(
            await client.call_tool(
                "remember",
                {
                    "text": "answers live five minutes",
                    "kind": "decision",
                    "tags": ["cache"],
                    "about": ["Cache.get"],
                    "session": "s",
                    "metadata": {"a": 1},
                },
            )
        )
        (project / "src" / "cache.py").write_text("class Cache:\n    def get(self): ...\n", "utf-8")
        answer = await client.call_tool("recall", {"query": "answers", "tags": ["cache"], "kind": "decision"})
    for name, given in (("remember", kept), ("recall", body(answer))):
        schema = tools[name].output_schema
        assert schema is not None
        Draft202012Validator(schema).validate(given)
    (found,) = body(answer)["results"]
    assert (found["id"], found["metadata"], found["freshness"]) == (kept["id"], {"a": 1}, "Stale")
    assert "about cache.Cache.get: changed" in text(answer)
    assert body(answer) == json.loads(
        json.dumps(shared.index.memory.recall("answers", tags=["cache"]).wire())
    )


async def test_an_answer_is_cut_to_the_budget_and_says_so(shared: SharedIndex) -> None:
    async with inside(shared) as client:
        for number in range(5):
            await client.call_tool("remember", {"text": f"number {number} " + "words " * 100})
        answer = body(await client.call_tool("recall", {"query": "words", "max_tokens": 400}))
    assert len(answer["results"]) == 2
    assert [note["code"] for note in answer["notes"]] == ["results_cut"]


@pytest.mark.parametrize(
    ("tool", "given", "code"),
    [
        ("remember", {}, "invalid_parameter"),
        ("remember", {"text": 5}, "invalid_parameter"),
        ("remember", {"text": "x", "tags": "a"}, "invalid_parameter"),
        ("remember", {"text": "x", "metadata": [1]}, "invalid_parameter"),
        ("remember", {"text": "x", "metadata": []}, "invalid_parameter"),
        ("remember", {"text": "x", "supersedes": "nobody"}, "memory_not_found"),
        ("remember", {"text": "x" * 20_001}, "too_large"),
        ("remember", {"text": "x", "colour": 1}, "invalid_parameter"),
        ("recall", {"query": " "}, "bad_query"),
        ("recall", {"query": "x", "limit": 0}, "invalid_parameter"),
        ("recall", {"query": "x", "since": "now"}, "invalid_parameter"),
    ],
)
async def test_a_wrong_call_is_a_tool_error_with_its_code(
    shared: SharedIndex, tool: str, given: dict[str, object], code: str
) -> None:
    async with inside(shared) as client:
        assert refusal(await client.call_tool(tool, given))[0] == code
