"""The tools that a server lists: few by default, because every agent reads the list first."""

import json
import re
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp_support import body, over_stdio

from quintet.mcp.server import build_server
from quintet.mcp.tools import TOOLS
from quintet.model.tokens import tokens
from quintet.serving.shared_index import SharedIndex

pytestmark = pytest.mark.anyio

AGENT = {"search", "read", "related", "remember", "recall", "reindex", "status"}
PAGE = Path(__file__).parents[2] / "docs" / "mcp.md"


async def test_an_agent_sees_seven_tools_that_cost_what_the_documentation_says(library: Path) -> None:
    async with over_stdio(library) as client:
        tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == AGENT
    listed = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
    cost = tokens(json.dumps(listed, separators=(",", ":")))
    assert cost < 2_500
    figure = re.search(r"about ([0-9,]+) tokens", PAGE.read_text("utf-8"))
    assert figure is not None
    assert int(figure[1].replace(",", "")) == round(cost, -2)


async def test_the_full_toolset_lists_every_tool_and_says_what_they_are_for(library: Path) -> None:
    async with over_stdio(library, "--toolset", "full") as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == set(TOOLS)
        assert "`search_rifflux`" in (client.instructions or "")


async def test_the_tools_of_a_published_contract_answer_without_being_listed(shared: SharedIndex) -> None:
    async with Client(build_server(shared)) as client:
        found = body(await client.call_tool("search_rifflux", {"query": "cache"}))
        assert found["status"] == "never_indexed"
        assert "search_rifflux" not in (client.instructions or "")


def test_another_toolset_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    from quintet.cli.main import run

    assert run(["mcp", "--toolset", "all"]) == 2
    assert "--toolset is 'all'; it must be one of: agent, full" in capsys.readouterr().err
