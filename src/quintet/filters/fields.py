"""The fields that filters know, and the checks that turn a caller's filter into a `Filter`.

A filter is text (`filters/grammar.py`), an object of conditions that must all hold, or a tree of both:
`{"and": [...]}`, `{"or": [...]}`, `{"not": ...}`. Spec 003 accepts only an object of exact matches, or text.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches

from quintet.errors import UsageError
from quintet.filters.globs import compiled_glob
from quintet.filters.grammar import MAX_CHARS, MAX_DEPTH, ReadCondition, all_of, any_of, parse
from quintet.filters.ranges import ORDERINGS, Order, check_bound, date_milliseconds, number_in
from quintet.model.filters import AllOf, Comparison, Condition, Expression, Filter, Not
from quintet.model.parameters import ValueCheck, is_exact, is_number, shown
from quintet.model.schema import Schema, named, object_schema, reference

MAX_CONDITIONS = 100
SCANNING = frozenset({"contains", "icontains"})  # may have to read every text
MAX_SCANNING = 8

TEXT = "text"
OWN_TEXT = "text, such as a name or a date"  # of a property that the owner of a knowledge base declares
NON_EMPTY = "text that is not empty"
INTEGER = "a whole number"
NUMBER = "a number"
BOOLEAN = "true or false"
TIME = "a whole number of Unix milliseconds, or a date such as 2026-01-31 (a bare year is neither)"
SCALAR = "text, a number, true or false"

STORABLE: Schema = {"pattern": r"^[^\x00]*$"}
KINDS: Mapping[str, Schema] = {
    TEXT: {"type": "string", **STORABLE},
    OWN_TEXT: {"type": "string", **STORABLE},
    NON_EMPTY: {"type": "string", "minLength": 1, **STORABLE},
    INTEGER: {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
    NUMBER: {"type": "number"},
    BOOLEAN: {"type": "boolean"},
    TIME: {"type": ["integer", "string"], "pattern": "^(-?[0-9]+|[0-9]{4}-[0-9]{2}-[0-9]{2}.*)$"},
    SCALAR: {"type": ["string", "number", "boolean"], **STORABLE},
}

ORDERS: Mapping[str, Order] = {  # the kinds that have an order
    INTEGER: Order("a number", numbers=True),
    NUMBER: Order("a number", numbers=True),
    SCALAR: Order("a number, or a date such as 2026-01-31", numbers=True, dates=True, text_is_number=True),
    OWN_TEXT: Order("a date such as 2026-01-31, because its values are text", dates=True),
}

META_FIELD = "meta.NAME"  # any field of front matter
GENERAL: Mapping[str, str] = {
    "path": NON_EMPTY,  # a glob; `*` stays inside one folder, `**` does not
    "mime": NON_EMPTY,
    "lang": NON_EMPTY,
    "root": NON_EMPTY,
    "title": TEXT,
    "tag": TEXT,
    "after": TIME,  # modified later than this (spec 004, section 8)
    "before": TIME,
    "contains": NON_EMPTY,
    "icontains": NON_EMPTY,  # ignores case
    META_FIELD: SCALAR,
}

BUILT_IN: Mapping[str, str] = {  # spec 003, "Built-In Chunk Metadata"
    "knowledge_base_id": TEXT,
    "document_id": TEXT,
    "chunk_index": INTEGER,
    "title": TEXT,
    "source_type": TEXT,
    "source_name": TEXT,
    "uri": TEXT,
    "source_id": TEXT,
    "source_path": TEXT,
    "managed_by_source": BOOLEAN,
    "page_number": INTEGER,
}

SCOPE = ("project", "package", "module", "file")  # spec 002's levels, narrowest last


def exact_filters(fields: Mapping[str, str], *, front_matter: bool = False) -> ValueCheck:
    """Spec 003's filters: an object of `{name: value}` conditions, all of which must hold. With
    `front_matter` every other name is a field of it. Beside the object, text of the filter language, which
    knows the general fields too."""

    def accept(value: object) -> object:
        if isinstance(value, str):
            return _expression({**GENERAL, **fields}, value)
        if not isinstance(value, Mapping):
            example = "{'title': 'Guide'}, or text such as 'title:Guide'"
            raise _invalid(f"filters is {shown(value)}; it must be an object such as {example}")
        return Filter(tuple(_authored(fields, value) if front_matter else _conditions(fields, value)))

    exact = object_schema({name: KINDS[kind] for name, kind in fields.items()})
    if front_matter:
        exact = {**exact, "additionalProperties": KINDS[SCALAR]}
    conditions = named("KnowledgeConditions", "Fields that must all have these values.", exact)
    words = "Fields that must all have these values, or a filter as text."
    return ValueCheck(accept, named("KnowledgeFilters", words, {"oneOf": [conditions, FILTER_TEXT]}))


def _authored(fields: Mapping[str, str], value: Mapping[str, object]) -> list[Condition]:
    names = {str(name): str(name) if name in fields else f"meta.{name}" for name in value}
    return _conditions({**fields, META_FIELD: SCALAR}, {names[str(name)]: value[name] for name in value})


def _conditions(fields: Mapping[str, str], value: Mapping[str, object]) -> list[Condition]:
    return [condition(fields, str(name), value[name]) for name in sorted(value, key=str)]


def condition(fields: Mapping[str, str], name: str, value: object, comparison: Comparison = "=") -> Condition:
    """A field and a value of its kind, or a value that the field is compared with."""
    kind = _kind_of(fields, name)
    if comparison == "=":
        return _equality(name, kind, value)
    if kind not in ORDERS:
        ordered = ", ".join(sorted(name for name, kind in fields.items() if kind in ORDERS))
        raise _invalid(
            f"filter {name} has no order, so {comparison} cannot compare it; write {name}:VALUE, or compare "
            f"numbers and dates, as in {ordered}"
        )
    return Condition(name, check_bound(name, value, comparison, ORDERS[kind]), comparison)


def _kind_of(fields: Mapping[str, str], name: str) -> str:
    from_front_matter = name.startswith("meta.") and name != "meta."
    kind = fields.get(META_FIELD if from_front_matter else name)
    if kind is None:
        close = get_close_matches(name, fields, 1)
        hint = f"did you mean {close[0]!r}?" if close else "the filters are: " + ", ".join(sorted(fields))
        raise _invalid(f"unknown filter {shown(name)}; {hint}")
    return kind


def _equality(name: str, kind: str, value: object) -> Condition:
    if kind in (INTEGER, NUMBER, SCALAR) and not is_exact(value):
        raise _invalid(f"filter {name} is {shown(value)}; a whole number must fit into 64 bits")
    if isinstance(value, str) and (kind in (TEXT, OWN_TEXT, SCALAR) or (kind == NON_EMPTY and value)):
        if name == "path":
            compiled_glob(value)  # raises for a glob that could not be matched later
        return Condition(name, _clean(name, value))
    if isinstance(value, str) and kind == TIME and (moment := milliseconds(value)) is not None:
        return Condition(name, moment)
    if isinstance(value, bool) and kind in (BOOLEAN, SCALAR):
        return Condition(name, value)
    if isinstance(value, int) and is_number(value) and kind in (INTEGER, TIME):
        return Condition(name, value)
    if isinstance(value, (int, float)) and is_number(value) and kind in (NUMBER, SCALAR):
        return Condition(name, value)
    raise _invalid(f"filter {name} is {shown(value)}; it must be {kind}")


def milliseconds(text: str) -> int | None:
    """Unix milliseconds from digits or from an ISO date or time, which is UTC unless it names a zone.

    >>> milliseconds("1970-01-02"), milliseconds("1970-01-01T01:00+01:00"), milliseconds("1700000000000")
    (86400000, 0, 1700000000000)
    """
    if re.fullmatch(r"-?[0-9]{1,20}", text):
        return None if len(text) == 4 else int(text)
    return date_milliseconds(text)


def text_conditions(fields: Mapping[str, str]) -> ReadCondition:
    """How conditions of the filter language are read, where every value is text."""

    def read(name: str, text: str, comparison: Comparison) -> Condition:
        return condition(fields, name, _typed(_kind_of(fields, name), text), comparison)

    return read


def _typed(kind: str, text: str) -> object:
    """The value that a text spells in a field of this kind. What it does not spell stays text, and is refused
    later."""
    if kind == BOOLEAN:
        return {"true": True, "false": False}.get(text.lower(), text)
    if kind in (INTEGER, NUMBER):
        number = number_in(text)
        return text if number is None else number
    return text


def _clean(name: str, value: str) -> str:
    if any(ord(char) == 0 or 0xD800 <= ord(char) < 0xE000 for char in value):
        raise _invalid(f"filter {name} is {shown(value)}; it must be text without NUL or lone surrogates")
    return value


COMBINED: Mapping[str, Callable[[Sequence[Expression]], Expression]] = {"and": all_of, "or": any_of}


def filter_language(fields: Mapping[str, str]) -> ValueCheck:
    """A filter over these fields: text, an object, or a tree of both."""

    def accept(value: object) -> object:
        return _expression(fields, value)

    return ValueCheck(accept, _schema(fields))


def _expression(fields: Mapping[str, str], value: object) -> Filter:
    if isinstance(value, Mapping) and not value:
        return Filter()
    expression = _read(fields, value, 0)
    if (count := count_conditions(expression)) > MAX_CONDITIONS:
        raise _invalid(
            f"the filter has {count} conditions; at most {MAX_CONDITIONS} are allowed: simplify it"
        )
    if (count := count_conditions(expression, SCANNING)) > MAX_SCANNING:
        names = " and ".join(sorted(SCANNING))
        raise _invalid(f"the filter has {count} conditions on {names}; at most {MAX_SCANNING} are allowed")
    return as_filter(expression)


def as_filter(expression: Expression) -> Filter:
    return Filter(expression.parts if isinstance(expression, AllOf) else (expression,))


def _read(fields: Mapping[str, str], value: object, depth: int) -> Expression:
    if isinstance(value, str):
        return parse(value, text_conditions(fields))
    if not isinstance(value, Mapping) or not value:
        example = "{'path': 'docs/**'}, or text such as 'path:docs/**'"
        raise _invalid(f"filters is {shown(value)}; it must be an object such as {example}")
    if depth > MAX_DEPTH:
        raise _invalid(f"the filter is more than {MAX_DEPTH} levels deep; write it flatter")
    operator = next((name for name in ("and", "or", "not") if name in value), None)
    if operator is None:
        return all_of(
            [one for name in sorted(value, key=str) for one in _of_field(fields, name, value[name])]
        )
    if len(value) > 1:
        raise _invalid(
            f"filter {operator!r} must be the only key of its object; put the other filters into its list"
        )
    return _combined(fields, operator, value[operator], depth)


def _of_field(fields: Mapping[str, str], name: object, value: object) -> list[Condition]:
    """A value, or a range such as `{">=": 10, "<": 20}`."""
    if not isinstance(value, Mapping):
        return [condition(fields, str(name), value)]
    _kind_of(fields, str(name))
    if not value or not set(value) <= set(ORDERINGS):
        ranges = "a range such as {'>=': 10, '<': 20}; the comparisons are: " + ", ".join(ORDERINGS)
        raise _invalid(f"filter {name} is {shown(value)}; it must be a value, or {ranges}")
    return [condition(fields, str(name), value[sign], sign) for sign in ORDERINGS if sign in value]


def _combined(fields: Mapping[str, str], operator: str, value: object, depth: int) -> Expression:
    if operator == "not":
        return Not(_read(fields, value, depth + 1))
    if not isinstance(value, (list, tuple)) or not value:
        raise _invalid(f"filter {operator} is {shown(value)}; it must be a list of filters")
    return COMBINED[operator]([_read(fields, part, depth + 1) for part in value])


def count_conditions(expression: Expression, fields: Collection[str] | None = None) -> int:
    """How many conditions an expression has, on any field or on these fields."""
    if isinstance(expression, Condition):
        return int(fields is None or expression.field in fields)
    parts = (expression.of,) if isinstance(expression, Not) else expression.parts
    return sum(count_conditions(part, fields) for part in parts)


FILTER_TEXT: Schema = {
    "type": "string",
    "pattern": r"\S[:<>]\s*\S|\S\s[<>]",
    "maxLength": MAX_CHARS,
    "description": "such as `path:docs/** -lang:python`",
}


def _schema(fields: Mapping[str, str]) -> Schema:
    part = {**reference("Filter"), "not": {"const": {}}}  # only a whole filter may be empty
    several = {"type": "array", "minItems": 1, "items": part}
    words = "Fields that must all match; `meta.NAME` is front matter."
    variants = [
        FILTER_TEXT,
        named("FilterConditions", words, _fields_schema(fields)),
        named("FilterAnd", "All of these filters.", object_schema({"and": several}, ["and"])),
        named("FilterOr", "Any of these filters.", object_schema({"or": several}, ["or"])),
        named("FilterNot", "Not this filter.", object_schema({"not": part}, ["not"])),
    ]
    return named("Filter", "A filter: text, conditions, or a tree of both.", {"oneOf": variants})


def _fields_schema(fields: Mapping[str, str]) -> Schema:
    """Generated clients can set fields of front matter, which `additionalProperties` allows."""
    own = {name: _field_schema(kind) for name, kind in fields.items() if name != META_FIELD}
    names = "|".join(own)
    return {
        **object_schema(own),
        "additionalProperties": _field_schema(SCALAR),
        "propertyNames": {"pattern": rf"^(({names})$|meta\.[\s\S])"},
    }


def _field_schema(kind: str) -> Schema:
    if kind not in ORDERS:
        return KINDS[kind]
    ranges = {  # not properties: no generator can make names of them
        "type": "object",
        "additionalProperties": {"type": ["number", "string"]},
        "propertyNames": {"pattern": "^[<>]=?$"},
        "minProperties": 1,
    }
    return {"anyOf": [KINDS[kind], named("FilterRange", "Bounds of a number or a date.", ranges)]}


FILTER = filter_language(GENERAL)  # for every contract but 003


def _scope(value: object) -> object:
    """Spec 002's scope filter: any of project, package, module, file."""
    if not isinstance(value, Mapping):
        raise _invalid(
            f"scope_filter is {shown(value)}; it must be an object such as {{'package': 'src/app'}}"
        )
    levels = _conditions(dict.fromkeys(SCOPE, NON_EMPTY), value)
    return Filter(tuple(Condition(f"scope.{level.field}", level.value) for level in levels))


def _invalid(message: str) -> UsageError:
    return UsageError(message, code="invalid_filter")


SCOPE_FILTER = ValueCheck(
    _scope,
    named(
        "ScopeFilter",
        "The project, package, module or file that results come from.",
        object_schema(dict.fromkeys(SCOPE, KINDS[NON_EMPTY])),
    ),
)
