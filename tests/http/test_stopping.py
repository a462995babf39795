"""A signal comes while answers are under way."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from http_serving import PATIENCE, child, code_of, serving
from starlette.types import Message, Receive, Scope, Send

import quintet
from processes.waiting import children, embedding_processes, gone
from quintet.http.authentication import Guard
from quintet.http.config import Config
from quintet.http.metrics import Metrics
from quintet.http.middleware import RequestMiddleware
from quintet.serving.keys import Keys

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")


@posix
def test_an_answer_under_way_is_finished_first(library: Path) -> None:
    with child(library) as server, ThreadPoolExecutor(1) as pool:
        stuck = pool.submit(httpx.post, f"{server.url}/v1/search", json={"query": "stuck"}, timeout=PATIENCE)
        server.await_line("stuck")
        server.process.terminate()
        server.release()
        assert stuck.result(PATIENCE).status_code == 200
        assert server.process.wait(PATIENCE) == 0


@posix
def test_whoever_would_wait_too_long_is_told_that_the_server_stops(library: Path) -> None:
    with child(library, grace_seconds=0) as server, ThreadPoolExecutor(1) as pool:
        stuck = pool.submit(httpx.post, f"{server.url}/v1/search", json={"query": "stuck"}, timeout=PATIENCE)
        server.await_line("stuck")
        server.process.terminate()
        answer = stuck.result(PATIENCE)
        assert code_of(answer) == (503, "stopping")
        assert answer.headers["retry-after"] == "1"
        assert "may have been carried out" in answer.json()["error"]["message"]
        server.release()
        assert server.process.wait(PATIENCE) == 0


def test_a_request_that_is_cancelled_while_the_server_goes_on_is_cancelled(tmp_path: Path) -> None:
    sent: list[Message] = []

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.Event().wait()

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    async def cancelled() -> None:
        front = RequestMiddleware(endless, Guard(Config(), Keys(tmp_path)), Metrics())
        scope = {"type": "http", "method": "GET", "headers": [(b"host", b"localhost")]}
        asking = asyncio.create_task(front(scope, receive, send))
        await asyncio.wait([asking], timeout=0)
        asking.cancel()
        await asking

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert sent == []


@posix
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="lists processes by /proc")
def test_an_upload_that_embeds_for_minutes_does_not_keep_a_server_from_stopping(tmp_path: Path) -> None:
    with quintet.open(tmp_path / ".quintet", "granite") as index:
        index.knowledge.create("shelf")
    words = " ".join(f"word{number} of the tide" for number in range(150_000))
    url = f"/v1/knowledge-bases/shelf/documents?wait={PATIENCE}"
    with serving(tmp_path) as server, ThreadPoolExecutor(1) as pool, server.client() as client:
        sending = pool.submit(client.post, url, files={"file": ("long.txt", words)}, timeout=PATIENCE)
        while len(embedding_processes(server.process.pid)) < 2:
            assert not sending.done()
        workers = children(server.process.pid)
        server.process.terminate()
        (outcome,) = sending.result(PATIENCE).json()["documents"]
        assert server.process.wait(PATIENCE) == 0
    assert all(gone(pid) for pid in workers)
    with quintet.open(tmp_path / ".quintet", create=False) as index:
        described = index.knowledge.get("shelf").describe()
    assert (outcome["outcome"], described["documents"], described["embedded"]) == ("created", 1, 0)
