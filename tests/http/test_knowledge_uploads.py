"""Files sent as a form: several at once, bounded, and none unless all arrived."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from http_serving import PATIENCE, child, code_of, indexed

BASE = "/v1/knowledge-bases/shelf"
BOUNDARY = "line-between"
FIELD = b'--line-between\r\nContent-Disposition: form-data; name="%s"\r\n\r\n'
FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server with small limits."""
    place = indexed(tmp_path_factory.mktemp("uploads"))
    limits = {"document_bytes": 5_000, "upload_bytes": 20_000, "documents": 5, "texts_bytes": 3_000}
    with child(place, **limits) as server, server.client() as client:
        yield client


@pytest.fixture(autouse=True)
def empty_base(client: httpx.Client) -> Iterator[None]:
    client.post("/v1/knowledge-bases", json={"slug": "shelf"})
    yield
    client.delete(BASE)


def sent(client: httpx.Client, *files: tuple[str, str | bytes], **fields: str) -> httpx.Response:
    return client.post(f"{BASE}/documents", files=[("file", one) for one in files], data=fields)


def raw(client: httpx.Client, body: bytes, headers: Any = FORM) -> httpx.Response:
    return client.post(f"{BASE}/documents", content=body, headers=headers)


def part(name: str, data: bytes) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode() + data + b"\r\n"


def count(client: httpx.Client) -> int:
    return int(client.get(BASE).json()["documents"])


def test_several_files_are_taken_at_once_and_again_without_effect(client: httpx.Client) -> None:
    files = (("a.md", "# Alpha\n\nfirst"), ("b.txt", "second"), ("c.json", '{"third": 3}'))
    told = sent(client, *files, metadata='{"team": "red"}').json()["documents"]
    assert [(one["name"], one["outcome"]) for one in told] == [
        (name, "created") for name in ("a.md", "b.txt", "c.json")
    ]
    documents = client.get(f"{BASE}/documents").json()["documents"]
    assert {one["title"] for one in documents} >= {"Alpha"}
    assert {one["mime_type"] for one in documents} == {"text/markdown", "text/plain", "application/json"}
    assert all(one["metadata"]["team"] == "red" for one in documents)
    again = sent(client, *files, metadata='{"team": "red"}').json()["documents"]
    assert {one["outcome"] for one in again} == {"unchanged"}
    assert count(client) == 3


def test_one_file_can_be_given_a_title_an_address_and_an_id(client: httpx.Client) -> None:
    about = {"title": "A title", "uri": "https://example.com/a", "id": "mine"}
    assert sent(client, ("ünïcode 茶.txt", "text"), **about).status_code == 200
    found = client.get(f"{BASE}/documents/mine").json()
    assert (found["title"], found["uri"], found["source_name"]) == (
        "A title",
        "https://example.com/a",
        "ünïcode 茶.txt",
    )
    assert code_of(sent(client, ("a.txt", "a"), ("b.txt", "b"), id="one"))[0] == 400


def test_a_field_that_is_there_twice_is_refused(client: httpx.Client) -> None:
    ids = FIELD % b"id" + b"first\r\n" + FIELD % b"id" + b"second\r\n"
    answer = raw(client, part("a.txt", b"whole") + ids + b"--line-between--\r\n")
    assert code_of(answer) == (400, "invalid_parameter")
    assert "'id' twice" in answer.json()["error"]["message"]
    assert count(client) == 0


def test_a_file_that_cannot_be_read_does_not_keep_out_the_rest(client: httpx.Client) -> None:
    told = sent(client, ("bad.pdf", b"%PDF-1.4 no more"), ("good.txt", "good")).json()["documents"]
    assert [one["outcome"] for one in told] == ["refused", "created"]
    assert told[0]["message"]
    assert count(client) == 1


def test_too_much_is_refused_whole(client: httpx.Client) -> None:
    small = ("small.txt", "small")
    assert code_of(sent(client, small, ("large.txt", "x" * 5_001))) == (413, "too_large")
    assert code_of(sent(client, *[(f"{n}.txt", str(n)) for n in range(6)])) == (413, "too_large")
    assert code_of(sent(client, *[(f"{n}.txt", str(n) * 4_990) for n in range(5)])) == (413, "too_large")
    assert code_of(sent(client, small, metadata="x" * 200_000)) == (413, "too_large")
    assert code_of(client.post(f"{BASE}/documents", json={"text": "x" * 3_000})) == (413, "too_large")
    several = [{"text": str(number)} for number in range(6)]
    assert code_of(client.post(f"{BASE}/documents", json={"documents": several})) == (413, "too_large")
    assert count(client) == 0
    assert sent(client, small).status_code == 200


def test_names_that_are_paths_are_names(client: httpx.Client) -> None:
    told = sent(client, ("../../keys.txt", "a"), ("C:\\boot.txt", "b"), ("/etc/passwd.txt", "c"))
    assert [one["outcome"] for one in told.json()["documents"]] == ["created"] * 3
    names = {one["source_name"] for one in client.get(f"{BASE}/documents").json()["documents"]}
    assert names == {"keys.txt", "boot.txt", "passwd.txt"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not a form",
        b"--line-between",
        b"--line-between--\r\n",
        part("a.txt", b"whole"),
        part("a.txt", b"whole") + b'--line-between\r\nContent-Disposition: form-data; name="file"; filen',
        part("a.txt", b"whole") + b"--line-between\r\n\r\nno header\r\n--line-between--\r\n",
        FIELD % b"colour" + b"red\r\n--line-between--\r\n",
        b"--line-between\r\n" + b"X-H: 1\r\n" * 200 + b"\r\n\r\n--line-between--\r\n",
        part("a.txt", b"whole") + FIELD % b"metadata" + b"{\r\n--line-between--\r\n",
    ],
)
def test_what_is_no_whole_form_changes_nothing(client: httpx.Client, body: bytes) -> None:
    assert code_of(raw(client, body))[0] == 400
    assert count(client) == 0


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("multipart/form-data", 400),
        ("multipart/form-data; boundary=" + "b" * 71, 400),
        ("multipart/mixed; boundary=x", 415),
        ("text/plain", 415),
    ],
)
def test_another_type_of_body_is_refused(client: httpx.Client, kind: str, status: int) -> None:
    body = part("a.txt", b"whole") + b"--line-between--\r\n"
    refused = raw(client, body, {"Content-Type": kind})
    assert code_of(refused)[0] == status
    if status == 415:
        message = refused.json()["error"]["message"]
        assert "application/json" in message and "multipart/form-data" in message


def test_files_for_a_base_that_there_is_not_are_refused(client: httpx.Client) -> None:
    answer = client.post("/v1/knowledge-bases/none/documents", files={"file": ("a.txt", "a")})
    assert code_of(answer) == (404, "unknown_index")


def test_an_upload_too_many_is_told_to_wait(library: Path) -> None:
    with child(library, uploads=0) as server, server.client() as client:
        client.post("/v1/knowledge-bases", json={"slug": "shelf"})
        refused = sent(client, ("a.txt", "a"))
        assert code_of(refused) == (429, "too_many")
        assert refused.headers["retry-after"]


@pytest.mark.parametrize("limits", [{"uploads_of_base": 0}, {"changes": 0}])
def test_a_base_has_quotas_of_its_own(library: Path, limits: dict[str, int]) -> None:
    with child(library, **limits) as server, server.client() as client:
        client.post("/v1/knowledge-bases", json={"slug": "shelf"})
        assert code_of(sent(client, ("a.txt", "a"))) == (429, "too_many")


def test_if_not_one_file_is_taken_the_upload_is_an_error(client: httpx.Client) -> None:
    refused = sent(client, ("bad.pdf", b"%PDF-1.4 no more"), ("worse.pdf", b"%PDF-1.4"))
    assert code_of(refused) == (422, "documents_refused")
    error = refused.json()["error"]
    assert "none of 2 documents was taken; the first: " in error["message"]
    assert [one["name"] for one in error["details"]["documents"]] == ["bad.pdf", "worse.pdf"]


@pytest.mark.parametrize("given", ["-1", "301", "x", "1.5", ""])
def test_a_wait_is_a_number_of_seconds(client: httpx.Client, given: str) -> None:
    answer = client.post(f"{BASE}/documents?wait={given}", json={"text": "a"})
    assert code_of(answer) == (400, "invalid_parameter")
    assert count(client) == 0


def await_job(client: httpx.Client, place: str) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE
    while (job := client.get(place).json())["state"] not in ("done", "failed"):
        assert time.monotonic() < deadline
    return dict(job)


@pytest.mark.parametrize("form", ["json", "files"])
def test_an_upload_that_takes_longer_goes_on_as_a_job_and_keeps_out_no_other_base(
    library: Path, form: str
) -> None:
    with child(library) as server, server.client() as client:
        for slug in ("shelf", "other"):
            client.post("/v1/knowledge-bases", json={"slug": slug})
        text = "a stuck document"
        sending: Any = {"json": {"text": text}} if form == "json" else {"files": {"file": ("a.txt", text)}}
        begun = client.post(f"{BASE}/documents?wait=0", **sending)
        assert begun.status_code == 202
        assert (begun.json()["kind"], begun.json()["state"] in ("queued", "running")) == ("upload", True)
        server.await_line("stuck")
        behind = client.post(f"{BASE}/documents?wait=0", json={"text": "behind it"})
        assert behind.json()["state"] == "queued"
        put = client.post("/v1/knowledge-bases/other/documents?wait=300", json={"text": "of another"})
        assert [one["outcome"] for one in put.json()["documents"]] == ["created"]
        server.release()
        for answer in (begun, behind):
            job = await_job(client, answer.headers["location"])
            assert [one["outcome"] for one in job["result"]["documents"]] == ["created"]
        assert count(client) == 2


def test_an_upload_that_trickles_is_ended(library: Path) -> None:
    with child(library, upload_grace_seconds=0.2, upload_rate=1_000_000) as server, server.client() as client:
        client.post("/v1/knowledge-bases", json={"slug": "shelf"})
        head = f"POST {BASE}/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n"
        for kind in (FORM["Content-Type"], "application/json"):
            with socket.create_connection(server.address, timeout=PATIENCE) as line:
                line.sendall(f"{head}Content-Type: {kind}\r\n\r\n".encode() + part("a.txt", b"slow")[:20])
                answer = b"".join(iter(lambda: line.recv(65536), b""))
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert b'"code": "slow_client"' in answer
        assert sent(client, ("a.txt", "fast")).status_code == 200


def test_a_client_that_leaves_in_the_middle_leaves_nothing(client: httpx.Client) -> None:
    def halting() -> Iterator[bytes]:
        yield part("a.txt", b"whole")
        raise RuntimeError("gone")

    with pytest.raises(RuntimeError):
        client.post(f"{BASE}/documents", content=halting(), headers=FORM)
    assert count(client) == 0
