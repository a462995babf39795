"""A tool that breaks down: what the agent is told, and what the log shows."""

from pathlib import Path
from typing import Any

import pytest
from mcp_support import inside, refusal

import quintet
from quintet.query.search import Response
from quintet.serving.shared_index import SharedIndex


class BrokenIndex(SharedIndex):
    def search(self, *arguments: Any, **options: Any) -> Response:
        raise ZeroDivisionError("secret words of a document")


@pytest.mark.anyio
@pytest.mark.parametrize(("debug", "shown"), [("1", True), ("0", False)])
async def test_the_log_shows_where_a_tool_broke_down_only_when_that_is_asked_for(
    library: Path,
    debug: str,
    shown: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("QUINTET_DEBUG", debug)
    shared = BrokenIndex(quintet.open(library / ".quintet", "hashing"), base=library)
    async with inside(shared) as client:
        code, message = refusal(await client.call_tool("search", {"query": "cache"}))
    shared.close()
    assert (code, "secret" in message) == ("internal_error", False)
    assert "tool search failed: ZeroDivisionError" in caplog.text
    assert ("Traceback" in caplog.text) is shown
    assert ("secret" in caplog.text) is shown
