"""What cannot be understood is refused in one shape, with the code and the status of its kind."""

import socket
from pathlib import Path

import httpx
import pytest
from http_serving import PATIENCE, Running, child, code_of


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/v1/search", {"query": " "}, 400, "bad_query"),
        ("/v1/search", {}, 400, "bad_query"),
        ("/v1/search", {"query": 7}, 400, "bad_query"),
        ("/v1/search", {"query": "a" * 200_001}, 400, "bad_query"),
        ("/v1/search", {"query": "x", "contract": "nobody"}, 400, "unknown_contract"),
        ("/v1/search", {"query": "x", "contract": ["rifflux"]}, 400, "unknown_contract"),
        ("/v1/search", {"query": "x", "limit": 1001}, 400, "invalid_parameter"),
        ("/v1/search", {"query": "x", "limit": "10"}, 400, "invalid_parameter"),
        ("/v1/search", {"query": "x", "filters": {"colour": "red"}}, 400, "invalid_filter"),
        ("/v1/search", {"query": "x", "self": 1}, 400, "invalid_parameter"),
        ("/v1/search", {"query": "x AND", "syntax": "fts5"}, 400, "bad_query"),
        ("/v1/contracts/nobody/search", {"query": "x"}, 400, "unknown_contract"),
        ("/v1/contracts/rifflux/search", {"query": "x", "contract": "rifflux"}, 400, "invalid_parameter"),
        ("/v1/contracts/rifflux/search", {"query": "x", "limit": 1, "top_k": 1}, 400, "invalid_parameter"),
        ("/v1/contracts/mcb/search", {"query": "x", "embedding": [1.0]}, 400, "invalid_parameter"),
        ("/v1/contracts/mcb/search", {"query": "x", "mode": "hybrid"}, 400, "invalid_parameter"),
        ("/v1/retrieval", {"query": "x"}, 400, "invalid_parameter"),
        ("/v1/retrieval", {"retrieval": "x"}, 400, "invalid_parameter"),
        ("/v1/retrieval", {"retrieval": {"query": "x", "top_k": 0}}, 400, "invalid_top_k"),
        ("/v1/retrieval", {"retrieval": {"query": "x", "hybrid_alpha": 2}}, 400, "invalid_hybrid_alpha"),
        ("/v1/retrieval", {"retrieval": {"query": "x", "limit": 1, "top_k": 1}}, 400, "invalid_parameter"),
        ("/v1/retrieval", {"retrieval": {"query": "x", "contract": "cfs"}}, 400, "invalid_parameter"),
        ("/v1/retrieval", {"retrieval": {"query": "x", "index": "none"}}, 404, "unknown_index"),
        ("/v1/reindex", {"path": 5}, 400, "invalid_parameter"),
        ("/v1/reindex", {"paths": "docs"}, 400, "invalid_parameter"),
        ("/v1/reindex", {"force": "yes"}, 400, "invalid_parameter"),
        ("/v1/reindex", {"folder": "docs"}, 400, "invalid_parameter"),
        ("/v1/reindex", {"path": "no/such"}, 400, "invalid_path"),
        ("/v1/reindex", {"path": "docs\0"}, 400, "invalid_path"),
    ],
)
def test_a_request_that_cannot_be_understood(
    client: httpx.Client, path: str, body: object, status: int, code: str
) -> None:
    assert code_of(client.post(path, json=body)) == (status, code)


@pytest.mark.parametrize(
    ("field", "hint"),
    [
        ({"limt": 5}, "did you mean 'limit'?"),
        ({"zzz": 5}, "it takes: "),
        ({"contract": "rifflux", "topk": 5}, "did you mean 'top_k'?"),
    ],
)
def test_an_unknown_field_is_refused_with_a_hint(
    client: httpx.Client, field: dict[str, object], hint: str
) -> None:
    answer = client.post("/v1/search", json={"query": "x", **field})
    assert code_of(answer) == (400, "invalid_parameter")
    assert hint in answer.json()["error"]["message"]
    assert answer.json()["error"]["details"] == {"parameter": list(field)[-1]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"query": NaN}',
        b'{"query": "x", "semantic_weight": Infinity}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"limit": ' + b"9" * 5_000 + b"}",
    ],
)
def test_a_body_that_is_not_json(client: httpx.Client, body: bytes) -> None:
    answer = client.post("/v1/search", content=body, headers={"content-type": "application/json"})
    assert code_of(answer) == (400, "invalid_json")


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"null", b"3"])
def test_a_body_that_is_json_but_no_object(client: httpx.Client, body: bytes) -> None:
    answer = client.post("/v1/search", content=body, headers={"content-type": "application/json"})
    assert code_of(answer) == (400, "invalid_parameter")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
def test_a_body_of_another_kind(client: httpx.Client, kind: str) -> None:
    answer = client.post("/v1/search", content=b'{"query": "x"}', headers={"content-type": kind})
    assert code_of(answer) == (415, "unsupported_media_type")


def test_json_may_name_its_charset(client: httpx.Client) -> None:
    headers = {"content-type": "Application/JSON; charset=utf-8"}
    assert client.post("/v1/search", content=b'{"query": "x"}', headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/search", {"POST"}),
        ("PUT", "/v1/reindex", {"POST"}),
        ("POST", "/v1/jobs/x", {"GET", "HEAD", "DELETE"}),
        ("DELETE", "/v1/status", {"GET", "HEAD"}),
        ("OPTIONS", "/v1/search", {"POST"}),
        ("BREW", "/healthz", {"GET", "HEAD"}),
    ],
)
def test_a_method_that_a_path_does_not_take(
    client: httpx.Client, method: str, path: str, allowed: set[str]
) -> None:
    answer = client.request(method, path)
    assert code_of(answer) == (405, "method_not_allowed")
    assert set(answer.headers["allow"].split(", ")) == allowed


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/search/", "/v2/search", "/v1/jobs", "/docs/../v1/x", "/%00"]
)
def test_a_path_that_there_is_not(client: httpx.Client, path: str) -> None:
    assert code_of(client.get(path)) == (404, "not_found")


def test_a_job_that_there_is_not(client: httpx.Client) -> None:
    for method, path in (("GET", "/v1/jobs/x"), ("DELETE", "/v1/jobs/x"), ("GET", "/v1/jobs/x/events")):
        assert code_of(client.request(method, path)) == (404, "unknown_job")


@pytest.mark.parametrize("sent", [b"hello\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"])
def test_what_is_not_http_gets_the_same_shape_and_the_line_is_closed(server: Running, sent: bytes) -> None:
    with socket.create_connection(server.address, timeout=PATIENCE) as line:
        line.sendall(sent)
        head, _, body = b"".join(iter(lambda: line.recv(65536), b"")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b'{"error": {"code": "bad_request"' in body


@pytest.mark.parametrize(
    "order",
    [
        ("Content-Length: 4", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Content-Length: 4"),
    ],
)
def test_a_body_of_two_lengths_is_refused_and_nothing_behind_it_is_read(
    server: Running, order: tuple[str, str]
) -> None:
    head = ["POST /v1/search HTTP/1.1", "Host: localhost", "Content-Type: application/json", *order]
    smuggled = "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(server.address, timeout=PATIENCE) as line:
        line.sendall("\r\n".join([*head, "", smuggled]).encode())
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b'"code": "bad_request"' in answer
    assert answer.count(b"HTTP/1.1") == 1


def test_a_fault_of_ours_tells_nothing_of_what_it_met(library: Path) -> None:
    with child(library) as server, server.client() as client:
        answer = client.post("/v1/search", json={"query": "broken"})
        assert code_of(answer) == (500, "internal_error")
        assert "secret" not in answer.text
    assert "secret" not in "".join(server.told)
    assert any("fault: ZeroDivisionError in /v1/search" in line for line in server.told)
