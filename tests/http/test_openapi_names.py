"""The OpenAPI document for people who generate clients: names, words and examples for everything."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from http_serving import Running, code_of, indexed, serving
from jsonschema import Draft202012Validator

import quintet
from quintet.contracts import CONTRACTS
from quintet.http.schema.components import Components
from quintet.http.schema.openapi import document
from quintet.model.schema import named

DOCUMENT = json.loads(json.dumps(document(quintet.__version__)))
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = {
    operation["operationId"]: (path, method, operation)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if method != "parameters"
}
WITH_EXAMPLE = [name for name, (_, _, operation) in OPERATIONS.items() if "requestBody" in operation]
RENAMED = [contract for contract in CONTRACTS.values() if contract.limit != "limit"]
DATA = ("const", "default", "enum", "example", "examples")


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def request_schema(operation: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = operation["requestBody"]["content"]["application/json"]["schema"]
    return schema


def inner_schemas(value: Any) -> Iterator[dict[str, Any]]:
    """All objects below a value that may be schemas. What stands below `not` makes no class."""
    if isinstance(value, list):
        for item in value:
            yield from inner_schemas(item)
    if isinstance(value, dict):
        yield value
        for key, item in value.items():
            if key not in (*DATA, "not"):
                yield from inner_schemas(item)


def is_object(schema: dict[str, Any]) -> bool:
    """Whether generators make a class of the schema. (A knowledge base has a field called `properties`.)"""
    return schema.get("type") == "object" and "properties" in schema


def named_by_requests() -> set[str]:
    """The names of all schemas that requests are made of."""
    names: set[str] = set()
    left = [request_schema(OPERATIONS[name][2]) for name in WITH_EXAMPLE]
    while left:
        for part in inner_schemas(left.pop()):
            name = str(part.get("$ref", "")).rpartition("/")[2]
            if name and name not in names:
                names.add(name)
                left.append(SCHEMAS[name])
    return names


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of its own: the examples change things."""
    with serving(indexed(tmp_path_factory.mktemp("own"))) as running:
        yield running


def test_every_object_of_the_document_has_a_name_of_its_own() -> None:
    for name, schema in SCHEMAS.items():
        below = [
            part
            for key, value in schema.items()
            if key not in (*DATA, "not")
            for part in inner_schemas(value)
        ]
        assert not [part for part in below if is_object(part)], name
        assert not [part for part in below if isinstance(part.get("enum"), list)], name
    for part in inner_schemas(DOCUMENT["paths"]):
        assert not is_object(part), part
        assert not isinstance(part.get("enum"), list), part


def test_every_reference_leads_to_a_schema_and_every_schema_is_used() -> None:
    used = {part["$ref"].rpartition("/")[2] for part in inner_schemas(DOCUMENT) if "$ref" in part}
    assert used == set(SCHEMAS) | set(DOCUMENT["components"]["responses"])


def test_every_schema_and_every_field_of_a_request_is_described() -> None:
    assert [name for name, schema in SCHEMAS.items() if not schema.get("description")] == []
    undescribed = [
        f"{name}.{field}"
        for name in named_by_requests() - {"Receipt", "ReceiptClaim", "ReceiptObservations"}  # as they came
        for field, schema in SCHEMAS[name].get("properties", {}).items()
        if "description" not in schema
        and not name.startswith(("Filter", "Knowledge", "Field", "Scope", "Expand"))
    ]
    assert undescribed == []


def test_every_operation_has_a_name_a_tag_and_words() -> None:
    tags = {tag["name"] for tag in DOCUMENT["tags"]}
    assert len(OPERATIONS) == sum(len(set(item) - {"parameters"}) for item in DOCUMENT["paths"].values())
    for name, (path, _, operation) in OPERATIONS.items():
        assert name.isidentifier() and name.islower()
        assert operation["summary"] and operation["description"]
        assert len(operation["tags"]) == 1 and operation["tags"][0] in tags
        parameters = [*operation.get("parameters", ()), *DOCUMENT["paths"][path].get("parameters", ())]
        assert all(parameter["description"] for parameter in parameters)
        assert all(parameter["example"] for parameter in parameters if parameter["in"] == "path")


def test_requests_have_no_defaults_which_generated_clients_would_send() -> None:
    found = [
        name
        for name in named_by_requests()
        if any("default" in part for part in inner_schemas(SCHEMAS[name]))
    ]
    assert found == []


@pytest.mark.parametrize("name", WITH_EXAMPLE)
def test_an_example_fits_its_schema_and_the_server_takes_it(name: str, own: Running) -> None:
    path, method, operation = OPERATIONS[name]
    example = operation["requestBody"]["content"]["application/json"]["example"]
    validator(request_schema(operation)).validate(example)
    with own.client() as client:
        client.post("/v1/knowledge-bases", json={"slug": "handbook"})
        client.post("/v1/knowledge-bases/handbook/documents", json={"id": "canteen", "text": "At noon."})
        path = path.replace("{kb}", "handbook").replace("{doc}", "canteen")
        answer = client.request(method, path, json=example)
    assert answer.status_code in (200, 201, 202, 404, 409), answer.text
    if answer.status_code in (
        404,
        409,
    ):  # of what the example names, this server has nothing, or has it already
        assert name in ("create_base", "explain_result", "forget", "add_source")


@pytest.mark.parametrize("contract", RENAMED, ids=lambda contract: contract.name)
def test_limit_and_the_contracts_own_name_for_it_exclude_each_other(
    client: httpx.Client, contract: Any
) -> None:
    schema = validator(SCHEMAS[f"{contract.name.title()}SearchRequest"])
    asked = {"query": "cache", "limit": 3, contract.limit: 3}
    assert not schema.is_valid(asked)
    assert schema.is_valid({"query": "cache", "limit": 3}) and schema.is_valid(
        {"query": "cache", contract.limit: 3}
    )
    answer = client.post(f"/v1/contracts/{contract.name}/search", json=asked)
    assert code_of(answer) == (400, "invalid_parameter")


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"text": None},
        {"content": None, "title": "a"},
        {"text": "a", "content": "b"},
        {"text": "a", "id": "/"},
    ],
)
def test_a_document_without_exactly_one_text_is_refused_by_schema_and_server(
    own: Running, given: Any
) -> None:
    assert not validator(SCHEMAS["NewDocument"]).is_valid(given)
    assert validator(SCHEMAS["NewDocument"]).is_valid({"text": "a", "title": None, "metadata": {"b": 1}})
    with own.client() as client:
        client.post("/v1/knowledge-bases", json={"slug": "nulls"})
        assert client.post("/v1/knowledge-bases/nulls/documents", json=given).status_code == 400


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/search", {"query": "cache", "limit": 2.0}),
        ("/v1/related", {"reference": "cache_answer", "depth": 2.0, "limit": 5.0}),
        ("/v1/map", {"budget": 300.0}),
        ("/v1/contracts/mcb/search", {"query": "cache", "graph_expansion": {"callers": {"depth": 1.0}}}),
        ("/v1/retrieval", {"retrieval": {"query": "cache", "filters": {"chunk_index": 0.0}}}),
    ],
)
def test_a_whole_number_may_have_a_fraction_of_zero(client: httpx.Client, path: str, body: Any) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text


def test_metadata_is_kept_as_it_was_written(own: Running) -> None:
    with own.client() as client:
        client.post("/v1/remember", json={"text": "a heavy stone", "metadata": {"weight": 1.0}})
        found = client.post("/v1/recall", json={"query": "stone", "limit": 1.0})
    assert '"weight": 1.0' in found.text


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/forget", {"path": " "}),
        ("/v1/read", {"reference": "\t"}),
        ("/v1/related", {"reference": "\x1f"}),
        ("/v1/search", {"query": " \n"}),
        ("/v1/remember", {"text": "a", "session": ""}),
        ("/v1/knowledge-bases", {"slug": "default"}),
        ("/v1/knowledge-bases", {"slug": "kb_a"}),
        ("/v1/knowledge-bases", {"slug": "a", "title": "two\nlines"}),
        ("/v1/knowledge-bases", {"slug": "a", "properties": [{"name": "title", "type": "text"}]}),
    ],
)
def test_what_is_blank_or_reserved_is_refused_by_schema_and_server(
    own: Running, path: str, body: Any
) -> None:
    assert not validator(request_schema(DOCUMENT["paths"][path]["post"])).is_valid(body)
    with own.client() as client:
        assert client.post(path, json=body).status_code == 400


def test_each_event_of_a_job_is_as_the_document_says(own: Running) -> None:
    event, job = validator(SCHEMAS["JobEvent"]), validator(SCHEMAS["Job"])
    with own.client() as client:
        id = client.post("/v1/reindex", json={}).json()["id"]
        text = client.get(f"/v1/jobs/{id}/events").text
    events = [
        dict(line.split(": ", 1) for line in block.splitlines()) for block in text.strip().split("\n\n")
    ]
    assert events[-1]["event"] == "end"
    for one in events:
        event.validate(one)
        job.validate(json.loads(one["data"]))


def test_two_schemas_with_one_name_are_an_error() -> None:
    components = Components()
    components.collect(named("Place", "Where it is.", {"type": "object"}))
    with pytest.raises(ValueError, match="two schemas are called Place"):
        components.collect(named("Place", "Where it was.", {"type": "object"}))
