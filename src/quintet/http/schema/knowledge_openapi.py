"""The part of the OpenAPI document that is about knowledge bases."""

from quintet.http.changes import LONGEST_WAIT
from quintet.http.citations import SOURCE_FILE
from quintet.http.config import Limits
from quintet.http.jobs import Deleted, DeletedSource, Outcomes
from quintet.http.routes.documents import MAX_LISTED, DocumentPage
from quintet.http.routes.knowledge import BASE, BASES, MOST_RUNS, Bases, Runs, Sources
from quintet.http.schema import knowledge_requests as requests
from quintet.http.schema.operations import ALWAYS, SEARCHED, WITH_BODY, in_path, in_query, operation
from quintet.knowledge.results import BaseFields, ContextBody, DocumentFields, SourceFields
from quintet.model.results import AnswerStatus
from quintet.model.schema import Schema, schema_of

IN_BASE = (404, 409, *ALWAYS)
CHANGED = (404, 409, *WITH_BODY)
LOCATED = {"Location": {"required": True, "schema": {"type": "string"}}}
KB = in_path("kb", "the base's slug, or the name of its index")
DOC = in_path("doc", "the document's id")
SOURCE = in_path("source", "the source's id")


WAIT = in_query(
    "wait",
    {"type": "integer", "minimum": 0, "maximum": LONGEST_WAIT},
    "seconds to wait for the result before the answer is 202 with the job; default: 2",
)


def changing(schema: Schema) -> Schema:
    """An operation that answers 202 with a job if it takes longer than the client waits."""
    job = {"application/json": {"schema": {"$ref": "#/components/schemas/Job"}}}
    later = {"description": "the change goes on as this job", "content": job, "headers": LOCATED}
    return {
        **schema,
        "parameters": [*schema.get("parameters", ()), WAIT],
        "responses": {**schema["responses"], "202": later},
    }


def knowledge_paths() -> Schema:
    return {**_bases(), **_documents(), **_sources(), **_reading()}


def _bases() -> Schema:
    create = operation(
        "create_base",
        "Create a knowledge base; needs a key without --kb",
        schema_of(BaseFields),
        CHANGED,
        status=201,
        body=requests.CREATE,
    )
    create["responses"]["201"]["headers"] = LOCATED
    return {
        BASES: {
            "get": operation(
                "bases", "The knowledge bases that the key may use", schema_of(Bases), (413, *ALWAYS)
            ),
            "post": create,
        },
        BASE: {
            "parameters": [KB],
            "get": operation(
                "base", "A knowledge base: counts, state, schema, sources", schema_of(BaseFields), IN_BASE
            ),
            "delete": changing(
                operation(
                    "delete_base",
                    "Delete the knowledge base and its documents",
                    schema_of(Deleted),
                    (400, *IN_BASE),
                )
            ),
        },
        f"{BASE}/archive": {
            "parameters": [KB],
            "post": operation(
                "archive",
                "Archive the knowledge base: it stays, but cannot be searched",
                schema_of(BaseFields),
                IN_BASE,
            ),
        },
        f"{BASE}/unarchive": {
            "parameters": [KB],
            "post": operation(
                "unarchive",
                "Make an archived knowledge base searchable again",
                schema_of(BaseFields),
                IN_BASE,
            ),
        },
    }


def _documents() -> Schema:
    put = operation(
        "put_documents",
        "Add or replace documents, as JSON or as files; each is stored whole or not at all",
        schema_of(Outcomes),
        (422, *CHANGED, 501),
        body=requests.put_request(Limits().documents),
    )
    put["requestBody"]["content"]["multipart/form-data"] = {"schema": requests.FORM}
    page = operation(
        "documents",
        "Its documents by id, a page at a time",
        schema_of(DocumentPage),
        (400, 413, *IN_BASE),
        parameters=(
            in_query("after", {"type": "string"}, "the `next` of the page before"),
            in_query("limit", {"type": "integer", "minimum": 1, "maximum": MAX_LISTED}, "default: 100"),
        ),
    )
    change = operation(
        "change_document",
        "Replace the document (with a text), or change its title, uri or metadata",
        schema_of(Outcomes),
        (422, *CHANGED, 501),
        body=requests.CHANGE,
    )
    return {
        f"{BASE}/documents": {"parameters": [KB], "get": page, "post": changing(put)},
        f"{BASE}/documents/{{doc}}": {
            "parameters": [KB, DOC],
            "get": operation("document", "A document by its id", schema_of(DocumentFields), (413, *IN_BASE)),
            "put": changing(change),
            "delete": changing(
                operation("delete_document", "Remove a document", schema_of(Deleted), (400, *IN_BASE))
            ),
        },
    }


def _sources() -> Schema:
    add = operation(
        "add_source",
        "Add a folder of the server's machine as a source; needs a key without --kb",
        schema_of(SourceFields),
        CHANGED,
        status=201,
        body=requests.ADD_SOURCE,
    )
    sync = operation(
        "sync_source",
        "Sync the documents of a source with its folder, as a job",
        {"$ref": "#/components/schemas/Job"},
        IN_BASE,
        status=202,
    )
    sync["responses"]["202"]["headers"] = LOCATED
    runs = operation(
        "runs",
        "Runs of its sources, latest first",
        schema_of(Runs),
        (400, *IN_BASE),
        parameters=(
            in_query("source", {"type": "string"}, "of this source only"),
            in_query("limit", {"type": "integer", "minimum": 1, "maximum": MOST_RUNS}, "default: 20"),
        ),
    )
    return {
        f"{BASE}/sources": {
            "parameters": [KB],
            "get": operation("sources", "The folders its documents come from", schema_of(Sources), IN_BASE),
            "post": add,
        },
        f"{BASE}/sources/{{source}}": {
            "parameters": [KB, SOURCE],
            "delete": changing(
                operation(
                    "remove_source",
                    "Remove a source and its documents",
                    schema_of(DeletedSource),
                    (400, *IN_BASE),
                )
            ),
        },
        f"{BASE}/sources/{{source}}/sync": {"parameters": [KB, SOURCE], "post": sync},
        f"{BASE}/runs": {"parameters": [KB], "get": runs},
    }


def _reading() -> Schema:
    context = operation(
        "context",
        "Cited passages to answer from, within a budget of tokens",
        schema_of(ContextBody, AnswerStatus),
        SEARCHED,
        body=requests.context_request(),
    )
    file = operation(
        "source_file",
        "The source file of a document; supports If-None-Match and a single byte range",
        {},
        (413, *IN_BASE),
        media="*/*",
    )
    file["responses"]["206"] = {**file["responses"]["200"], "description": "the requested bytes"}
    file["responses"]["304"] = {"description": "the client has this version already"}
    file["responses"]["416"] = {**file["responses"]["404"], "description": "the file has no such bytes"}
    return {
        f"{BASE}/context": {"parameters": [KB], "post": context},
        SOURCE_FILE: {"parameters": [KB, DOC], "get": file},
    }
