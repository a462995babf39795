"""The part of the OpenAPI document about memory, the code graph, reading, forgetting and context."""

from dataclasses import fields

from quintet.codegraph.related import RelatedFields, Walk
from quintet.http.jobs import Forgotten
from quintet.http.routes.folders import MapBody
from quintet.http.schema.components import described
from quintet.http.schema.knowledge_openapi import changing
from quintet.http.schema.knowledge_requests import context_request
from quintet.http.schema.operations import SEARCHED, operation, tagged
from quintet.http.schema.requests import QUERY, parameter_schema, with_parameters
from quintet.knowledge.results import ContextBody
from quintet.memory import Remembered
from quintet.memory.contract import MEMORY, MemoryBody
from quintet.model.memories import KINDS
from quintet.model.results import AnswerStatus
from quintet.model.schema import NOT_BLANK, Metadata, Schema, named, object_schema, schema_of
from quintet.model.tokens import LARGEST_BUDGET
from quintet.serving.results import ReadBody

NAME: Schema = {"type": "string", "minLength": 1, "pattern": r"^[^\x00]*[^\s\x00\x1c-\x1f\x85][^\x00]*$"}
NAMES: Schema = {"type": "array", "items": NAME}
MAYBE: Schema = {**NAME, "type": ["string", "null"]}
REMEMBER = named(
    "RememberRequest",
    "A text to remember.",
    object_schema(
        {
            "text": described(NOT_BLANK, "what to remember"),
            "kind": {
                "type": "string",
                "enum": list(KINDS),
                "description": 'what kind of memory it is; default: "fact"',
            },
            "tags": described(NAMES, "words to find the memory by"),
            "about": described(NAMES, "paths, PATH:FIRST-LAST or symbols it is about"),
            "session": described(MAYBE, "the session it belongs to"),
            "metadata": {
                "anyOf": [schema_of(Metadata), {"type": "null"}],
                "description": "any further data",
            },
            "supersedes": described(
                {"type": ["string", "null"]}, "the id of the memory that this one replaces"
            ),
        },
        ["text"],
    ),
)
RELATED = named(
    "RelatedRequest",
    "Where to start in the code graph, and how far to go.",
    object_schema(
        {
            "reference": described(NOT_BLANK, "a symbol by the end of its name, a path, or PATH:LINE"),
            **{field.name: parameter_schema(field) for field in fields(Walk)},
            "possible": {"type": "boolean", "description": "also follow guesses"},
        },
        ["reference"],
    ),
)
MAP = named(
    "MapRequest",
    "What to outline, and in how many tokens.",
    object_schema(
        {
            "paths": {
                "type": "array",
                "items": NOT_BLANK,
                "description": "files and folders; by default everything",
            },
            "query": {
                **QUERY,
                "type": ["string", "null"],
                "description": "rank from the point of view of this query's results",
            },
            "budget": {
                "type": "integer",
                "minimum": 1,
                "maximum": LARGEST_BUDGET,
                "description": "tokens; default: 1024",
            },
        }
    ),
)
READ = named(
    "ReadRequest",
    "The passages to read.",
    object_schema(
        {"reference": described(NOT_BLANK, "a path as a search shows it, PATH:FIRST-LAST, or an id")},
        ["reference"],
    ),
)
FORGET = named(
    "ForgetRequest",
    "What to remove from the index.",
    object_schema(
        {"path": described(NOT_BLANK, "a document, a folder, or a root by its name or place")}, ["path"]
    ),
)
RECALL = named(
    "RecallRequest",
    "A search in memory.",
    with_parameters(MEMORY, {"query": QUERY}, ["query"]),
)


def folder_paths() -> Schema:
    return {**tagged("memory", _memory()), **tagged("code", _code()), **tagged("reading", _reading())}


def _memory() -> Schema:
    remember = operation(
        "remember",
        "Remember a text",
        "Needs a key made with --write. The same text of the same kind is counted again, not stored twice.",
        schema_of(Remembered),
        SEARCHED,
        body=REMEMBER,
    )
    recall = operation(
        "recall",
        "Find memories",
        "Needs a key made with --write. The result also says whether what a memory is about has changed.",
        schema_of(MemoryBody, AnswerStatus),
        SEARCHED,
        body=RECALL,
    )
    return {"/v1/remember": {"post": remember}, "/v1/recall": {"post": recall}}


def _code() -> Schema:
    related = operation(
        "find_related",
        "The neighbours of a symbol in the code graph",
        "Callers, dependencies or both, nearest first, each with the edges that lead to it.",
        schema_of(RelatedFields),
        SEARCHED,
        body=RELATED,
    )
    outline = operation(
        "make_map",
        "An outline of the most referenced definitions",
        "As text and as data, within a budget of tokens.",
        schema_of(MapBody),
        SEARCHED,
        body=MAP,
    )
    return {"/v1/related": {"post": related}, "/v1/map": {"post": outline}}


def _reading() -> Schema:
    read = operation(
        "read_passages",
        "The passages of a document, or of some lines of it",
        "Whole passages, in the order of the document.",
        schema_of(ReadBody),
        SEARCHED,
        body=READ,
    )
    forget = operation(
        "forget",
        "Remove a document, a folder or a root from the index",
        "Needs a key made with --write. The files stay.",
        schema_of(Forgotten),
        SEARCHED,
        body=FORGET,
    )
    context = operation(
        "make_folder_context",
        "Cited passages of the folders to answer from",
        "The best passages within a budget of tokens, fenced and numbered, as a prompt takes them.",
        schema_of(ContextBody, AnswerStatus),
        SEARCHED,
        body=context_request(),
    )
    return {
        "/v1/read": {"post": read},
        "/v1/forget": {"post": changing(forget)},
        "/v1/context": {"post": context},
    }
