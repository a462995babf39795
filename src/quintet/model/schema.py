"""JSON Schema of a result type. The type is written once, and every interface publishes its schema."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from inspect import cleandoc
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Schema = dict[str, Any]


def keywords(**values: Any) -> tuple[tuple[str, Any], ...]:
    """Keywords of JSON Schema that a type of Python cannot express, for `Annotated`."""
    return tuple(values.items())


Count = Annotated[int, keywords(minimum=0)]
Position = Annotated[int, keywords(minimum=1)]
Probability = Annotated[float, keywords(minimum=0, maximum=1)]
Lines = Annotated[list[int], keywords(minItems=2, maxItems=2)]  # first and last
Object = Annotated[
    dict[str, Any],
    keywords(title="JsonObject", description="Any JSON values, by name.", additionalProperties=True),
]
Metadata = Annotated[
    dict[str, Any],
    keywords(
        title="Metadata",
        description="What is known about a document or a memory: any JSON values, by name.",
        additionalProperties=True,
    ),
]
# Text that `str.strip` leaves something of. `\s` of JSON Schema lacks some of the white space of Python.
NOT_BLANK: Schema = {"type": "string", "minLength": 1, "pattern": r"[^\s\x1c-\x1f\x85]"}

NAMES: Mapping[Any, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    NoneType: "null",
}


def schema_of(*kinds: Any, closed: bool = True) -> Schema:
    """The schema of a type. Several TypedDicts or dataclasses make one object with the fields of all.

    `closed` objects have no other fields. The name of a type becomes the title of its schema, its docstring
    the description. `Annotated[Any, D]` is the dictionary that `asdict` makes of dataclass `D`.

    >>> schema_of(list[str] | None)
    {'type': ['array', 'null'], 'items': {'type': 'string'}}
    """
    if len(kinds) == 1:
        return _schema(kinds[0], closed)
    parts = [_schema(kind, closed) for kind in kinds]
    fields = {name: schema for part in parts for name, schema in part["properties"].items()}
    schema = object_schema(fields, [name for part in parts for name in part["required"]], closed=closed)
    return schema | {name: value for name, value in parts[0].items() if name in ("title", "description")}


def reference(title: str) -> Schema:
    """The schema with this title, among the components of an OpenAPI document."""
    return {"$ref": f"#/components/schemas/{title}"}


def named(title: str, description: str, schema: Schema) -> Schema:
    """A schema that documents may refer to by its title."""
    return {**schema, "title": title, "description": description}


def object_schema(
    fields: Mapping[str, Schema], required: Sequence[str] = (), *, closed: bool = True
) -> Schema:
    schema: Schema = {"type": "object", "properties": dict(fields), "required": list(required)}
    return {**schema, "additionalProperties": False} if closed else schema


def _schema(kind: Any, closed: bool) -> Schema:
    if kind in NAMES:
        return {"type": NAMES[kind]}
    if kind is Any:
        return {}
    if is_typeddict(kind) or is_dataclass(kind):
        return _fields_of(kind, closed)
    return _generic(kind, closed)


def _generic(kind: Any, closed: bool) -> Schema:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        base, detail = arguments
        return _schema(detail, closed) if base is Any else {**_schema(base, closed), **_lists(detail)}
    if origin is Literal:
        choices = {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
        return {"type": NAMES[type(arguments[0])], **choices}
    if origin in (Union, UnionType):
        return _union([_schema(argument, closed) for argument in arguments])
    if origin in (list, tuple):
        return {"type": "array", "items": _schema(arguments[0], closed)}
    if origin in (dict, Mapping):
        values = _schema(arguments[1], closed)
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    raise TypeError(f"a result cannot be of type {kind!r}")


def _lists(detail: tuple[tuple[str, Any], ...]) -> Schema:
    """`Annotated` takes only what can be hashed, so lists come as tuples."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in detail}


def _union(variants: list[Schema]) -> Schema:
    """A simple type or null has both in its `type`; all other unions are an `anyOf`."""
    first, *others = variants
    if others == [{"type": "null"}] and first.get("type") not in (None, "object") and "enum" not in first:
        return {**first, "type": [first["type"], "null"]}
    return {"anyOf": variants}


def _fields_of(kind: Any, closed: bool) -> Schema:
    optional = getattr(kind, "__optional_keys__", ())
    fields = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        plain = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
        fields[name] = _schema(plain, closed)
    schema = object_schema(fields, [name for name in fields if name not in optional], closed=closed)
    schema["title"] = kind.__name__
    text = kind.__dict__.get("__doc__") or ""
    if text and not text.startswith(f"{kind.__name__}("):  # which `dataclass` writes itself
        schema["description"] = " ".join(cleandoc(text).split())
    return schema
