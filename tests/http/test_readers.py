"""Servers whose searches run in reader processes: the same bytes, through deaths and changes of the index."""

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from http_serving import Running, code_of, indexed, serving, started
from mcp.client.client import Client

import quintet
from processes.waiting import gone
from quintet.contracts import CONTRACTS
from quintet.serving.keys import Keys

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the readers in /proc")

BASES = "/v1/knowledge-bases"
Request = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files, memories and a knowledge base, for tests that only read."""
    folder = indexed(tmp_path_factory.mktemp("stocked"))
    with quintet.open(folder / ".quintet") as index:
        index.memory.remember("cache answers for five minutes", "decision", about=["docs/cache.md"])
        base = index.knowledge.create("manuals", properties=[{"name": "year", "type": "int"}])
        base.put("The cache of the old machine.", id="old", metadata={"year": 1999}, title="Old")
        base.put_file(folder / "docs" / "cache.md")
    return folder


@pytest.fixture(scope="module")
def pair(stocked: Path) -> Iterator[tuple[Running, Running]]:
    """The same index served by one process, and by one with readers."""
    with serving(stocked, QUINTET_READERS="1") as alone, serving(stocked, QUINTET_READERS="2") as front:
        yield alone, front


def readers_of(server: Running) -> list[int]:
    """The process ids of its children."""
    tasks = Path(f"/proc/{server.process.pid}/task")
    return sorted(int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split())


def metric(client: httpx.Client, name: str) -> float:
    lines = client.get("/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def await_calls(client: httpx.Client, count: int) -> None:
    """Until so many engine calls run."""
    while metric(client, "quintet_engine_calls") != count:
        pass


def searches() -> list[Request]:
    texts = ("cache", "cache key", "Čaj 検索", "don't C++", "zeppelin", "half \ud83d a pair", "", 7)
    return [
        *((f"/v1/contracts/{name}/search", {"query": text}) for name in CONTRACTS for text in texts),
        *((f"/v1/contracts/{name}/search", {"query": "cache", "limit": 2}) for name in CONTRACTS),
        *((f"/v1/contracts/{name}/search", {"query": "cache", "limit": -1}) for name in CONTRACTS),
        *((f"/v1/contracts/{name}/search", {"query": "cache", "mode": "lexical"}) for name in CONTRACTS),
        ("/v1/search", {"query": "cache", "filters": {"path": "docs/**"}, "semantic_weight": 0.1}),
        ("/v1/search", {"query": "cache", "filters": "path:docs/** OR ("}),
        ("/v1/search", {"query": "cache", "semantic_weight": 1e400}),
        ("/v1/search", {"query": "cache", "limit": True}),
    ]


def others() -> list[Request]:
    in_base = {"query": "cache", "index": "kb_manuals"}
    return [
        ("/v1/retrieval", {"retrieval": in_base}),
        ("/v1/retrieval", {"retrieval": in_base, "references": True}),
        ("/v1/retrieval", {"retrieval": {**in_base, "filters": {"year": 1999}, "search_method": "hybrid"}}),
        ("/v1/retrieval", {"retrieval": {**in_base, "index": "kb_none"}, "references": True}),
        ("/v1/search/all", {"query": "cache"}),
        ("/v1/search/all", {"query": "cache", "code": {"limit": 1}, "memory": {"kind": "decision"}}),
        ("/v1/search/all", {"query": "cache", "memory": {"kind": "nonsense"}}),
        ("/v1/why", {"query": "cache", "reference": "docs/keys.md", "params": {"limit": 1}}),
        ("/v1/why", {"query": "cache", "reference": "docs/none.md"}),
        ("/v1/why", {"query": "cache", "reference": "docs/keys.md", "contract": 3}),
        ("/v1/verify", {"version": 1}),
        (f"{BASES}/manuals/context", {"query": "cache", "budget": 50}),
        (f"{BASES}/manuals/context", {"query": "cache", "budget": "many"}),
        (f"{BASES}/none/context", {"query": "cache"}),
    ]


def responses(server: Running, requests: Sequence[Request]) -> list[tuple[int, dict[str, str], bytes]]:
    """Whole responses, each asked for twice: the second is from the cache."""
    given = []
    with server.client() as client:
        for path, body in [request for request in requests for _ in range(2)]:
            content = json.dumps(body).replace("Infinity", "1e400")  # which is JSON
            response = client.post(path, content=content, headers={"Content-Type": "application/json"})
            headers = {name: value for name, value in response.headers.items() if name != "date"}
            given.append((response.status_code, headers, response.content))
    return given


@pytest.mark.parametrize("requests", [searches(), others()], ids=["searches", "others"])
def test_readers_give_whole_responses_byte_for_byte(
    pair: tuple[Running, Running], requests: list[Request]
) -> None:
    alone, front = pair
    assert not readers_of(alone)
    expected = responses(alone, requests)
    assert {200, 400, 404} >= {status for status, _, _ in expected} >= {200, 400}
    assert responses(front, requests) == expected
    assert readers_of(front)


def test_a_receipt_from_readers_is_verified_and_is_the_one_of_a_server_without(
    pair: tuple[Running, Running],
) -> None:
    given = []
    for server in pair:
        with server.client() as client:
            receipt = client.post("/v1/search", json={"query": "cache", "receipt": True}).json()["receipt"]
            verdict = client.post("/v1/verify", json=receipt)
            assert verdict.json()["identical"]
            given.append((receipt["claim"], verdict.content))
    assert given[0] == given[1]


TOOLS: list[tuple[str, dict[str, Any]]] = [
    *(("search", {"query": "cache", "contract": name}) for name in CONTRACTS),
    ("search", {"query": "Čaj 検索", "max_tokens": 20}),
    ("search", {"query": "cache", "limit": 2, "filters": "path:docs/**", "receipt": False}),
    ("search", {"query": 7}),
    ("search", {"query": "cache", "nonsense": 1}),
    ("search", {"query": "cache", "contract": "nonsense"}),
    ("search_rifflux", {"query": "cache", "top_k": 2}),
    ("search_rifflux", {"query": "cache", "db_path": "elsewhere"}),
    ("retrieve", {"query": "cache", "index": "kb_manuals"}),
    ("retrieve", {"query": "cache", "index": "kb_none"}),
    ("search_all", {"query": "cache"}),
    ("recall", {"query": "cache", "kind": "decision"}),
    ("related", {"reference": "cache_answer"}),
    ("related", {"reference": "nowhere"}),
    ("read", {"reference": "docs/naïve.md"}),
    ("read", {"reference": "docs/none.md"}),
]


async def tool_results(address: str) -> list[dict[str, Any]]:
    """Whole results: structured content, text, links and errors."""
    async with Client(address) as client:
        return [
            (await client.call_tool(name, arguments)).model_dump(mode="json") for name, arguments in TOOLS
        ]


def test_readers_give_whole_tool_results(pair: tuple[Running, Running]) -> None:
    alone, front = (anyio.run(tool_results, f"{server.url}/mcp") for server in pair)
    assert alone == front
    assert {result["is_error"] for result in alone} == {True, False}


def test_the_server_of_mcp_over_http_gives_the_same_with_and_without_readers(stocked: Path) -> None:
    given = []
    words = [sys.executable, "-m", "quintet", "mcp", "--http", "127.0.0.1:0"]
    for count in ("1", "2"):
        with started(words, stocked, QUINTET_READERS=count) as server:
            given.append(anyio.run(tool_results, server.url))
            assert bool(readers_of(server)) == (count == "2")
    assert given[0] == given[1]


def test_a_reader_that_is_killed_in_the_middle_of_a_request_is_replaced_and_the_request_repeated(
    stocked: Path,
) -> None:
    with (
        serving(stocked, QUINTET_READERS="2") as server,
        server.client() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        expected = client.post("/v1/search", json={"query": "cache"}).content
        (reader,) = readers_of(server)
        os.kill(reader, signal.SIGSTOP)
        asked = pool.submit(client.post, "/v1/search", json={"query": "cache"})
        await_calls(client, 1)
        os.kill(reader, signal.SIGKILL)
        answered = asked.result()
        assert (answered.status_code, answered.content) == (200, expected)
        (replacement,) = readers_of(server)
        assert replacement != reader
        assert metric(client, "quintet_reader_deaths_total") == 1
        assert metric(client, "quintet_cache_misses_total") == 2  # one in each reader
    assert any("a reader process died: signal SIGKILL" in line for line in server.told)


def test_while_one_reader_is_busy_another_answers(stocked: Path) -> None:
    with (
        serving(stocked, QUINTET_READERS="2") as server,
        server.client() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        expected = client.post("/v1/search", json={"query": "cache"}).content
        (busy,) = readers_of(server)
        os.kill(busy, signal.SIGSTOP)
        slow = pool.submit(client.post, "/v1/search", json={"query": "cache"})
        await_calls(client, 1)
        assert client.post("/v1/search", json={"query": "cache"}).content == expected
        assert len(readers_of(server)) == metric(client, "quintet_reader_processes") == 2
        os.kill(busy, signal.SIGCONT)
        assert slow.result().content == expected


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_readers_end_with_their_server(stocked: Path, how: signal.Signals) -> None:
    with serving(stocked, QUINTET_READERS="2") as server, server.client() as client:
        client.post("/v1/search", json={"query": "cache"}).raise_for_status()
        (reader,) = readers_of(server)
        server.process.send_signal(how)
        server.process.wait()
        assert gone(reader)


def test_readers_see_what_the_server_writes(library: Path) -> None:
    with serving(library, QUINTET_READERS="2") as server, server.client() as client:

        def found(path: str, **body: Any) -> str:
            return client.post(path, json={"query": "zeppelin", **body}).text

        def reindexed() -> None:
            job = client.post("/v1/reindex", json={"path": "docs"}).headers["location"]
            with client.stream("GET", f"{job}/events") as events:
                assert '"state": "done"' in "".join(events.iter_lines())

        assert "airship" not in found("/v1/search")
        (library / "docs" / "new.md").write_text("The zeppelin is an airship.\n", "utf-8")
        reindexed()
        assert "airship" in found("/v1/search")
        (library / "docs" / "new.md").unlink()
        reindexed()
        assert "airship" not in found("/v1/search")

        base = {"index": "kb_sky"}
        assert "unknown_index" in found("/v1/contracts/knowledge/search", **base)
        for text in ("a zeppelin of Friedrichshafen", "a zeppelin of Lakehurst"):
            client.post(BASES, json={"slug": "sky"}).raise_for_status()
            client.post(f"{BASES}/sky/documents", json={"text": text}).raise_for_status()
            assert text in found("/v1/contracts/knowledge/search", **base)
            assert text in found(f"{BASES}/sky/context")
            client.delete(f"{BASES}/sky").raise_for_status()
            assert "unknown_index" in found("/v1/contracts/knowledge/search", **base)


def test_readers_find_what_an_agent_remembers(library: Path) -> None:
    async def asked(address: str) -> list[Any]:
        async with Client(address) as client:
            before = await client.call_tool("recall", {"query": "zeppelin"})
            await client.call_tool("remember", {"text": "the zeppelin lands at noon"})
            after = await client.call_tool("recall", {"query": "zeppelin"})
        return [len((result.structured_content or {})["results"]) for result in (before, after)]

    with serving(library, QUINTET_READERS="2") as server:
        assert anyio.run(asked, f"{server.url}/mcp") == [0, 1]
        assert readers_of(server)


def test_a_request_that_is_refused_reaches_no_reader(stocked: Path) -> None:
    keys = Keys(stocked / ".quintet")
    reading, narrow = keys.add("reading", "read")[1], keys.add("narrow", "write", ["sky"])[1]
    with serving(stocked, "--require-key", QUINTET_READERS="2") as server, server.client() as client:
        allowed = {"Authorization": f"Bearer {reading}"}
        client.post("/v1/search", json={"query": "cache"}, headers=allowed).raise_for_status()
        (reader,) = readers_of(server)
        os.kill(reader, signal.SIGSTOP)  # it would never answer
        refused = [
            ("/v1/search", {"query": "cache"}, "", "unauthorized"),
            ("/v1/search", {"query": "cache"}, "qk_0", "unauthorized"),
            ("/v1/search", {"query": "cache", "nonsense": 1}, reading, "invalid_parameter"),
            ("/v1/search/all", {"query": "cache"}, reading, "forbidden"),
            ("/v1/search", {"query": "cache"}, narrow, "forbidden"),
            (
                "/v1/contracts/knowledge/search",
                {"query": "a", "index": "kb_manuals"},
                narrow,
                "unknown_index",
            ),
            (f"{BASES}/manuals/context", {"query": "a"}, narrow, "unknown_index"),
        ]
        for path, body, key, code in refused:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            assert code_of(client.post(path, json=body, headers=headers))[1] == code
        os.kill(reader, signal.SIGCONT)
    keys.revoke("reading")
    keys.revoke("narrow")
