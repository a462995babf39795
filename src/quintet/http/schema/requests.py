"""What a request may hold: JSON Schemas read off the contracts' own parameters."""

from collections.abc import Collection, Mapping
from dataclasses import Field, dataclass, fields
from difflib import get_close_matches
from typing import Any

from quintet.contracts import CONTRACTS, HOUSE, Contract
from quintet.errors import UsageError
from quintet.memory.contract import MEMORY
from quintet.model.parameters import rule_of
from quintet.model.schema import Schema, object_schema, schema_of
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


def known_fields(body: Mapping[str, Any], known: Collection[str], whose: str) -> None:
    """Refuse a field that nobody reads: the caller meant something by it."""
    for name in body:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"it takes: {', '.join(sorted(known))}"
            raise UsageError(f"{whose} has no field {name[:80]!r}; {hint}", details={"parameter": name[:80]})


def parameter_names(contract: Contract) -> list[str]:
    """A contract's own names, and the two that every interface offers."""
    own = [one.name for one in fields(contract.parameters)]
    offered = ["limit", "mode"] if contract.mode else ["limit"]
    return list(dict.fromkeys([*own, *offered]))


@dataclass(frozen=True, slots=True)
class Reindex:
    """What a reindex request asks for (spec 000, section 4.5)."""

    path: str | None
    paths: list[str] | None
    force: bool

    @property
    def chosen(self) -> list[str]:
        return self.paths or [self.path or "."]


def reindex_arguments(body: Mapping[str, Any]) -> Reindex:
    known_fields(body, ["path", "paths", "force"], "a reindex")
    path, paths, force = body.get("path"), body.get("paths"), body.get("force", False)
    if path is not None and not isinstance(path, str):
        raise _wrong("path", "a file or folder")
    if paths is not None and not (isinstance(paths, list) and all(isinstance(one, str) for one in paths)):
        raise _wrong("paths", "a list of files and folders")
    if not isinstance(force, bool):
        raise _wrong("force", "true or false")
    return Reindex(path, paths, force)


def _wrong(name: str, allowed: str) -> UsageError:
    return UsageError(f"{name} must be {allowed}", details={"parameter": name})


def half(asked: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The further parameters of one half of a search over code and memory."""
    given = asked.get(name, {})
    if not isinstance(given, dict):
        raise _wrong(name, 'an object of parameters, such as {"limit": 5}')
    known_fields(given, parameter_names(HALVES[name]), name)
    return given


def search_request(contract: Contract) -> Schema:
    """`{query, ...parameters}` of one contract."""
    return object_schema({"query": QUERY, **_parameters(contract), "receipt": RECEIPT}, required=["query"])


def search_all_request() -> Schema:
    """`{query, code, memory}`: further parameters of contract mcb and of what recalls."""
    halves = {name: object_schema(_parameters(contract)) for name, contract in HALVES.items()}
    return object_schema({"query": QUERY, **halves}, required=["query"])


def _parameters(contract: Contract) -> dict[str, Schema]:
    declared = {one.name: parameter_schema(one) for one in fields(contract.parameters)}
    aliases = {"limit": contract.limit, "mode": contract.mode}
    for alias, own in aliases.items():
        if own is not None and own != alias:
            declared[alias] = {**declared[own], "description": f"the same as {own}; give only one of them"}
    return declared


def house_request() -> Schema:
    """`{query, contract, ...parameters}`: the fields are those of the contract that is named."""
    variants = []
    for contract in CONTRACTS.values():
        one = search_request(contract)
        one["title"] = contract.name
        one["properties"]["contract"] = {"type": "string", "const": contract.name}
        if contract.name != HOUSE:
            one["required"] = ["query", "contract"]
        variants.append(one)
    return {"oneOf": variants}


def retrieval_request(contract: Contract) -> Schema:
    """Spec 003's canonical request."""
    inner = object_schema({"query": QUERY, **_parameters(contract)}, required=["query"])
    beside = {"receipt": RECEIPT, "references": REFERENCES}
    return object_schema({"retrieval": inner, **beside}, required=["retrieval"])


def reindex_request() -> Schema:
    path = {"type": ["string", "null"], "description": "a file or folder; else the server's working folder"}
    several = {"type": ["array", "null"], "items": {"type": "string"}}
    return object_schema(
        {
            "path": path,
            "paths": {**several, "description": "several files and folders; `path` then does not count"},
            "force": {"type": "boolean", "default": False, "description": "read every file again"},
        },
        required=[],
    )


def parameter_schema(declared: "Field[Any]") -> Schema:
    rule = rule_of(declared)
    schema = {**rule.check.schema, "description": rule.help}
    if declared.default is None:
        return {"anyOf": [schema, {"type": "null"}]}
    if isinstance(declared.default, (int, float, str)):
        schema["default"] = declared.default
    return schema
