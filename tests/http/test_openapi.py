"""The OpenAPI document is valid, tells of every route, and has the parameters of every contract."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

import quintet
from quintet.contracts import CONTRACTS
from quintet.errors import UsageError
from quintet.http.schema.openapi import body_schema, document
from quintet.http.schema.requests import parameter_schema, search_request
from quintet.model.parameters import read, rule_of


def test_the_document_is_what_the_server_sends_and_valid_openapi(client: httpx.Client) -> None:
    sent = client.get("/openapi.json").json()
    assert sent == json.loads(json.dumps(document(quintet.__version__)))
    OPENAPI_31_VALIDATOR.validate(sent)


def schemas(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if isinstance(value.get("schema"), dict):
            yield value["schema"]
        for inner in value.values():
            yield from schemas(inner)


def test_every_schema_of_the_document_is_a_schema() -> None:
    found = list(schemas(document(quintet.__version__)))
    assert len(found) > 30
    for one in found:
        Draft202012Validator.check_schema(one)


def test_every_route_is_told_of_and_no_other(client: httpx.Client) -> None:
    paths = document(quintet.__version__)["paths"]
    for path, item in paths.items():
        taken = {method.upper() for method in item if method != "parameters"}
        answer = client.request("BREW", path.replace("{id}", "x"))
        assert answer.status_code == 405, path
        assert set(answer.headers["allow"].split(", ")) - {"HEAD"} == taken
    untold = {"/docs", "/openapi.json", "/mcp"}
    for path in untold:
        assert client.request("BREW", path).status_code == 405
    assert {f"/v1/contracts/{name}/search" for name in CONTRACTS} <= set(paths)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_contracts_request_lists_its_own_parameters_with_their_words(contract: str) -> None:
    request = search_request(CONTRACTS[contract])
    Draft202012Validator.check_schema(request)
    for one in fields(CONTRACTS[contract].parameters):
        told = parameter_schema(one)
        assert told["description"].startswith(rule_of(one).help)
        if (contract, one.name) != ("knowledge", "filters"):  # knowledge bases have filters of their own
            assert request["properties"][one.name] == told


SAMPLES: list[Any] = [
    *(
        0,
        1,
        2,
        10,
        1000,
        1001,
        10_000,
        10_001,
        -1,
        0.5,
        -0.5,
        1e300,
        True,
        False,
        None,
        "",
        " \x1f",
        "x",
        [],
        {},
        [1.0],
        ["a"],
    ),
    *("lexical", "keyword", "semantic", "hybrid", "document", "chunk", "max", "avg", "plain", "fts5", "none"),
    *("normalize", "Fresh", "Stale", "Acceptable", "StaleWithRisk"),
    *(
        {"path": "a"},
        {"path": 1},
        {"after": 1},
        {"after": "x"},
        {"colour": "red"},
        {"file": "a"},
        {"title": "a"},
    ),
    *("lang:c -path:x", {"or": ["tag:a", {"lang": "c"}]}, {"not": {"tag": "a"}}, {"and": []}, {"meta.x": 1}),
    *(
        {"after": "2026-01-31"},
        {"and": ["tag:a"], "path": "x"},
        {"title": 2},
        {"title": -1},
        {"managed_by_source": True},
        {"not": {}},
        {"or": [{"not": "tag:a"}, {}]},
        {"and": [{"or": ["tag:a", {"lang": "c"}]}]},
        {"meta.": 1},
        {"title": "\0"},
        {"page_number": 1},
        {"page_number": 2**63 - 1},
        {"page_number": 2**63},
        {"path": ""},
    ),
    *(
        {"callers": {"depth": 2}},
        {"related": {"radius": 11}},
        {"related": {"depth": 1}},
        {"callers": {"depth": 0}},
    ),
]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_schema_takes_what_the_contract_takes_and_refuses_what_it_refuses(contract: str) -> None:
    kind, components = CONTRACTS[contract].parameters, document(quintet.__version__)["components"]
    for one in fields(kind):
        validator = Draft202012Validator({**parameter_schema(one), "components": components})
        for sample in SAMPLES:
            assert validator.is_valid(sample) is taken(contract, kind, {one.name: sample}), (one.name, sample)


def taken(contract: str, kind: type[Any], given: dict[str, Any]) -> bool:
    try:
        read(contract, kind, given, {})
    except UsageError:
        return False
    return True


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_schema_of_an_answer_names_every_key_of_it(contract: str, client: httpx.Client) -> None:
    body = client.post(f"/v1/contracts/{contract}/search", json={"query": "cache"}).json()
    Draft202012Validator(body_schema(contract)).validate(body)
    assert re.search(r'"(results|retrieval_calls)": \[\{', json.dumps(body))
    with pytest.raises(Exception, match="Additional properties"):
        Draft202012Validator(body_schema(contract)).validate({**body, "stranger": 1})
