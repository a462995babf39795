"""JSON Schemas of requests, derived from the parameters that the contracts declare."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from typing import Any

from quintet.contracts import CONTRACTS, HOUSE, Contract
from quintet.http.schema.components import described
from quintet.memory.contract import MEMORY
from quintet.model.parameters import rule_of
from quintet.model.schema import NOT_BLANK, Object, Schema, named, object_schema, schema_of
from quintet.query.context_snapshot import CONTEXT_SCHEMA

# Generated clients send the `default` of a schema, and would so override what the server is set or tuned to.
# So the defaults are in the descriptions.
RECEIPT: Schema = {"type": "boolean", "description": "add a receipt that /v1/verify can replay"}
REFERENCES: Schema = {
    "type": "boolean",
    "description": "add the documents behind the results, numbered as an answer cites them",
}
HALVES: Mapping[str, Contract] = {"code": CONTRACTS["mcb"], "memory": MEMORY}
QUERY: Schema = {
    "type": "string",
    "minLength": 1,
    "pattern": r"[^\s\x00\x1c-\x1f\x85]",
    "description": "what to look for; any text is safe",
}
WHY = named(
    "ExplainRequest",
    "A search, and the chunk to explain in it.",
    object_schema(
        {
            "query": QUERY,
            "reference": described(NOT_BLANK, "a chunk's id, PATH or PATH:LINE"),
            "contract": {
                "type": "string",
                "enum": list(CONTRACTS),
                "description": f"the contract that ranks; default: {HOUSE}",
            },
            "params": described(schema_of(Object), "parameters of the contract, as in a search"),
        },
        required=["query", "reference"],
    ),
)


def search_request(contract: Contract) -> Schema:
    """`{query, ...parameters}` of one contract."""
    schema = with_parameters(contract, {"query": QUERY, "receipt": RECEIPT}, required=["query"])
    return named(f"{contract.name.title()}SearchRequest", f"A search by contract {contract.name}.", schema)


def search_all_request() -> Schema:
    """`{query, context, code, memory}`: where the asker is, further parameters of contract mcb and of
    `recall`."""
    halves = {
        name: described(
            named(
                f"{name.title()}Parameters", f"Parameters of the search in {name}.", with_parameters(contract)
            ),
            f"further parameters of the search in {name}",
        )
        for name, contract in HALVES.items()
    }
    context = described(
        named("SearchContext", "Where the asker is: it scopes and seeds the search.", CONTEXT_SCHEMA),
        "where the asker is",
    )
    schema = object_schema({"query": QUERY, "context": context, **halves}, required=["query"])
    return named("SearchAllRequest", "A search in code and memory.", schema)


def with_parameters(
    contract: Contract,
    beside: Mapping[str, Schema] | None = None,
    required: Sequence[str] = (),
    without: str = "",
) -> Schema:
    """An object with the parameters of a contract, but the one called `without`, and other fields `beside`.

    Each interface offers `limit` and `mode`; where the contract has its own name for one, only one of both
    can be given.
    """
    declared = {field.name: parameter_schema(field) for field in fields(contract.parameters)}
    aliases = {"limit": contract.limit, "mode": contract.mode}
    twice = []
    for alias, own in aliases.items():
        if own is not None and own != alias:
            declared[alias] = {**declared[own], "description": f"the same as {own}; give only one of them"}
            twice.append({"required": [alias, own]})
    declared.pop(without, None)
    schema = object_schema({**(beside or {}), **declared}, required)
    return {**schema, "not": {"anyOf": twice}} if twice else schema


def house_request() -> Schema:
    """`{query, contract, ...parameters}`: the contract decides which parameters there are."""
    variants = []
    for contract in CONTRACTS.values():
        name = {"type": "string", "const": contract.name, "description": "the contract that ranks"}
        required = ["query"] if contract.name == HOUSE else ["query", "contract"]
        schema = with_parameters(contract, {"query": QUERY, "contract": name, "receipt": RECEIPT}, required)
        words = f"A search by contract {contract.name}" + (
            ", the default." if contract.name == HOUSE else "."
        )
        variants.append(named(f"SearchBy{contract.name.title()}", words, schema))
    return named("SearchRequest", "A search by any contract.", {"oneOf": variants})


def retrieval_request(contract: Contract) -> Schema:
    """Spec 003's canonical request."""
    inner = named(
        "Retrieval", "A search of one index.", with_parameters(contract, {"query": QUERY}, required=["query"])
    )
    beside = {"receipt": RECEIPT, "references": REFERENCES}
    schema = object_schema({"retrieval": described(inner, "the search"), **beside}, required=["retrieval"])
    return named("RetrievalRequest", "The canonical request of contract knowledge.", schema)


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
    force = {"type": "boolean", "description": "read every file again"}
    schema = object_schema({"path": path, "paths": paths, "force": force})
    return named("ReindexRequest", "What to bring up to date.", schema)


def parameter_schema(field: "Field[Any]") -> Schema:
    rule = rule_of(field)
    if field.default is None:
        return {"anyOf": [rule.check.schema, {"type": "null"}], "description": rule.help}
    if isinstance(field.default, (int, float, str)):
        return described(rule.check.schema, f"{rule.help}; default: {json.dumps(field.default)}")
    return described(rule.check.schema, rule.help)
