"""Filters as callers write them, checked into `Filter`. Which fields a store knows is decided here once."""

from collections.abc import Mapping
from difflib import get_close_matches

from quintet.contracts.globs import compiled_glob
from quintet.contracts.parameters import Check, Schema, is_number, object_schema, shown
from quintet.errors import UsageError
from quintet.model import Condition, Filter

TEXT = "text"
INTEGER = "a whole number"
BOOLEAN = "true or false"

KINDS: Mapping[str, Schema] = {
    TEXT: {"type": "string", "minLength": 1},
    INTEGER: {"type": "integer"},
    BOOLEAN: {"type": "boolean"},
}

GENERAL: Mapping[str, str] = {
    "path": TEXT,  # a glob; `*` stays inside one folder, `**` does not
    "mime": TEXT,
    "lang": TEXT,
    "root": TEXT,
    "after": INTEGER,  # modified later than this, Unix milliseconds (spec 004, section 8)
    "before": INTEGER,
    "contains": TEXT,
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


def filters(fields: Mapping[str, str]) -> Check:
    """A check for a bag of `{name: value}`, all of which must hold."""

    def accept(value: object) -> object:
        if not isinstance(value, Mapping):
            raise _refused(f"filters is {shown(value)}; it must be an object such as {{'path': 'docs/**'}}")
        return Filter(tuple(_condition(fields, str(name), value[name]) for name in sorted(value, key=str)))

    return Check(accept, object_schema({name: KINDS[kind] for name, kind in fields.items()}))


def _condition(fields: Mapping[str, str], name: str, value: object) -> Condition:
    if name not in fields:
        close = get_close_matches(name, fields, 1)
        hint = f"did you mean {close[0]!r}?" if close else "the filters are: " + ", ".join(sorted(fields))
        raise _refused(f"unknown filter {name!r}; {hint}")
    if isinstance(value, bool) and fields[name] == BOOLEAN:
        return Condition(name, value)
    if isinstance(value, int) and is_number(value) and fields[name] == INTEGER:
        return Condition(name, value)
    if isinstance(value, str) and fields[name] == TEXT:
        if name == "path":
            compiled_glob(value)  # refuses what could not be matched later
        return Condition(name, _clean(name, value))
    raise _refused(f"filter {name} is {shown(value)}; it must be {fields[name]}")


def _clean(name: str, value: str) -> str:
    if not value or any(ord(char) == 0 or 0xD800 <= ord(char) < 0xE000 for char in value):
        raise _refused(f"filter {name} is {shown(value)}; it must be text without NUL or lone surrogates")
    return value


LEVELS = filters(dict.fromkeys(SCOPE, TEXT))


def _scope(value: object) -> object:
    """Spec 002's scope filter: any of project, package, module, file."""
    if not isinstance(value, Mapping):
        raise _refused(
            f"scope_filter is {shown(value)}; it must be an object such as {{'package': 'src/app'}}"
        )
    found = LEVELS.accept(value)
    assert isinstance(found, Filter)
    return Filter(tuple(Condition(f"scope.{one.field}", one.value) for one in found.conditions))


def _refused(message: str) -> UsageError:
    return UsageError(message, code="invalid_filter")


SCOPE_FILTER = Check(_scope, LEVELS.schema)
