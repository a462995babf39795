"""Bodies, answers, time and numbers are bounded, each with its status."""

import asyncio
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from http_serving import PATIENCE, Running, child, code_of

from quintet.http.config import Limits
from quintet.http.protocol import bounded_protocol

CONNECTIONS = 200


def received(line: socket.socket) -> bytes:
    """Everything until the other side closes."""
    return b"".join(iter(lambda: line.recv(65536), b""))


def post(path: str, length: int, *more: str) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *more]
    return "\r\n".join([*head, f"Content-Length: {length}", "", ""]).encode()


@pytest.mark.parametrize("path", ["/v1/search", "/v1/retrieval", "/v1/reindex", "/v1/contracts/cfs/search"])
def test_a_body_that_is_too_large_is_refused(client: httpx.Client, path: str) -> None:
    body = json.dumps({"query": "x" * 1_000_000}).encode()
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert code_of(answer) == (413, "too_large")


def test_a_body_in_pieces_is_measured_as_it_comes(client: httpx.Client) -> None:
    pieces = (b" " * 65_536 for _ in range(32))
    answer = client.post("/v1/search", content=pieces, headers={"content-type": "application/json"})
    assert code_of(answer) == (413, "too_large")


def test_a_body_that_says_it_is_huge_is_refused_before_it_comes(server: Running) -> None:
    with socket.create_connection(server.address, timeout=PATIENCE) as line:
        line.sendall(post("/v1/search", 10**12))
        answer = received(line)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code": "too_large"' in answer


def test_an_answer_that_is_too_large_is_refused(library: Path) -> None:
    with child(library, result_bytes=500) as server, server.client() as client:
        answer = client.post("/v1/search", json={"query": "cache", "mode": "lexical"})
        assert code_of(answer) == (413, "too_large")
        assert "fewer results" in answer.json()["error"]["message"]


def test_a_client_that_is_slow_to_send_its_body_is_told_so(library: Path) -> None:
    with (
        child(library, body_seconds=0.1) as server,
        socket.create_connection(server.address, timeout=PATIENCE) as line,
    ):
        line.sendall(post("/v1/search", 100) + b'{"query"')
        answer = received(line)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"code": "slow_client"' in answer


def test_a_client_that_is_slow_to_send_its_head_is_dropped(library: Path) -> None:
    with child(library, head_seconds=0.1) as server:
        with socket.create_connection(server.address, timeout=PATIENCE) as silent:
            assert dropped(silent)
        with socket.create_connection(server.address, timeout=PATIENCE) as line:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: local")
            assert dropped(line)
        with socket.create_connection(server.address, timeout=PATIENCE) as second:
            second.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while b"}" not in second.recv(65536):
                pass
            second.sendall(b"GET /hea")
            assert dropped(second)


def dropped(line: socket.socket) -> bool:
    try:
        return received(line) == b""
    except ConnectionResetError:
        return True


def test_a_client_that_takes_nothing_is_dropped() -> None:
    """The kernel's buffers hide such a client from a test over a socket."""

    class Transport(asyncio.Transport):
        def __init__(self) -> None:
            super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
            self.aborted = asyncio.Event()

        def abort(self) -> None:
            self.aborted.set()

    async def scene() -> list[bool]:
        import uvicorn
        from uvicorn.server import ServerState

        seen = []
        for relieved in (False, True):
            config = uvicorn.Config(lambda *_: None, log_config=None)  # type: ignore[arg-type]
            kind = bounded_protocol(Limits(write_seconds=0, head_seconds=PATIENCE))
            protocol = kind(config, ServerState(), {})  # type: ignore[call-arg]
            transport = Transport()
            protocol.connection_made(transport)
            protocol.pause_writing()
            if relieved:
                protocol.resume_writing()
            await asyncio.sleep(0)  # one turn of the loop, in which a timer of 0 s fires
            await asyncio.sleep(0)
            seen.append(transport.aborted.is_set())
            protocol.connection_lost(ConnectionError())
        return seen

    assert asyncio.run(scene()) == [True, False]


def test_two_hundred_connections_at_once_are_all_answered(server: Running) -> None:
    asked = json.dumps({"query": "cache", "limit": 3}).encode()
    lines = [socket.create_connection(server.address, timeout=PATIENCE) for _ in range(CONNECTIONS)]
    try:
        for line in lines:
            line.sendall(post("/v1/search", len(asked), "Connection: close") + asked)
        answers = [received(line) for line in lines]
    finally:
        for line in lines:
            line.close()
    assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in answers)
    assert len({answer.partition(b"\r\n\r\n")[2] for answer in answers}) == 1


def test_beyond_the_queue_requests_are_turned_away_and_told_when_to_return(library: Path) -> None:
    with (
        child(library, workers=1, waiting=0) as server,
        server.client() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        stuck = pool.submit(httpx.post, f"{server.url}/v1/search", json={"query": "stuck"}, timeout=PATIENCE)
        server.await_line("stuck")
        turned = client.post("/v1/search", json={"query": "cache"})
        assert code_of(turned) == (429, "too_many")
        assert turned.headers["retry-after"] == "1"
        for path in ("/healthz", "/readyz", "/metrics"):
            assert client.get(path).status_code == 200
        server.release()
        assert stuck.result(PATIENCE).status_code == 200
        assert client.post("/v1/search", json={"query": "cache"}).status_code == 200


def calls_of(client: httpx.Client) -> int:
    (line,) = [
        one for one in client.get("/metrics").text.splitlines() if one.startswith("quintet_engine_calls ")
    ]
    return int(float(line.split()[1]))


def await_calls(client: httpx.Client, count: int) -> None:
    """Until that many calls of the engine run or wait."""
    deadline = time.monotonic() + PATIENCE
    while calls_of(client) != count:
        assert time.monotonic() < deadline


def test_work_whose_client_has_gone_before_its_turn_is_dropped(library: Path) -> None:
    body = json.dumps({"query": "stuck behind"}).encode()
    with child(library, workers=1) as server, server.client() as client, ThreadPoolExecutor(1) as pool:
        first = pool.submit(httpx.post, f"{server.url}/v1/search", json={"query": "stuck"}, timeout=PATIENCE)
        server.await_line("stuck")
        with socket.create_connection(server.address, timeout=PATIENCE) as line:
            line.sendall(post("/v1/search", len(body)) + body)
            await_calls(client, 2)
        await_calls(client, 1)
        server.release()
        assert first.result(PATIENCE).status_code == 200
        await_calls(client, 0)


def test_a_search_that_takes_too_long_is_given_up_and_counts_until_it_ends(library: Path) -> None:
    with child(library, workers=1, waiting=0, seconds=0.1) as server, server.client() as client:
        overdue = client.post("/v1/search", json={"query": "stuck"})
        assert code_of(overdue) == (503, "timed_out")
        assert overdue.headers["retry-after"] == "1"
        assert code_of(client.post("/v1/search", json={"query": "cache"})) == (429, "too_many")


def test_beyond_the_number_of_connections_new_ones_are_turned_away(library: Path) -> None:
    with child(library, connections=1) as server, server.client() as client:
        assert client.get("/healthz").status_code == 200
        with socket.create_connection(server.address, timeout=PATIENCE) as line:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = received(line)
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert b'"code": "too_many"' in answer
