"""Documents come in while clients ask: no error, and no document that is only half there."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from http_serving import Running, indexed, serving

BASE = "/v1/knowledge-bases/harbour"
CLIENTS = 8
CHUNKS = 3  # of every document
FEW, MANY, AT_ONCE = 200, 2_000, 100


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with serving(indexed(tmp_path / "harbour")) as server, server.client() as client:
        client.post("/v1/knowledge-bases", json={"slug": "harbour"})
        yield server


def document(number: int) -> dict[str, str]:
    """Its chunks share a word of their own, and each has the words that all have."""
    parts = [f"# Part {part}\n\nShip{number:05d} sails to the quay.\n" for part in range(CHUNKS)]
    return {"id": f"ship-{number}", "text": "\n".join(parts), "mime": "text/markdown"}


def upload(client: httpx.Client, count: int) -> list[str]:
    outcomes = []
    for start in range(0, count, AT_ONCE):
        several = [document(number) for number in range(start, min(start + AT_ONCE, count))]
        answer = client.post(f"{BASE}/documents", json={"documents": several})
        assert answer.status_code == 200, answer.text
        outcomes += [one["outcome"] for one in answer.json()["documents"]]
    return outcomes


def asked(client: httpx.Client, query: str, method: str, top_k: int) -> list[dict[str, Any]]:
    body = {"index": "kb_harbour", "query": query, "search_method": method, "top_k": top_k}
    answer = client.post("/v1/retrieval", json={"retrieval": body})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["status"] in ("ok", "empty_index", "never_indexed"), told
    (call,) = told["retrieval_calls"]
    return list(call["results"])


def look(running: Running, seed: int, count: int, over: threading.Event) -> int:
    """Ask until the upload is over; how many answers were looked at."""
    answers = 0
    with running.client() as client:
        while not over.is_set() or answers == 0:
            number = (seed + CLIENTS * answers) % count
            whole = asked(client, f"Ship{number:05d}", "keyword", 50)
            ids = {one["metadata"]["document_id"] for one in whole}
            assert (len(whole), ids) in ((0, set()), (CHUNKS, {f"ship-{number}"}))
            for one in asked(client, "quay", ("semantic", "hybrid")[answers % 2], 10):
                place = f"{BASE}/documents/{one['metadata']['document_id']}"
                assert client.get(place).json()["chunks"] == CHUNKS
            answers += 1
    return answers


def check(running: Running, count: int) -> None:
    over = threading.Event()
    with ThreadPoolExecutor(CLIENTS) as pool, running.client() as client:
        looking = [pool.submit(look, running, seed, count, over) for seed in range(CLIENTS)]
        try:
            outcomes = upload(client, count)
        finally:
            over.set()
        assert all(one.result() > 0 for one in looking)
        assert outcomes == ["created"] * count
        told = client.get(BASE).json()
        assert (told["documents"], told["chunks"], told["embedded"]) == (
            count,
            CHUNKS * count,
            CHUNKS * count,
        )


def test_two_hundred_documents_come_in_while_eight_clients_ask(running: Running) -> None:
    check(running, FEW)


@pytest.mark.slow
def test_two_thousand_documents_come_in_while_eight_clients_ask(running: Running) -> None:
    check(running, MANY)


def test_a_server_that_is_killed_in_the_middle_leaves_whole_documents(tmp_path: Path) -> None:
    place = indexed(tmp_path / "harbour")
    several = [document(number) for number in range(FEW)]
    with pytest.raises(httpx.HTTPError), serving(place) as server, server.client() as client:
        client.post("/v1/knowledge-bases", json={"slug": "harbour"})
        threading.Thread(target=kill_when_some_are_there, args=[server], daemon=True).start()
        while True:
            client.post(f"{BASE}/documents", json={"documents": several})
    with serving(place) as server, server.client() as client:
        told = client.get(BASE).json()
        assert told["chunks"] == CHUNKS * told["documents"] == told["embedded"]
        for start in range(0, FEW, AT_ONCE):
            body = {"documents": several[start : start + AT_ONCE]}
            outcomes = client.post(f"{BASE}/documents", json=body).json()["documents"]
            assert {one["outcome"] for one in outcomes} <= {"created", "unchanged"}
        assert client.get(BASE).json()["documents"] == FEW


def kill_when_some_are_there(server: Running) -> None:
    with server.client() as client:
        while client.get(BASE).json()["documents"] == 0:
            pass
    server.process.kill()
