"""The part of the OpenAPI document about memory, the code graph, reading, forgetting and context."""

from dataclasses import fields
from typing import get_args

from quintet.codegraph.related import MAX_DEPTH, MAX_LIMIT, RelatedFields
from quintet.contracts.contract import Strategy
from quintet.http.jobs import Forgotten
from quintet.http.routes.folders import MapBody
from quintet.http.schema.knowledge_openapi import changing
from quintet.http.schema.knowledge_requests import context_request
from quintet.http.schema.operations import SEARCHED, operation
from quintet.http.schema.requests import QUERY, parameter_schema
from quintet.knowledge.results import ContextBody
from quintet.memory import Remembered
from quintet.memory.contract import MEMORY, MemoryBody
from quintet.model.memories import KINDS
from quintet.model.results import AnswerStatus
from quintet.model.schema import Schema, object_schema, schema_of
from quintet.model.tokens import LARGEST_BUDGET
from quintet.serving.results import ReadBody

TEXT: Schema = {"type": "string", "minLength": 1}
NAMES: Schema = {"type": "array", "items": {"type": "string"}}
MAYBE: Schema = {"type": ["string", "null"]}
REFERENCE: Schema = {**TEXT, "description": "a path as a search shows it, PATH:FIRST-LAST, or an id"}
REMEMBER = object_schema(
    {
        "text": TEXT,
        "kind": {"type": "string", "enum": list(KINDS), "default": "fact"},
        "tags": {**NAMES, "description": "words to find the memory by"},
        "about": {**NAMES, "description": "paths, PATH:FIRST-LAST or symbols it is about"},
        "session": MAYBE,
        "metadata": {"type": ["object", "null"]},
        "supersedes": {**MAYBE, "description": "the id of the memory that this one replaces"},
    },
    ["text"],
)
RELATED = object_schema(
    {
        "reference": {**TEXT, "description": "a symbol by the end of its name, a path, or PATH:LINE"},
        "strategy": {"type": "string", "enum": list(get_args(Strategy)), "default": "related"},
        "depth": {"type": "integer", "minimum": 1, "maximum": MAX_DEPTH, "default": 1},
        "possible": {"type": "boolean", "default": False, "description": "also follow guesses"},
        "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": 100},
    },
    ["reference"],
)
MAP = object_schema(
    {
        "paths": {**NAMES, "description": "files and folders; by default everything"},
        "query": {**MAYBE, "description": "rank from the point of view of this query's results"},
        "budget": {"type": "integer", "minimum": 1, "maximum": LARGEST_BUDGET, "default": 1024},
    }
)
READ = object_schema({"reference": REFERENCE}, ["reference"])
FORGET = object_schema(
    {"path": {**TEXT, "description": "a document, a folder, or a root by its name or place"}}, ["path"]
)


def folder_paths() -> Schema:
    recall = {"query": QUERY, **{field.name: parameter_schema(field) for field in fields(MEMORY.parameters)}}
    found = schema_of(MemoryBody, AnswerStatus)
    operations = {
        "remember": operation(
            "remember",
            "Remember a text; needs a key made with --write",
            schema_of(Remembered),
            SEARCHED,
            body=REMEMBER,
        ),
        "recall": operation(
            "recall",
            "Find memories; needs a key made with --write",
            found,
            SEARCHED,
            body=object_schema(recall, ["query"]),
        ),
        "related": operation(
            "related",
            "The neighbours of a symbol in the code graph",
            schema_of(RelatedFields),
            SEARCHED,
            body=RELATED,
        ),
        "map": operation(
            "map", "An outline of the most referenced definitions", schema_of(MapBody), SEARCHED, body=MAP
        ),
        "read": operation(
            "read",
            "The passages of a document, or of some lines of it",
            schema_of(ReadBody),
            SEARCHED,
            body=READ,
        ),
        "forget": changing(
            operation(
                "forget",
                "Remove a document, a folder or a root from the index; files stay",
                schema_of(Forgotten),
                SEARCHED,
                body=FORGET,
            )
        ),
        "context": operation(
            "folder_context",
            "Cited passages of the folders to answer from, within a budget of tokens",
            schema_of(ContextBody, AnswerStatus),
            SEARCHED,
            body=context_request(),
        ),
    }
    return {f"/v1/{name}": {"post": schema} for name, schema in operations.items()}
