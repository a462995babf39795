"""Reindexing as jobs: progress, order, cancelling, and an end that comes whatever happens."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from http_serving import PATIENCE, Running, child, code_of, serving

from quintet.errors import Conflict, NotFound
from quintet.http.config import Limits
from quintet.http.jobs import REMEMBERED, Job, Jobs
from quintet.http.workers import Turns
from quintet.indexing.run import Progress


def events(answer: httpx.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of a stream as they come."""
    name = ""
    for line in answer.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def followed(client: httpx.Client, job: str) -> list[tuple[str, dict[str, Any]]]:
    with client.stream("GET", f"/v1/jobs/{job}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        return list(events(answer))


def test_a_job_brings_what_is_new_into_the_index(library: Path) -> None:
    (library / "docs" / "new.md").write_text("# New\n\nzeppelin\n", "utf-8")
    with serving(library) as server, server.client() as client:
        answer = client.post("/v1/reindex", json={"path": "docs"})
        job = answer.json()
        assert answer.status_code == 202
        assert answer.headers["location"] == f"/v1/jobs/{job['id']}"
        told = followed(client, job["id"])
        name, last = told[-1]
        assert (name, last["state"], last["error"]) == ("end", "done", None)
        assert last["result"]["indexed_files"] == 1
        assert "indexed_paths" not in last["result"]
        assert all(name == "progress" for name, _ in told[:-1])
        assert client.get(f"/v1/jobs/{job['id']}").json() == last
        found = client.post("/v1/search", json={"query": "zeppelin", "mode": "lexical"}).json()
        assert [one["path"] for one in found["results"]] == ["docs/new.md"]


def test_several_paths_are_echoed_and_no_body_means_the_working_folder(library: Path) -> None:
    with serving(library) as server, server.client() as client:
        job = client.post("/v1/reindex", json={"paths": ["docs", "src"], "force": True}).json()
        result = followed(client, job["id"])[-1][1]["result"]
        assert result["indexed_paths"] == [str(library / "docs"), str(library / "src")]
        assert result["indexed_files"] == 4
        whole = followed(client, client.post("/v1/reindex").json()["id"])[-1][1]["result"]
        assert (whole["indexed_files"], whole["skipped_files"]) == (0, 5)


def test_progress_is_told_as_it_comes_and_a_running_job_can_be_cancelled(library: Path) -> None:
    with child(library) as server, server.client() as client:
        job = client.post("/v1/reindex", json={"path": "docs", "force": True}).json()
        with client.stream("GET", f"/v1/jobs/{job['id']}/events") as answer:
            stream = events(answer)
            first = next(seen for _, seen in stream if seen["progress"] is not None)
            assert first["progress"] == {"stage": "text", "done": 1, "total": 3}
            cancelled = client.delete(f"/v1/jobs/{job['id']}")
            assert (cancelled.status_code, cancelled.json()["cancel_requested"]) == (202, True)
            assert cancelled.json()["state"] == "running"
            server.release()
            name, last = list(stream)[-1]
        assert (name, last["state"], last["result"]) == ("end", "cancelled", None)
        again = client.delete(f"/v1/jobs/{job['id']}")
        assert (again.status_code, again.json()["state"]) == (200, "cancelled")


def test_a_job_that_waits_can_be_cancelled_before_it_begins(library: Path) -> None:
    with child(library) as server, server.client() as client:
        first = client.post("/v1/reindex", json={"path": "docs", "force": True}).json()
        server.await_line("text 1")
        second = client.post("/v1/reindex", json={"path": "docs"}).json()
        assert second["state"] == "queued"
        assert client.delete(f"/v1/jobs/{second['id']}").json()["state"] == "cancelled"
        client.delete(f"/v1/jobs/{first['id']}")
        server.release()
        assert followed(client, first["id"])[-1][1]["state"] == "cancelled"
        assert client.get(f"/v1/jobs/{second['id']}").json()["progress"] is None


def test_searches_are_answered_while_a_job_runs(library: Path) -> None:
    with child(library) as server, server.client() as client:
        client.post("/v1/reindex", json={"path": "docs", "force": True})
        server.await_line("text 1")
        assert client.post("/v1/search", json={"query": "cache"}).json()["results"]


def test_beyond_the_bounds_jobs_and_followers_are_turned_away(library: Path) -> None:
    with child(library, jobs=1, streams=1) as server, server.client() as client:
        job = client.post("/v1/reindex", json={"path": "docs", "force": True}).json()
        server.await_line("text 1")
        turned = client.post("/v1/reindex", json={"path": "docs"})
        assert code_of(turned) == (429, "too_many")
        assert turned.headers["retry-after"] == "1"
        with client.stream("GET", f"/v1/jobs/{job['id']}/events") as answer:
            stream = events(answer)  # kept: the line is closed with it
            next(stream)
            assert code_of(client.get(f"/v1/jobs/{job['id']}/events")) == (429, "too_many")


@pytest.mark.parametrize("following", [False, True])
def test_a_signal_ends_a_server_that_has_a_job_and_a_follower(library: Path, following: bool) -> None:
    with child(library) as server, server.client() as client:
        job = client.post("/v1/reindex", json={"path": "docs", "force": True}).json()
        server.await_line("text 1")
        if not following:
            server.process.terminate()
            release_all(server)
            assert server.process.wait(60) == 0
            return
        with client.stream("GET", f"/v1/jobs/{job['id']}/events") as answer:
            stream = events(answer)
            next(stream)
            server.process.terminate()
            assert [name for name, _ in stream if name == "end"] == []
        release_all(server)
        assert server.process.wait(60) == 0


def release_all(server: Running) -> None:
    assert server.process.stdin is not None
    server.process.stdin.close()


def test_a_job_that_fails_says_why_and_a_fault_of_ours_says_nothing_of_what_it_met() -> None:
    def refuse(_: Progress) -> dict[str, Any]:
        raise Conflict("another process is writing", code="busy_writer")

    def break_down(_: Progress) -> dict[str, Any]:
        raise ZeroDivisionError("secret words of a document")

    seen = []
    for work in (refuse, break_down):
        job = Job()
        job.run(work)
        seen.append((job.view()["state"], job.view()["error"]["code"]))
        assert "secret" not in str(job.view())
    assert seen == [("failed", "busy_writer"), ("failed", "internal_error")]


@pytest.mark.parametrize(("debug", "shown"), [("1", True), ("0", False)])
def test_the_log_shows_where_a_job_broke_down_only_when_that_is_asked_for(
    debug: str, shown: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down(_: Progress) -> dict[str, Any]:
        raise ZeroDivisionError("secret words of a document")

    monkeypatch.setenv("QUINTET_DEBUG", debug)
    Job().run(break_down)
    assert "fault: ZeroDivisionError in a job" in caplog.text
    assert ("in break_down" in caplog.text) is shown
    assert ("secret" in caplog.text) is shown


def test_jobs_that_ended_long_ago_are_forgotten() -> None:
    jobs = Jobs(Limits(jobs=1), Turns())
    made = [ended(jobs.start(lambda _: {})) for _ in range(REMEMBERED + 2)]
    assert jobs.get(made[-1].id) is made[-1]
    with pytest.raises(NotFound):
        jobs.get(made[0].id)
    jobs.close()


def ended(job: Job) -> Job:
    changed = threading.Event()
    with job.watched(changed.set):
        while not job.ended:
            changed.wait(PATIENCE)
            changed.clear()
    return job
