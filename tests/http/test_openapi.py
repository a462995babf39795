"""The OpenAPI document is valid, tells of every route, and is kept to."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import httpx
import pytest
import schemathesis
from http_serving import Running, indexed, serving
from hypothesis import HealthCheck, Phase, settings
from jsonschema import Draft202012Validator
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

import quintet
from quintet.contracts import CONTRACTS
from quintet.errors import UsageError
from quintet.http.schema.openapi import body_schema, document
from quintet.http.schema.requests import parameter_schema, search_request
from quintet.model.parameters import read, rule_of

FEW, MANY = 4, 150  # for each operation
HELD = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
    "allow_header_conformance",
)

load_all_checks()
schema = schemathesis.openapi.from_dict(json.loads(json.dumps(document(quintet.__version__))))


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of its own: what is sent here may reindex."""
    with serving(indexed(tmp_path_factory.mktemp("fuzzed"))) as running:
        yield running


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@schema.parametrize()
@examples(FEW)
def test_whatever_is_sent_the_document_is_kept_to(case: schemathesis.Case, fuzzed: Running) -> None:
    case.call_and_validate(base_url=fuzzed.url, checks=CHECKS.get_by_names(HELD))


@pytest.mark.slow
@schema.parametrize()
@examples(MANY)
def test_however_much_is_sent_the_document_is_kept_to(case: schemathesis.Case, fuzzed: Running) -> None:
    case.call_and_validate(base_url=fuzzed.url, checks=CHECKS.get_by_names(HELD))


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
        described = told["anyOf"][0] if "anyOf" in told else told
        assert described["description"] == rule_of(one).help
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
    kind = CONTRACTS[contract].parameters
    for one in fields(kind):
        validator = Draft202012Validator(parameter_schema(one))
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
