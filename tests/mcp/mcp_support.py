"""A small library, and the SDK's own client against the server: in a process of its own, or in this one."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, TextContent

import quintet
from mcp import StdioServerParameters
from quintet.mcp.server import build_server
from quintet.serving.shared_index import SharedIndex

FILES = {
    "docs/cache.md": "# Guide\n\nAn overview.\n\n## Caching\n\nThe cache keeps answers for five minutes.\n",
    "docs/keys.md": "# Keys\n\nAn entry goes by its key, and a cache key is a digest.\n",
    "src/store.py": "def cache_answer(key):\n    return key\n",
}
SERVER = [sys.executable, "-m", "quintet", "mcp"]


def fill(folder: Path) -> Path:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def primed(folder: Path) -> Path:
    """With an empty index that uses hashed words: no test needs a model, whatever the default is."""
    if not (folder / ".quintet").exists():
        with quintet.open(folder / ".quintet", "hashing") as index:
            index.embed()
    return folder


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("QUINTET_")}
    return {**kept, **changes}


@asynccontextmanager
async def inside(shared: SharedIndex, **options: Any) -> AsyncIterator[Client]:
    """A client of a server in this process."""
    async with Client(build_server(shared, "full"), **options) as client:
        yield client


@asynccontextmanager
async def over_stdio(
    folder: Path, *arguments: str, mode: str = "auto", **changes: str
) -> AsyncIterator[Client]:
    """A client of a server that it starts itself, as agents do."""
    command, *first = SERVER
    server = StdioServerParameters(
        command=command, args=[*first, *arguments], cwd=primed(folder), env=environment(**changes)
    )
    async with Client(stdio_client(server), mode=mode) as client:
        yield client


@contextmanager
def http_server(folder: Path, *arguments: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A server on a free port of this machine: its address and its process."""
    process = subprocess.Popen(
        [*SERVER, "--http", "127.0.0.1:0", "--toolset", "full", *arguments],
        cwd=primed(folder),
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        assert said.startswith("listening on "), said
        yield said.removeprefix("listening on ").strip(), process
    finally:
        process.terminate()
        process.communicate()


def body(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


def text(result: CallToolResult) -> str:
    (first, *_) = result.content
    assert isinstance(first, TextContent)
    return first.text


def refusal(result: CallToolResult) -> tuple[str, str]:
    """The code and the sentence of a tool error."""
    assert result.is_error, result.structured_content
    code, _, message = text(result).partition(": ")
    assert result.meta is not None
    assert result.meta["quintet/error"]["code"] == code
    return code, message
