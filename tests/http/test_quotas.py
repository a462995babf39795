"""Quotas of API keys: a hostile tenant is told to wait, and a careful one goes on."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from http_serving import PATIENCE, Running, child, code_of

from quintet.errors import LimitError
from quintet.http.config import Limits
from quintet.http.jobs import Job, Jobs
from quintet.http.quotas import CALLER, WorkSeconds
from quintet.http.workers import SLICE_SECONDS, Turns
from quintet.serving.keys import Key, Keys
from quintet.settings import Settings, load_settings

BASES = "/v1/knowledge-bases"
HOSTILE = Key("h", "hostile", "write", "", "", "")
CAREFUL = Key("c", "careful", "write", "", "", "")


@contextmanager
def tenants(library: Path, **limits: float) -> Iterator[SimpleNamespace]:
    """A server with bases `one`, `two` and `mine`. The hostile key has the first two, the careful one has the
    last."""
    with ExitStack() as stack:
        server: Running = stack.enter_context(child(library, **limits))
        owner = stack.enter_context(server.client())
        for slug in ("one", "two", "mine"):
            assert owner.post(BASES, json={"slug": slug}).status_code == 201
        keys = Keys(library / "waiting")
        clients = {}
        for name, bases in {"hostile": ["one", "two"], "careful": ["mine"]}.items():
            token = keys.add(name, "write", bases)[1]
            headers = {"Authorization": f"Bearer {token}"}
            clients[name] = stack.enter_context(server.client(headers=headers))
        yield SimpleNamespace(server=server, **clients)


def put(client: httpx.Client, base: str, text: str, wait: int = 0) -> httpx.Response:
    return client.post(f"{BASES}/{base}/documents?wait={wait}", json={"text": text})


def is_told_to_wait(answer: httpx.Response, words: str) -> None:
    assert code_of(answer) == (429, "too_many")
    assert int(answer.headers["retry-after"]) >= 1
    assert words in answer.json()["error"]["message"]
    assert "'hostile'" in answer.json()["error"]["message"]


def stored(answer: httpx.Response) -> list[str]:
    return [one["outcome"] for one in answer.json()["documents"]]


def test_unfinished_jobs_of_a_key_are_counted_over_all_of_its_bases(library: Path) -> None:
    with tenants(library, jobs_of_key=2) as two:
        assert put(two.hostile, "one", "a stuck document").status_code == 202
        two.server.await_line("stuck")
        assert put(two.hostile, "two", "another").status_code == 202
        is_told_to_wait(put(two.hostile, "two", "a third"), "2 jobs of key")
        assert stored(put(two.careful, "mine", "a careful document", wait=300)) == ["created"]
        two.server.release()


def test_unwritten_bytes_of_a_key_are_counted_over_all_of_its_bases(library: Path) -> None:
    with tenants(library, bytes_of_key=1000) as two:
        assert put(two.hostile, "one", "stuck " * 150).status_code == 202
        two.server.await_line("stuck")
        is_told_to_wait(put(two.hostile, "two", "x" * 200), "900 bytes sent with key")
        assert put(two.hostile, "two", "x" * 50).status_code == 202
        assert stored(put(two.careful, "mine", "y" * 2000, wait=300)) == ["created"]
        two.server.release()


def test_uploads_that_trickle_in_take_no_place_of_another_key(library: Path) -> None:
    """Bodies that never come. The server asks for one when it has given the upload its place."""
    with tenants(library, uploads_of_key=2, uploads=3) as two, ExitStack() as stack:
        for base in ("one", "two"):
            line = stack.enter_context(socket.create_connection(two.server.address, timeout=PATIENCE))
            head = [
                f"POST {BASES}/{base}/documents HTTP/1.1",
                "Host: localhost",
                f"Authorization: {two.hostile.headers['authorization']}",
                "Content-Type: multipart/form-data; boundary=b",
                "Content-Length: 1000",
                "Expect: 100-continue",
            ]
            line.sendall("\r\n".join([*head, "", ""]).encode())
            assert line.recv(65536).startswith(b"HTTP/1.1 100 ")
        is_told_to_wait(send_file(two.hostile, "one"), "2 uploads with key")
        assert stored(send_file(two.careful, "mine")) == ["created"]


def send_file(client: httpx.Client, base: str) -> httpx.Response:
    return client.post(f"{BASES}/{base}/documents?wait=300", files={"file": ("a.txt", f"of {base}")})


def test_calls_of_a_key_have_a_bound_and_never_all_threads(library: Path) -> None:
    with tenants(library, calls_of_key=2, workers=2) as two, ThreadPoolExecutor(2) as pool:
        put(two.careful, "mine", "a careful document", wait=300)
        asked = {"query": "stuck", "index": "kb_one"}
        running = [pool.submit(two.hostile.post, "/v1/search", json=asked) for _ in range(2)]
        two.server.await_line("stuck")  # one runs, the other waits: the second thread is for others
        turned = two.hostile.get(f"{BASES}/one")
        deadline = time.monotonic() + PATIENCE
        while turned.status_code != 429:  # the other has not arrived yet
            assert time.monotonic() < deadline
            turned = two.hostile.get(f"{BASES}/one")
        is_told_to_wait(turned, "2 requests with key")
        found = two.careful.post("/v1/search", json={"query": "careful", "index": "kb_mine"})
        assert found.json()["results"][0]["content"] == "a careful document"
        for _ in running:
            two.server.release()
        assert [one.result(PATIENCE).status_code for one in running] == [200, 200]


def test_a_key_without_seconds_left_is_told_when_to_return_and_no_other_is(library: Path) -> None:
    with tenants(library, seconds_of_key=0) as two:
        for send in (put, send_file_there):
            refused = send(two.hostile, "one", "x")
            is_told_to_wait(refused, "within the last hour")
            error = refused.json()["error"]
            assert refused.headers["retry-after"] == str(error["details"]["retry_seconds"])
            assert f"try again in {refused.headers['retry-after']} s" in error["message"]
        with two.server.client() as owner:
            assert stored(put(owner, "mine", "without a key", wait=300)) == ["created"]


def send_file_there(client: httpx.Client, base: str, text: str) -> httpx.Response:
    return client.post(f"{BASES}/{base}/documents", files={"file": ("a.txt", text)})


def test_jobs_of_a_key_run_one_by_one_so_that_two_bases_do_not_take_both_threads(library: Path) -> None:
    with tenants(library) as two:
        for base in ("one", "two"):
            assert put(two.hostile, base, "a stuck document").status_code == 202
        two.server.await_line("stuck")
        assert stored(put(two.careful, "mine", "a careful document", wait=300)) == ["created"]
        for _ in range(2):
            two.server.release()


def test_the_settings_are_the_quotas_of_a_server(tmp_path: Path) -> None:
    set_in_file = {"key_calls": 3, "key_jobs": 4, "key_bytes": 5, "key_seconds": 6, "call_seconds": 7.5}
    lines = [f"{name} = {value}\n" for name, value in set_in_file.items()]
    (tmp_path / "quintet.toml").write_text("".join(lines), "utf-8")
    limits = Limits.of(load_settings(tmp_path, {}))
    assert (limits.calls_of_key, limits.jobs_of_key, limits.bytes_of_key) == (3, 4, 5)
    assert (limits.seconds_of_key, limits.seconds) == (6, 7.5)
    assert Limits.of(Settings()) == Limits()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_seconds_of_work_are_free_again_an_hour_later() -> None:
    clock = Clock()
    seconds = WorkSeconds(100, clock)
    seconds.add(HOSTILE, 60)
    clock.now = 1800.0
    seconds.check(HOSTILE)
    seconds.add(HOSTILE, 50)
    with pytest.raises(LimitError, match="'hostile' worked 110 s within the last hour, and 100 are") as full:
        seconds.check(HOSTILE)
    seconds.check(CAREFUL)
    wait = full.value.details["retry_seconds"]
    assert isinstance(wait, int)
    clock.now += wait - 1
    with pytest.raises(LimitError):
        seconds.check(HOSTILE)
    clock.now += 1
    seconds.check(HOSTILE)


def test_a_single_long_job_is_paid_for_within_an_hour() -> None:
    clock = Clock()
    seconds = WorkSeconds(100, clock)
    seconds.add(HOSTILE, 1_000_000)
    with pytest.raises(LimitError) as full:
        seconds.check(HOSTILE)
    assert full.value.details["retry_seconds"] == 61 * 60
    clock.now = 61 * 60.0
    seconds.check(HOSTILE)


def test_what_a_job_works_counts_for_its_key_and_what_it_waits_does_not() -> None:
    clock = Clock()
    turns = Turns(clock=clock)
    jobs = Jobs(Limits(seconds_of_key=10), turns, clock)
    CALLER.set(HOSTILE)

    def work(progress: Any) -> dict[str, Any]:
        clock.now += 4
        progress("parse", 1, 2)
        clock.now += 5
        return {}

    await_end(jobs.start(work, "upload", "one"))
    jobs.check_key(HOSTILE)  # 9 of 10 seconds
    await_end(jobs.start(work, "upload", "two"))
    with pytest.raises(LimitError, match="worked 18 s"):
        jobs.start(work, "upload", "one")
    CALLER.set(CAREFUL)
    await_end(jobs.start(work, "upload", "mine"))
    CALLER.set(None)
    await_end(jobs.start(work, "upload", "one"))
    jobs.close()


def await_end(job: Job) -> None:
    changed = Event()
    with job.watched(changed.set):
        while not job.ended:
            changed.wait(PATIENCE)
            changed.clear()
    assert job.view()["state"] == "done"


def test_long_work_lets_others_go_first_after_its_slice_and_then_goes_on() -> None:
    clock, order, done = Clock(), list[str](), Event()
    turns = Turns(threads=1, clock=clock)
    begun, may_go = Event(), Event()

    def long() -> None:
        begun.set()
        may_go.wait(PATIENCE)
        order.append("long 1")
        turns.give_way()  # its slice is not over
        order.append("long 2")
        clock.now += SLICE_SECONDS
        turns.give_way()
        order.append("long 3")

    turns.add("hostile", long, lane="one")
    turns.add("hostile", lambda: order.append("behind"), lane="one")
    begun.wait(PATIENCE)
    turns.add("careful", lambda: order.append("careful"), lane="mine")
    turns.add("hostile", done.set, lane="one")
    may_go.set()
    done.wait(PATIENCE)
    turns.close()
    assert order == ["long 1", "long 2", "careful", "long 3", "behind"]


def test_work_in_the_lane_of_one_that_gave_way_waits_for_it() -> None:
    clock, order = Clock(), list[str]()
    turns = Turns(threads=1, clock=clock)
    begun, may_go, done = Event(), Event(), Event()

    def long() -> None:
        begun.set()
        may_go.wait(PATIENCE)
        clock.now += SLICE_SECONDS
        turns.give_way()
        order.append("long")

    turns.add("hostile", long, lane="shared")
    begun.wait(PATIENCE)
    turns.add("careful", lambda: order.append("same base"), lane="shared")
    turns.add("third", lambda: order.append("third"), lane="other")
    turns.add("careful", done.set, lane="shared")
    may_go.set()
    done.wait(PATIENCE)
    turns.close()
    assert order == ["third", "long", "same base"]


def test_work_that_gave_way_ends_when_the_server_stops() -> None:
    clock, order = Clock(), list[str]()
    turns = Turns(threads=1, clock=clock)
    begun, may_go, careful, may_end = Event(), Event(), Event(), Event()

    def long() -> None:
        begun.set()
        may_go.wait(PATIENCE)
        clock.now += SLICE_SECONDS
        turns.give_way()
        order.append("long")

    def other() -> None:
        careful.set()
        may_end.wait(PATIENCE)

    turns.add("hostile", long)
    begun.wait(PATIENCE)
    turns.add("careful", other)
    may_go.set()
    careful.wait(PATIENCE)
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(turns.close)
        may_end.set()
        closing.result(PATIENCE)
    assert order == ["long"]
