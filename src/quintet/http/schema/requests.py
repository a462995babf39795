"""JSON Schemas of requests, derived from the parameters that the contracts declare."""

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from quintet.contracts import CONTRACTS, HOUSE, Contract
from quintet.memory.contract import MEMORY
from quintet.model.parameters import rule_of
from quintet.model.schema import Schema, object_schema, schema_of
from quintet.query.context_snapshot import CONTEXT_SCHEMA
from quintet.receipts.receipt import Receipt

RECEIPT: Schema = {
    "type": "boolean",
    "default": False,
    "description": "add a receipt that /v1/verify can replay",
}
REFERENCES: Schema = {
    "type": "boolean",
    "default": False,
    "description": "add the documents behind the results, numbered as an answer cites them",
}
HALVES: Mapping[str, Contract] = {"code": CONTRACTS["mcb"], "memory": MEMORY}
QUERY: Schema = {"type": "string", "minLength": 1, "description": "what to look for; any text is safe"}
VERIFY: Schema = {**schema_of(Receipt), "description": "a receipt as a search gave it"}
WHY = object_schema(
    {
        "query": {"type": "string", "minLength": 1},
        "reference": {"type": "string", "minLength": 1, "description": "a chunk's id, PATH or PATH:LINE"},
        "contract": {"type": "string", "enum": list(CONTRACTS), "default": HOUSE},
        "params": {"type": "object", "description": "parameters of the contract, as in a search"},
    },
    required=["query", "reference"],
)


def search_request(contract: Contract) -> Schema:
    """`{query, ...parameters}` of one contract."""
    return object_schema({"query": QUERY, **_parameters(contract), "receipt": RECEIPT}, required=["query"])


def search_all_request() -> Schema:
    """`{query, context, code, memory}`: where the asker is, further parameters of contract mcb and of
    `recall`."""
    halves = {name: object_schema(_parameters(contract)) for name, contract in HALVES.items()}
    return object_schema({"query": QUERY, "context": CONTEXT_SCHEMA, **halves}, required=["query"])


def _parameters(contract: Contract) -> dict[str, Schema]:
    declared = {field.name: parameter_schema(field) for field in fields(contract.parameters)}
    aliases = {"limit": contract.limit, "mode": contract.mode}
    for alias, own in aliases.items():
        if own is not None and own != alias:
            declared[alias] = {**declared[own], "description": f"the same as {own}; give only one of them"}
    return declared


def house_request() -> Schema:
    """`{query, contract, ...parameters}`: the contract decides which parameters there are."""
    variants = []
    for contract in CONTRACTS.values():
        variant = search_request(contract)
        variant["title"] = contract.name
        variant["properties"]["contract"] = {"type": "string", "const": contract.name}
        if contract.name != HOUSE:
            variant["required"] = ["query", "contract"]
        variants.append(variant)
    return {"oneOf": variants}


def retrieval_request(contract: Contract) -> Schema:
    """Spec 003's canonical request."""
    inner = object_schema({"query": QUERY, **_parameters(contract)}, required=["query"])
    beside = {"receipt": RECEIPT, "references": REFERENCES}
    return object_schema({"retrieval": inner, **beside}, required=["retrieval"])


def reindex_request() -> Schema:
    path = {
        "type": ["string", "null"],
        "description": "a file or folder; by default the roots in the server's working folder",
    }
    paths = {
        "type": ["array", "null"],
        "items": {"type": "string"},
        "description": "several files and folders, at most 1000; `path` is then ignored",
    }
    return object_schema(
        {
            "path": path,
            "paths": paths,
            "force": {"type": "boolean", "default": False, "description": "read every file again"},
        },
        required=[],
    )


def parameter_schema(field: "Field[Any]") -> Schema:
    rule = rule_of(field)
    schema = {**rule.check.schema, "description": rule.help}
    if field.default is None:
        return {"anyOf": [schema, {"type": "null"}]}
    if isinstance(field.default, (int, float, str)):
        schema["default"] = field.default
    return schema
