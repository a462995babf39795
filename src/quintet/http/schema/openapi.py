"""The OpenAPI document, made of the schemas of requests and results."""

from functools import cache

from quintet.contracts import CONTRACTS, Contract
from quintet.http.jobs import JobFields
from quintet.http.routes.index import Health
from quintet.http.schema import requests
from quintet.http.schema.components import Components
from quintet.http.schema.folder_openapi import folder_paths
from quintet.http.schema.knowledge_openapi import LOCATED, knowledge_paths
from quintet.http.schema.operations import (
    ALWAYS,
    SEARCHED,
    WITH_BODY,
    in_path,
    link,
    operation,
    problem_responses,
    tagged,
)
from quintet.knowledge.results import RetrievalBody
from quintet.model.results import AnswerStatus
from quintet.model.schema import Schema, named, object_schema, schema_of
from quintet.query.explain import ExplanationFields
from quintet.receipts.receipt import Receipt, WithReceipt
from quintet.receipts.replay import VerdictFields
from quintet.serving.results import IndexFolder, PassageFields, SearchAllBody
from quintet.status import IndexStatus

TAGS = {
    "search": "Search the index by the house ranking or by another contract.",
    "receipts": "Prove what a search returned, and explain it.",
    "memory": "Remember texts and find them again.",
    "code": "The code graph: neighbours of a symbol, and an outline.",
    "reading": "Read passages, build contexts, and remove documents from the index.",
    "jobs": "Bring the index up to date, and follow long work.",
    "knowledge bases": "Create knowledge bases, describe, archive and delete them, and build contexts.",
    "documents": "The documents of a knowledge base.",
    "sources": "Folders whose files are documents of a knowledge base.",
    "server": "The state of the index and of the server.",
}


def body_schema(contract: str) -> Schema:
    """The answer to a search: the contract's own body with `status`, `notes` and the receipt beside it."""
    return schema_of(CONTRACTS[contract].body, AnswerStatus, WithReceipt)


@cache
def document(version: str) -> Schema:
    components = Components()
    paths = components.collect(
        {
            **tagged("search", _searches()),
            **tagged("receipts", _receipts()),
            **folder_paths(),
            **tagged("jobs", _jobs()),
            **knowledge_paths(),
            **tagged("server", _server()),
        }
    )
    responses = components.collect(problem_responses())
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Quintet",
            "version": version,
            "summary": "Search an index by words and by meaning, under six ranking contracts.",
            "description": "Every error has the same shape, `ErrorResponse`. Its `code` is for programs.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "security": [{}, {"key": []}],
        "paths": paths,
        "components": {
            "schemas": components.schemas,
            "responses": responses,
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "made by `quintet keys add`"}
            },
        },
    }


def _searches() -> Schema:
    any_body = {"anyOf": [body_schema(name) for name in CONTRACTS]}
    any_contract = operation(
        "search",
        "Search by the house ranking, or by the contract named",
        "The body of the response is that of the contract.",
        named("SearchResponse", "The response to a search by any contract.", any_body),
        SEARCHED,
        body=requests.house_request(),
    )
    everything = operation(
        "search_all",
        "Code and memory ranked together",
        "Needs a key made with --write. `hybrid_rank` is the order of both together.",
        schema_of(SearchAllBody, AnswerStatus),
        SEARCHED,
        body=requests.search_all_request(),
    )
    retrieval = operation(
        "retrieve",
        "The canonical request of contract knowledge",
        "Searches a knowledge base, or the indexed folders, by meaning, by words or by both.",
        schema_of(RetrievalBody, AnswerStatus, WithReceipt),
        SEARCHED,
        body=requests.retrieval_request(CONTRACTS["knowledge"]),
    )
    by_contract = {
        f"/v1/contracts/{name}/search": {"post": _search_by(name, contract)}
        for name, contract in CONTRACTS.items()
    }
    return {
        "/v1/search": {"post": any_contract},
        "/v1/search/all": {"post": everything},
        "/v1/retrieval": {"post": retrieval},
        **by_contract,
    }


def _search_by(name: str, contract: Contract) -> Schema:
    return operation(
        f"search_{name}",
        f"Search by contract {name}",
        f"The parameters, the ranking and the response are those of contract {name}.",
        body_schema(name),
        SEARCHED,
        body=requests.search_request(contract),
    )


def _receipts() -> Schema:
    verify = operation(
        "verify_receipt",
        "Replay a receipt",
        "Says whether the results are identical; if not, the first differences and their causes.",
        schema_of(VerdictFields),
        SEARCHED,
        body=schema_of(Receipt),
    )
    why = operation(
        "explain_result",
        "Why a chunk is among the results or not",
        "Its place in each signal, and which change of a parameter would bring it in.",
        schema_of(ExplanationFields),
        SEARCHED,
        body=requests.WHY,
    )
    return {"/v1/verify": {"post": verify}, "/v1/why": {"post": why}}


def _jobs() -> Schema:
    job = schema_of(JobFields)
    start = operation(
        "reindex",
        "Bring the index up to date, as a job",
        "Needs a key made with --write. Without a body, the roots in the server's folder are read.",
        job,
        WITH_BODY,
        status=202,
        body=requests.reindex_request(),
        required=False,
    )
    start["responses"]["202"]["headers"] = LOCATED
    start["responses"]["202"]["links"] = {
        name: link(name, id="$response.body#/id") for name in ("get_job", "follow_job", "cancel_job")
    }
    one = operation(
        "get_job",
        "A job",
        "Its state, how far it has come, and its result or its error.",
        job,
        (404, *ALWAYS),
    )
    cancel = operation(
        "cancel_job",
        "Cancel a job",
        "Needs a key made with --write. What is committed stays.",
        job,
        (404, *ALWAYS),
    )
    later = {**cancel["responses"]["200"], "description": "the job ends after the current batch"}
    cancel["responses"]["202"] = later
    follow = operation(
        "follow_job",
        "Follow a job by server-sent events",
        "An event `progress` after each change, then `end`. Comments keep the connection open meanwhile.",
        _events(job),
        (404, *ALWAYS),
        media="text/event-stream",
    )
    job_id = {"parameters": [in_path("id", "the job's id", "4f1c2a9be0d37a65")]}
    return {
        "/v1/reindex": {"post": start},
        "/v1/jobs/{id}": {**job_id, "get": one, "delete": cancel},
        "/v1/jobs/{id}/events": {**job_id, "get": follow},
    }


def _events(job: Schema) -> Schema:
    """OpenAPI 3.1 has no word for a stream of events. Clients that know none get the text of all, others one
    event at a time."""
    data = {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": job,
        "description": "the job, as JSON",
    }
    name = {"type": "string", "enum": ["progress", "end"], "description": "whether the job has ended"}
    fields = object_schema({"event": name, "data": data}, ["event", "data"])
    event = named("JobEvent", "An event of the stream.", fields)
    return {"anyOf": [{"type": "string", "description": "the whole stream"}, event]}


def _server() -> Schema:
    chunk = operation(
        "get_chunk",
        "A chunk by its id",
        "The whole passage, with its place.",
        schema_of(PassageFields),
        (404, 413, *ALWAYS),
    )
    status = operation(
        "get_status",
        "What is indexed, and which files changed since",
        "Counts of files, chunks and vectors, the indexed folders, and the state of the query cache.",
        schema_of(IndexStatus, IndexFolder),
        ALWAYS,
    )
    health = operation("check_health", "The process answers", "Needs no key.", schema_of(Health), (403,))
    ready = operation(
        "check_readiness", "The index can be read", "Needs no key.", schema_of(Health), (403, 429, 503)
    )
    metrics = operation(
        "get_metrics",
        "Counters for Prometheus",
        "In the text format of Prometheus.",
        {"type": "string"},
        ALWAYS,
        media="text/plain",
    )
    chunk_id = in_path("id", "32 hexadecimal digits, as a search shows them", "0123456789abcdef" * 2)
    return {
        "/v1/chunks/{id}": {"parameters": [chunk_id], "get": chunk},
        "/v1/status": {"get": status},
        "/healthz": {"get": health},
        "/readyz": {"get": ready},
        "/metrics": {"get": metrics},
    }
