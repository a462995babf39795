"""The server as a process: what it writes, which protocol it speaks, and when it ends."""

import http.client
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp.client.client import Client
from mcp_support import SERVER, body, environment, http_server, over_stdio, primed

from quintet.errors import UsageError
from quintet.mcp.run import parse_address as address_of

PATIENCE = 60  # seconds; only a fault takes that long

CLIENT = """
import sys, anyio
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

async def hear(progress, total, message):
    print("started", flush=True)

async def main():
    server = StdioServerParameters(command=sys.executable, args=["-m", "quintet", "mcp"],
                                   env={"QUINTET_BATCH_FILES": "1"})
    async with Client(stdio_client(server)) as client:
        await client.call_tool("reindex", {}, progress_callback=hear)
        await anyio.sleep_forever()

anyio.run(main)
"""


class Wire:
    """The protocol by hand, a line a message. Whatever else is on standard output fails to parse."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def tell(self, method: str, params: dict[str, Any], number: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        self.write(json.dumps(message))

    def write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def ask(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.tell(method, params, number)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        while True:
            line = self._process.stdout.readline()
            assert line, self._process.stderr.read().decode()  # it ended: say why
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == number:
                return message["result"]

    def initialise(self, version: str) -> dict[str, Any]:
        about = {"name": "by hand", "version": "1"}
        given = {"protocolVersion": version, "capabilities": {}, "clientInfo": about}
        answer = self.ask(0, "initialize", given)
        self.tell("notifications/initialized", {})
        return answer

    def call(self, number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return self.ask(number, "tools/call", {"name": name, "arguments": arguments})


@contextmanager
def process(folder: Path, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    started = subprocess.Popen(
        [*SERVER, *arguments],
        cwd=primed(folder),
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def test_standard_output_holds_the_protocol_alone_and_no_log_holds_text(library: Path) -> None:
    with process(library) as server:
        wire = Wire(server)
        wire.initialise("2025-06-18")
        wire.call(1, "reindex", {})
        assert wire.call(2, "search", {"query": "five minutes"})["structuredContent"]["results"]
        assert wire.call(3, "search", {"query": "five minutes", "nonsense": "five minutes"})["isError"]
        assert wire.call(4, "read", {"reference": "five minutes"})["isError"]
        wire.tell("no/such/thing", {"text": "five minutes"})
        assert wire.ask(5, "ping", {}) == {}
        rest, log = server.communicate(timeout=PATIENCE)  # closes its standard input
        assert server.returncode == 0
    assert rest == b""
    assert b"minutes" not in log


def test_half_of_an_emoji_in_a_request_is_replaced_and_the_request_answered(library: Path) -> None:
    asked = {"name": "search", "arguments": {"query": "five minutes \ud83d", "mode": "lexical"}}
    with process(library) as server:
        wire = Wire(server)
        wire.initialise("2025-06-18")
        wire.call(1, "reindex", {})
        found = wire.ask(2, "tools/call", asked)["structuredContent"]
    assert found["query"] == "five minutes \ufffd"
    assert found["results"][0]["path"] == "docs/cache.md"


def test_a_request_of_many_levels_is_answered_under_its_id(library: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"not": deep}
    with process(library) as server:
        wire = Wire(server)
        wire.initialise("2025-06-18")
        assert wire.call(1, "search", {"query": "cache", "filters": deep})["isError"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("nonsense", -32700),
        ('{"jsonrpc": "2.0", "id": 1, "method": "ping"', -32700),
        ("[" * 100_000, -32700),
        ('{"jsonrpc": "2.0", "id": 1}', -32600),
        ("[]", -32600),
    ],
)
def test_a_line_that_is_no_message_is_refused_and_the_next_one_answered(
    library: Path, line: str, code: int
) -> None:
    with process(library) as server:
        wire = Wire(server)
        wire.initialise("2025-06-18")
        wire.write(line)
        refused = wire.hear()
        wire.write("")  # says nothing, so nothing is said about it
        wire.tell("ping", {}, 2)
        assert wire.hear()["id"] == 2
    assert (refused["id"], refused["error"]["code"]) == (None, code)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26"])
def test_older_protocol_versions_are_spoken(library: Path, version: str) -> None:
    with process(library) as server:
        wire = Wire(server)
        answer = wire.initialise(version)
        assert answer["protocolVersion"] == version
        assert answer["serverInfo"]["name"] == "quintet"
        assert "Nothing is indexed yet" in answer["instructions"]
        assert len(wire.ask(1, "tools/list", {})["tools"]) == 7
        assert json.loads(json.dumps(wire.call(2, "status", {})))["content"][0]["type"] == "text"


@pytest.mark.anyio
async def test_the_newest_protocol_version_is_spoken(library: Path) -> None:
    async with over_stdio(library, mode="2026-07-28") as client:
        assert body(await client.call_tool("status", {}))["files"] == 0
        assert client.protocol_version == "2026-07-28"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of processes are waited for as on POSIX")
def test_a_killed_client_leaves_no_process_behind_even_during_a_reindex(library: Path) -> None:
    for number in range(500):
        (library / f"{number}.md").write_text(f"# Note {number}\n", "utf-8")
    read_end, write_end = os.pipe()  # both processes hold its other end as standard error
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT],
        cwd=primed(library),
        stdout=subprocess.PIPE,
        stderr=write_end,
        env=environment(),
    )
    os.close(write_end)
    assert client.stdout is not None
    assert client.stdout.readline() == b"started\n"
    client.kill()
    client.communicate()
    said = b""
    while select.select([read_end], [], [], PATIENCE)[0]:
        data = os.read(read_end, 65536)
        said += data
        if not data:
            break
    else:
        pytest.fail("the server is still there")
    os.close(read_end)
    assert b"Traceback" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_http_server_ends_cleanly_on_a_signal(library: Path, number: signal.Signals) -> None:
    with http_server(library) as (_, server):
        server.send_signal(number)
        _, said = server.communicate(timeout=PATIENCE)
        assert server.returncode == 0
    assert "Traceback" not in said


@pytest.mark.anyio
async def test_a_server_that_watches_finds_what_is_written_meanwhile(library: Path) -> None:
    with http_server(library, "--watch") as (address, _):
        async with Client(address) as client:
            await client.call_tool("reindex", {})
            (library / "boat.md").write_text("# Boats\n\nA boat floats.\n", "utf-8")
            found: list[Any] = []
            while not found:
                found = body(await client.call_tool("search", {"query": "boat", "mode": "lexical"}))[
                    "results"
                ]
    assert found[0]["path"] == "boat.md"


@pytest.mark.parametrize(
    ("header", "value", "status"), [("Host", "evil.example", 421), ("Origin", "http://evil.example", 403)]
)
def test_pages_of_other_sites_are_refused(address: str, header: str, value: str, status: int) -> None:
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port)
    connection.request("POST", place.path, "{}", {header: value, "Content-Type": "application/json"})
    assert connection.getresponse().status == status
    connection.close()


@pytest.mark.parametrize("given", ["8080", "0.0.0.0:8080", "example.org:80", "127.0.0.1:http", "[::]:1"])
def test_only_addresses_of_this_machine_are_bound(given: str) -> None:
    with pytest.raises(UsageError, match="--http"):
        address_of(given)


def test_a_folder_that_is_allowed_must_be_there(library: Path) -> None:
    done = subprocess.run(
        [*SERVER, "--allow", "nowhere"], cwd=library, capture_output=True, check=False, env=environment()
    )
    assert done.returncode == 2
    assert b"it must be a folder" in done.stderr
    assert done.stdout == b""


@pytest.mark.anyio
async def test_a_further_folder_can_be_allowed(library: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "boat.md").write_text("# Boats\n", "utf-8")
    async with over_stdio(library, "--allow", str(outside)) as client:
        assert body(await client.call_tool("reindex", {"path": str(outside)}))["indexed_files"] == 1
