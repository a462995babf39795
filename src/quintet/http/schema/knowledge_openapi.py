"""The part of the OpenAPI document that is about knowledge bases."""

from quintet.http.changes import LONGEST_WAIT
from quintet.http.citations import SOURCE_FILE
from quintet.http.config import Limits
from quintet.http.jobs import Deleted, DeletedSource, JobFields, Outcomes
from quintet.http.routes.documents import MAX_LISTED, DocumentPage
from quintet.http.routes.knowledge import BASE, BASES, MOST_RUNS, Bases, Runs, Sources
from quintet.http.schema import knowledge_requests as requests
from quintet.http.schema.operations import (
    ALWAYS,
    SEARCHED,
    WITH_BODY,
    in_path,
    in_query,
    link,
    operation,
    tagged,
)
from quintet.knowledge.documents import ID
from quintet.knowledge.results import BaseFields, ContextBody, DocumentFields, SourceFields
from quintet.model.results import AnswerStatus
from quintet.model.schema import Schema, schema_of

IN_BASE = (404, 409, *ALWAYS)
CHANGED = (404, 409, *WITH_BODY)
LOCATED: Schema = {
    "Location": {
        "description": "the path of what was created",
        "required": True,
        "schema": {"type": "string"},
    }
}
KB = in_path("kb", "the base's slug, or the name of its index", "handbook")
DOC = in_path("doc", "the document's id", "canteen", f"^{ID.pattern}$")
SOURCE = in_path("source", "the source's id", "docs")
WAIT = in_query(
    "wait",
    {"type": "integer", "minimum": 0, "maximum": LONGEST_WAIT},
    "seconds to wait for the result before the answer is 202 with the job; default: 2",
)


def changing(schema: Schema) -> Schema:
    """An operation that answers 202 with a job if it takes longer than the client waits."""
    job = {"application/json": {"schema": schema_of(JobFields)}}
    later = {"description": "the change goes on as this job", "content": job, "headers": LOCATED}
    return {
        **schema,
        "parameters": [*schema.get("parameters", ()), WAIT],
        "responses": {**schema["responses"], "202": later},
    }


def knowledge_paths() -> Schema:
    return {
        **tagged("knowledge bases", _bases()),
        **tagged("documents", _documents()),
        **tagged("sources", _sources()),
        **tagged("knowledge bases", _context()),
    }


def _bases() -> Schema:
    create = operation(
        "create_base",
        "Create a knowledge base",
        "Needs a key made with --write and without --kb.",
        schema_of(BaseFields),
        CHANGED,
        status=201,
        body=requests.CREATE,
    )
    create["responses"]["201"]["headers"] = LOCATED
    create["responses"]["201"]["links"] = {
        name: link(name, kb="$response.body#/id")
        for name in ("get_base", "put_documents", "add_source", "make_context", "delete_base")
    }
    listing = operation(
        "list_bases",
        "The knowledge bases that the key may use",
        "In the order of their slugs. A damaged base is listed with its error.",
        schema_of(Bases),
        (413, *ALWAYS),
    )
    one = operation(
        "get_base",
        "A knowledge base",
        "Its counts, its state, its properties and its sources.",
        schema_of(BaseFields),
        IN_BASE,
    )
    delete = operation(
        "delete_base",
        "Delete a knowledge base with its documents",
        "Needs a key made with --write. Folders that are its sources stay.",
        schema_of(Deleted),
        (400, *IN_BASE),
    )
    return {
        BASES: {"get": listing, "post": create},
        BASE: {"parameters": [KB], "get": one, "delete": changing(delete)},
        f"{BASE}/archive": {
            "parameters": [KB],
            "post": _archiving("archive", "It stays, but cannot be searched."),
        },
        f"{BASE}/unarchive": {
            "parameters": [KB],
            "post": _archiving("unarchive", "It can be searched again."),
        },
    }


def _archiving(verb: str, effect: str) -> Schema:
    summary, description = f"{verb.capitalize()} a knowledge base", f"Needs a key made with --write. {effect}"
    return operation(f"{verb}_base", summary, description, schema_of(BaseFields), IN_BASE)


def _documents() -> Schema:
    put = operation(
        "put_documents",
        "Add or replace documents, as JSON or as files",
        "Needs a key made with --write. Each document is stored whole or not at all; the result names each.",
        schema_of(Outcomes),
        (422, *CHANGED, 501),
        body=requests.put_request(Limits().documents),
    )
    put["requestBody"]["content"]["multipart/form-data"] = {"schema": requests.FORM}
    put["responses"]["200"]["links"] = {
        name: link(name, kb="$request.path.kb", doc="$response.body#/documents/0/id")
        for name in ("get_document", "change_document", "get_source_file", "delete_document")
    }
    page = operation(
        "list_documents",
        "Documents by id, a page at a time",
        "Ask for the next page with `after` until `next` is null.",
        schema_of(DocumentPage),
        (400, 413, *IN_BASE),
        parameters=(
            in_query("after", {"type": "string"}, "the `next` of the page before"),
            in_query("limit", {"type": "integer", "minimum": 1, "maximum": MAX_LISTED}, "default: 100"),
        ),
    )
    one = operation(
        "get_document",
        "A document by its id",
        "What is known about it. `read_passages` and searches return its text.",
        schema_of(DocumentFields),
        (413, *IN_BASE),
    )
    change = operation(
        "change_document",
        "Replace a document, or change its title, uri or metadata",
        "Needs a key made with --write. With a text, the document is replaced.",
        schema_of(Outcomes),
        (422, *CHANGED, 501),
        body=requests.CHANGE,
    )
    delete = operation(
        "delete_document",
        "Remove a document",
        "Needs a key made with --write. Documents of a source are removed with their files instead.",
        schema_of(Deleted),
        (400, *IN_BASE),
    )
    return {
        f"{BASE}/documents": {"parameters": [KB], "get": page, "post": changing(put)},
        f"{BASE}/documents/{{doc}}": {
            "parameters": [KB, DOC],
            "get": one,
            "put": changing(change),
            "delete": changing(delete),
        },
        SOURCE_FILE: {"parameters": [KB, DOC], "get": _source_file()},
    }


def _source_file() -> Schema:
    file = operation(
        "get_source_file",
        "The source file of a document",
        "The bytes as they were uploaded or as they are in the folder. If-None-Match and a single byte range "
        "are supported.",
        {"type": "string", "format": "binary"},
        (413, 416, *IN_BASE),
        media="application/octet-stream",
    )
    file["responses"]["200"]["content"]["*/*"] = {}  # the media type is that of the file
    file["responses"]["206"] = {**file["responses"]["200"], "description": "the requested bytes"}
    file["responses"]["304"] = {"description": "the client has this version already"}
    return file


def _sources() -> Schema:
    add = operation(
        "add_source",
        "Add a folder of the server's machine as a source",
        "Needs a key made with --write and without --kb. `sync_source` reads the folder.",
        schema_of(SourceFields),
        CHANGED,
        status=201,
        body=requests.ADD_SOURCE,
    )
    add["responses"]["201"]["links"] = {
        name: link(name, kb="$request.path.kb", source="$response.body#/id")
        for name in ("sync_source", "remove_source")
    }
    sync = operation(
        "sync_source",
        "Sync the documents of a source with its folder",
        "Needs a key made with --write. The answer is a job, which can be followed and cancelled.",
        schema_of(JobFields),
        IN_BASE,
        status=202,
    )
    sync["responses"]["202"]["headers"] = LOCATED
    listing = operation(
        "list_sources",
        "The folders that documents come from",
        "Sources of the knowledge base, with the number of their documents.",
        schema_of(Sources),
        IN_BASE,
    )
    remove = operation(
        "remove_source",
        "Remove a source and its documents",
        "Needs a key made with --write. The folder stays.",
        schema_of(DeletedSource),
        (400, *IN_BASE),
    )
    runs = operation(
        "list_runs",
        "Runs over sources, latest first",
        "What each run scanned and changed, how it ended, and which files it could not read.",
        schema_of(Runs),
        (400, *IN_BASE),
        parameters=(
            in_query("source", {"type": "string"}, "of this source only"),
            in_query("limit", {"type": "integer", "minimum": 1, "maximum": MOST_RUNS}, "default: 20"),
        ),
    )
    return {
        f"{BASE}/sources": {"parameters": [KB], "get": listing, "post": add},
        f"{BASE}/sources/{{source}}": {"parameters": [KB, SOURCE], "delete": changing(remove)},
        f"{BASE}/sources/{{source}}/sync": {"parameters": [KB, SOURCE], "post": sync},
        f"{BASE}/runs": {"parameters": [KB], "get": runs},
    }


def _context() -> Schema:
    context = operation(
        "make_context",
        "Cited passages of a knowledge base to answer from",
        "The best passages within a budget of tokens, fenced and numbered, as a prompt takes them.",
        schema_of(ContextBody, AnswerStatus),
        SEARCHED,
        body=requests.context_request(),
    )
    return {f"{BASE}/context": {"parameters": [KB], "post": context}}
