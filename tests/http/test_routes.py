"""Every route answers, in its own words."""

import json
from pathlib import Path

import httpx
import pytest
from http_serving import Running, code_of

import quintet
from quintet.contracts import CONTRACTS


def test_a_search_goes_by_the_house_ranking(client: httpx.Client) -> None:
    answer = client.post("/v1/search", json={"query": "five minutes"})
    body = answer.json()
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert body["results"][0]["path"] == "docs/cache.md"
    assert set(body["results"][0]["signals"]) == {"lexical", "semantic"}
    assert (body["status"], body["notes"]) == ("ok", [])


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_contract_is_named_in_the_body_or_in_the_path(client: httpx.Client, contract: str) -> None:
    in_body = client.post("/v1/search", json={"query": "cache", "contract": contract})
    in_path = client.post(f"/v1/contracts/{contract}/search", json={"query": "cache"})
    assert in_body.status_code == 200
    assert in_body.content == in_path.content


def test_limit_mode_and_filters_are_every_contracts(client: httpx.Client) -> None:
    asked = {"query": "cache", "limit": 1, "mode": "keyword", "filters": {"path": "docs/**"}}
    body = client.post("/v1/contracts/harness/search", json=asked).json()
    assert body["mode"] == "keyword"
    assert [one["path"].partition("/")[0] for one in body["results"]] == ["docs"]


def test_the_canonical_request_gives_the_canonical_result(client: httpx.Client, shelf: Path) -> None:
    asked = {"query": "Cache?", "top_k": 2, "search_method": "hybrid", "query_preprocessing": "normalize"}
    answer = client.post("/v1/retrieval", json={"retrieval": asked})
    (call,) = answer.json()["retrieval_calls"]
    assert (call["index"], call["query"], call["hybrid_alpha"]) == ("default", "cache", 0.5)
    assert call["result_count"] == len(call["results"]) == 2
    with quintet.open(shelf / ".quintet", create=False) as index:
        asked.pop("query")
        assert index.search("Cache?", "knowledge", **asked).wire() == answer.json()


def test_the_canonical_request_takes_limit_and_mode_as_every_search_does(client: httpx.Client) -> None:
    own = {"query": "cache", "top_k": 1, "search_method": "keyword"}
    offered = {"query": "cache", "limit": 1, "mode": "keyword"}
    found = [client.post("/v1/retrieval", json={"retrieval": one}).json() for one in (own, offered)]
    assert found[0] == found[1]
    (call,) = found[1]["retrieval_calls"]
    assert (call["search_method"], call["top_k"], call["result_count"]) == ("keyword", 1, 1)
    both = {**own, "mode": "hybrid"}
    assert code_of(client.post("/v1/retrieval", json={"retrieval": both})) == (400, "invalid_parameter")


def test_a_chunk_comes_whole_by_its_id(client: httpx.Client) -> None:
    found = client.post("/v1/search", json={"query": "five minutes"}).json()["results"][0]
    chunk = client.get(f"/v1/chunks/{found['chunk_id']}").json()
    assert chunk["content"] == found["content"]
    assert (chunk["path"], chunk["lines"]) == ("docs/cache.md", [5, 7])


@pytest.mark.parametrize("chunk_id", ["0" * 32, "nobody", "docs%2Fcache.md", "..%2F..%2Fetc%2Fpasswd"])
def test_a_chunk_goes_by_nothing_but_its_id(client: httpx.Client, chunk_id: str) -> None:
    status, code = code_of(client.get(f"/v1/chunks/{chunk_id}"))
    assert status == 404
    assert code in ("document_not_found", "not_found")


def test_the_status_is_that_of_the_command_line(client: httpx.Client, shelf: Path) -> None:
    body = client.get("/v1/status").json()
    assert (body["files"], body["embedder"]) == (5, "hash-384")
    assert body["roots"] == [{"name": shelf.name, "location": str(shelf), "only": None}]
    assert body["index"] == str(shelf / ".quintet")


def test_the_server_says_that_it_lives_and_that_it_is_ready(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
    assert client.head("/healthz").status_code == 200


def test_metrics_count_requests_and_searches_and_tell_the_size_of_the_index(client: httpx.Client) -> None:
    client.post("/v1/contracts/cfs/search", json={"query": "bread zeppelin"})
    client.get("/nowhere/zeppelin")
    answer = client.get("/metrics")
    lines = answer.text.splitlines()
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    route = '{method="POST",route="/v1/contracts/{name}/search",status="200"}'
    assert any(line.startswith(f"quintet_http_requests_total{route} ") for line in lines)
    assert any(line.startswith('quintet_search_seconds_bucket{contract="cfs",le="+Inf"} ') for line in lines)
    assert any(
        line.startswith('quintet_leg_seconds_bucket{contract="cfs",leg="lexical",le="+Inf"} ')
        for line in lines
    )
    assert any(
        line.startswith('quintet_http_requests_total{method="GET",route="unmatched"') for line in lines
    )
    assert "quintet_index_documents 5" in lines
    assert any(line.startswith("quintet_index_generation ") for line in lines)
    assert "zeppelin" not in answer.text
    assert "bread" not in answer.text


def test_metrics_count_what_the_query_cache_does(client: httpx.Client) -> None:
    def figures() -> dict[str, float]:
        lines = client.get("/metrics").text.splitlines()
        return {
            name: float(value)
            for name, value in (one.split() for one in lines if "_cache_" in one and one[0] != "#")
        }

    before = figures()
    for _ in range(3):
        client.post("/v1/search", json={"query": "a query of its own", "mode": "lexical"})
    after = figures()
    more = {name.removeprefix("quintet_cache_"): after[name] - before[name] for name in after}
    assert (more["hits_total"], more["misses_total"], more["entries"]) == (2, 1, 1)
    assert (more["evictions_total"], more["expired_total"]) == (0, 0)
    assert more["bytes"] > 0
    assert "# TYPE quintet_cache_hits_total counter" in client.get("/metrics").text
    assert client.get("/v1/status").json()["cache"]["hits"] == after["quintet_cache_hits_total"]


def test_a_histogram_counts_upwards(client: httpx.Client) -> None:
    client.post("/v1/search", json={"query": "bread"})
    prefix = 'quintet_search_seconds_bucket{contract="quintet"'
    lines = [line for line in client.get("/metrics").text.splitlines() if line.startswith(prefix)]
    counts = [int(line.rpartition(" ")[2]) for line in lines]
    assert counts == sorted(counts)
    assert counts[-1] >= 1


def test_the_openapi_document_and_its_page_come_from_here_alone(client: httpx.Client) -> None:
    assert client.get("/openapi.json").json()["openapi"] == "3.1.0"
    page = client.get("/docs")
    policy = page.headers["content-security-policy"]
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "://" not in page.text
    assert "src=" not in page.text
    assert "innerHTML" not in page.text


def test_an_index_that_was_never_filled_answers_so(tmp_path: Path) -> None:
    from http_serving import serving

    with serving(tmp_path) as server, server.client() as client:
        answer = client.post("/v1/search", json={"query": "x", "mode": "lexical"})
        assert (answer.status_code, answer.json()["status"]) == (200, "never_indexed")


def test_what_the_server_logs_holds_no_query_and_no_text(server: Running, client: httpx.Client) -> None:
    client.post("/v1/search", json={"query": "butter"})
    assert [line for line in server.told if "listening" not in line] == []


def test_unusual_text_comes_back_as_it_is(client: httpx.Client) -> None:
    asked = json.dumps({"query": "検索 \ud83d\ude00 \ud800 don't C++", "limit": 1})
    answer = client.post("/v1/search", content=asked, headers={"content-type": "application/json"})
    assert answer.json()["query"] == "検索 😀 \ufffd don't C++"
    assert answer.json()["results"][0]["path"] == "docs/naïve.md"
