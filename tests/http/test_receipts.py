"""Receipts over HTTP: beside the body if asked for, replayed by /v1/verify, questioned by /v1/why."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from http_serving import code_of, command, indexed, serving
from jsonschema import Draft202012Validator

import quintet
from quintet.contracts import CONTRACTS
from quintet.http.schema.openapi import body_schema
from quintet.model.schema import schema_of
from quintet.query.explain import ExplanationFields
from quintet.receipts.receipt import digest_of
from quintet.receipts.replay import VerdictFields


def receipt_of(client: httpx.Client, query: str = "cache key", **fields: object) -> dict[str, Any]:
    answer = client.post("/v1/search", json={"query": query, "receipt": True, **fields})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["receipt"]
    return found


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_receipt_is_one_more_key_beside_a_body_that_stays_the_same(
    client: httpx.Client, contract: str
) -> None:
    asked = {"query": "cache key"}
    plain = client.post(f"/v1/contracts/{contract}/search", json=asked)
    without = client.post(f"/v1/contracts/{contract}/search", json={**asked, "receipt": False})
    body = client.post(f"/v1/contracts/{contract}/search", json={**asked, "receipt": True}).json()
    assert without.content == plain.content
    Draft202012Validator(body_schema(contract)).validate(body)
    receipt = body.pop("receipt")
    assert body == plain.json()
    assert receipt["digest"] == digest_of(receipt["claim"])


def test_the_canonical_request_takes_it_beside_itself(client: httpx.Client) -> None:
    asked = {"retrieval": {"query": "cache key"}}
    plain = client.post("/v1/retrieval", json=asked).json()
    body = client.post("/v1/retrieval", json={**asked, "receipt": True}).json()
    assert body.pop("receipt")["claim"]["contract"] == "knowledge"
    assert body == plain
    inside = client.post("/v1/retrieval", json={"retrieval": {"query": "cache", "receipt": True}})
    assert code_of(inside) == (400, "invalid_parameter")


def test_the_receipt_is_the_one_that_python_gives(client: httpx.Client, shelf: Path) -> None:
    with quintet.open(shelf / ".quintet", create=False) as index:
        _, expected = index.receipts.search("cache lang:python", limit=2)
    assert receipt_of(client, "cache lang:python", limit=2)["digest"] == expected["digest"]


@pytest.mark.parametrize("value", [1, "yes", None, {}])
def test_a_receipt_is_asked_for_by_true_or_false(client: httpx.Client, value: object) -> None:
    answer = client.post("/v1/search", json={"query": "cache", "receipt": value})
    assert code_of(answer) == (400, "invalid_parameter")


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_receipt_is_replayed(client: httpx.Client, contract: str) -> None:
    answer = client.post("/v1/verify", json=receipt_of(client, contract=contract))
    Draft202012Validator(schema_of(VerdictFields)).validate(answer.json())
    assert answer.json() == {"identical": True, "same_results": True, "differences": [], "changed": []}


def test_a_receipt_of_another_index_is_told_apart_by_its_documents(
    client: httpx.Client, library: Path
) -> None:
    (library / "docs" / "keys.md").write_text("# Keys\n\nAn entry goes by its key, and a cache key is new.\n")
    with quintet.open(library / ".quintet", create=False) as index:
        index.sync([f"{index.roots()[0].name}={library}"])
        _, receipt = index.receipts.search("cache key")
    verdict = client.post("/v1/verify", json=receipt).json()
    assert verdict["identical"] is False
    assert verdict["differences"]


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["claim"].update(query="other"),
        lambda r: r.update(digest=None),
        lambda r: r.update(receipt=2),
        lambda r: r.pop("claim"),
        lambda r: r["claim"].update(results=nested(400)),
        lambda r: r["claim"].update(params={"reference": "x"}),
        lambda r: r["claim"].update(documents=5),
    ],
)
def test_what_is_no_receipt_is_refused(client: httpx.Client, change: Any) -> None:
    receipt = receipt_of(client)
    change(receipt)
    assert code_of(client.post("/v1/verify", json=receipt)) == (400, "invalid_parameter")


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["claim"].update(contract="none"),
        lambda r: r["claim"].update(params={"limit": -1}),
        lambda r: r["claim"].update(params={"stranger": 1}),
    ],
)
def test_a_receipt_forged_with_a_fitting_digest_is_asked_like_any_search(
    client: httpx.Client, change: Any
) -> None:
    receipt = receipt_of(client)
    change(receipt)
    receipt["digest"] = digest_of(receipt["claim"])
    assert code_of(client.post("/v1/verify", json=receipt))[0] == 400


@pytest.mark.parametrize("generation", [-1, 2**70, True, "1", None])
def test_a_forged_history_gives_a_verdict_all_the_same(client: httpx.Client, generation: object) -> None:
    receipt = receipt_of(client)
    receipt["claim"].update(state_root="0" * 64, documents="x", results=[1, {"id": []}, None])
    receipt["observed"]["generation"] = generation
    receipt["digest"] = digest_of(receipt["claim"])
    verdict = client.post("/v1/verify", json=receipt).json()
    assert (verdict["identical"], verdict["same_results"]) == (False, False)


def test_a_receipt_larger_than_any_body_is_refused(client: httpx.Client) -> None:
    receipt = receipt_of(client)
    receipt["claim"]["query"] = "x" * 1_000_001
    answer = client.post(
        "/v1/verify", content=json.dumps(receipt), headers={"content-type": "application/json"}
    )
    assert code_of(answer) == (413, "too_large")


def test_why_is_told_with_legs_and_changes(client: httpx.Client) -> None:
    asked = {"query": "cache", "reference": "docs/keys.md", "params": {"limit": 1}}
    answer = client.post("/v1/why", json=asked)
    Draft202012Validator(schema_of(ExplanationFields)).validate(answer.json())
    shown = client.post("/v1/search", json={"query": "cache", "limit": 1}).json()["results"][0]
    assert answer.json()["path"] == "docs/keys.md"
    assert (answer.json()["rank"] == 1) == (shown["path"] == "docs/keys.md")
    assert {leg["signal"] for leg in answer.json()["legs"]} == {"lexical", "semantic"}


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        ({"query": "cache"}, 400),
        ({"reference": "docs/keys.md"}, 400),
        ({"query": "cache", "reference": 5}, 400),
        ({"query": "cache", "reference": "docs/keys.md", "params": []}, 400),
        ({"query": "cache", "reference": "docs/keys.md", "params": {"reference": "x"}}, 400),
        ({"query": "cache", "reference": "docs/keys.md", "contract": 5}, 400),
        ({"query": "cache", "reference": "docs/keys.md", "stranger": 5}, 400),
        ({"query": "cache", "reference": "nowhere.md"}, 404),
        ({"query": "cache", "reference": "../../etc/passwd"}, 404),
    ],
)
def test_a_wrong_question_why_is_refused(client: httpx.Client, asked: Any, refused: int) -> None:
    assert code_of(client.post("/v1/why", json=asked))[0] == refused


@pytest.mark.parametrize("path", ["/v1/verify", "/v1/why"])
def test_a_key_is_needed_where_searches_need_one(tmp_path: Path, path: str) -> None:
    folder = indexed(tmp_path / "locked")
    key = command("keys", "add", "reader", cwd=folder).stdout.split()[-1]
    with serving(folder, "--require-key") as server, server.client() as client:
        assert code_of(client.post(path, json={})) == (401, "unauthorized")
        allowed = client.post(path, json={}, headers={"Authorization": f"Bearer {key}"})
        assert code_of(allowed) == (400, "invalid_parameter")
