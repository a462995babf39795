"""What the contracts share about knowledge bases: names, fields of documents, and filters over those."""

from collections.abc import Mapping
from dataclasses import make_dataclass, replace
from typing import Any

from quintet.errors import NotFound
from quintet.filters.fields import BOOLEAN, BUILT_IN, INTEGER, NUMBER, OWN_TEXT
from quintet.model.documents import Document, Json, Passage
from quintet.model.filters import AllOf, AnyOf, Condition, Expression, Filter, Not
from quintet.model.parameters import ValueCheck, parameter, text

DEFAULT_INDEX = "default"  # every document of the indexed folders
INDEX_PREFIX = "kb_"  # the index of a knowledge base is this and its slug
INDEX = text("the name of a knowledge base")
BASE = "_knowledge_base"  # the metadata that holds the built-in fields of a document in a base; never shown
# The built-in fields in that metadata; the others belong to the chunk or have a column.
KEPT = frozenset(BUILT_IN) - {"chunk_index", "title", "page_number"}
PROPERTY_KINDS: Mapping[str, str] = {"text": OWN_TEXT, "number": NUMBER, "int": INTEGER, "boolean": BOOLEAN}


def base_fields(properties: Mapping[str, str]) -> dict[str, str]:
    """The fields of a base whose schema has these `properties` (type by name), each with its kind."""
    return {**BUILT_IN, **{name: PROPERTY_KINDS[kind] for name, kind in properties.items()}}


def with_filters(parameters: type[Any], check: ValueCheck, help: str) -> type[Any]:
    """The parameters of a contract with another check of `filters`."""
    declared = parameter(Filter(), check, help)
    return make_dataclass(
        "Params", [("filters", Filter, declared)], bases=(parameters,), frozen=True, slots=True
    )


def only_folders(index: str) -> NotFound:
    return NotFound(
        f"index is {index!r}; only the index 'default', which covers the indexed folders, has receipts and "
        "explanations",
        code="unknown_index",
    )


def in_base(filter: Filter, fields: Mapping[str, str]) -> Filter:
    """The filter with the names that its `fields` have in the store of a base."""
    return Filter(tuple(_in_base(part, fields) for part in filter.conditions))


def _in_base(expression: Expression, fields: Mapping[str, str]) -> Expression:
    match expression:
        case Condition(name):
            return replace(expression, field=_stored_name(name, fields))
        case Not(of):
            return Not(_in_base(of, fields))
        case AllOf(parts):
            return AllOf(tuple(_in_base(part, fields) for part in parts))
    return AnyOf(tuple(_in_base(part, fields) for part in expression.parts))


def _stored_name(name: str, fields: Mapping[str, str]) -> str:
    """Of the document, the chunk or the properties; a general field such as `path` keeps its name."""
    if name in KEPT:
        return f"base.{name}"
    return f"meta.{name}" if name in fields and name not in BUILT_IN else name


def result_metadata(passage: Passage, *, of_base: bool) -> dict[str, Json]:
    """The author's metadata, then the built-in fields, which take precedence."""
    chunk, document = passage.chunk, passage.document
    known = kept(document) if of_base else _of_folder(document)
    built_in: dict[str, Json] = {**known, "chunk_index": chunk.sequence, "title": document.title}
    if chunk.page is not None:
        built_in["page_number"] = chunk.page
    return {**authored(document), **{name: built_in[name] for name in BUILT_IN if name in built_in}}


def authored(document: Document) -> dict[str, Json]:
    """The author's metadata: without the built-in and the internal fields."""
    hidden = {*BUILT_IN, BASE}
    return {name: value for name, value in document.metadata.items() if name not in hidden}


def kept(document: Document) -> Mapping[str, Json]:
    """The built-in fields in the metadata of a document in a knowledge base."""
    fields = document.metadata.get(BASE)
    return fields if isinstance(fields, dict) else {}


def _of_folder(document: Document) -> dict[str, Json]:
    return {
        "knowledge_base_id": DEFAULT_INDEX,
        "document_id": document.id,
        "source_type": "file",
        "source_name": document.root,
        "uri": document.path,
        "source_id": document.root,
        "source_path": document.path,
        "managed_by_source": True,
    }
