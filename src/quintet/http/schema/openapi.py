"""The OpenAPI document, made of the schemas of requests and results."""

from functools import cache

from quintet.contracts import CONTRACTS
from quintet.http.jobs import JobFields
from quintet.http.responses import ErrorBody
from quintet.http.routes.index import Health
from quintet.http.schema import requests
from quintet.http.schema.folder_openapi import folder_paths
from quintet.http.schema.knowledge_openapi import knowledge_paths
from quintet.http.schema.operations import ALWAYS, SEARCHED, WITH_BODY, in_path, operation
from quintet.knowledge.results import RetrievalBody
from quintet.model.results import AnswerStatus
from quintet.model.schema import Schema, schema_of
from quintet.query.explain import ExplanationFields
from quintet.receipts.receipt import WithReceipt
from quintet.receipts.replay import VerdictFields
from quintet.serving.results import IndexFolder, PassageFields, SearchAllBody
from quintet.status import IndexStatus


def body_schema(contract: str) -> Schema:
    """The answer to a search: the contract's own body with `status`, `notes` and the receipt beside it."""
    return schema_of(CONTRACTS[contract].body, AnswerStatus, WithReceipt)


@cache
def document(version: str) -> Schema:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Quintet",
            "version": version,
            "summary": "Search an index by words and by meaning, under six ranking contracts.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "security": [{}, {"key": []}],
        "paths": {
            **_searches(),
            **folder_paths(),
            **_receipts(),
            **_reindexing(),
            **_reading(),
            **knowledge_paths(),
        },
        "components": {
            "schemas": {"Error": schema_of(ErrorBody), "Job": schema_of(JobFields)},
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "made by `quintet keys add`"}
            },
        },
    }


def _searches() -> Schema:
    house = {"anyOf": [body_schema(name) for name in CONTRACTS]}
    paths = {
        "/v1/search": {
            "post": operation(
                "search",
                "Search by the house ranking, or by the contract named",
                house,
                SEARCHED,
                body=requests.house_request(),
            )
        },
        "/v1/search/all": {
            "post": operation(
                "search_all",
                "Code and memory ranked together; needs a key made with --write",
                schema_of(SearchAllBody, AnswerStatus),
                SEARCHED,
                body=requests.search_all_request(),
            )
        },
        "/v1/retrieval": {
            "post": operation(
                "retrieval",
                "The canonical request of spec 003",
                schema_of(RetrievalBody, AnswerStatus, WithReceipt),
                SEARCHED,
                body=requests.retrieval_request(CONTRACTS["knowledge"]),
            )
        },
    }
    for name, contract in CONTRACTS.items():
        paths[f"/v1/contracts/{name}/search"] = {
            "post": operation(
                f"search_{name}",
                f"Search by contract {name}",
                body_schema(name),
                SEARCHED,
                body=requests.search_request(contract),
            )
        }
    return paths


def _receipts() -> Schema:
    verify = operation(
        "verify",
        "Replay a receipt: identical, or the first difference and its cause",
        schema_of(VerdictFields),
        SEARCHED,
        body=requests.VERIFY,
    )
    why = operation(
        "why",
        "Why a chunk is among the results or not, and which change would bring it in",
        schema_of(ExplanationFields),
        SEARCHED,
        body=requests.WHY,
    )
    return {"/v1/verify": {"post": verify}, "/v1/why": {"post": why}}


def _reindexing() -> Schema:
    job = {"$ref": "#/components/schemas/Job"}
    start = operation(
        "reindex",
        "Bring the index up to date, as a job; needs a key made with --write",
        job,
        WITH_BODY,
        status=202,
        body=requests.reindex_request(),
        required=False,
    )
    start["responses"]["202"]["headers"] = {"Location": {"required": True, "schema": {"type": "string"}}}
    cancel = operation("cancel", "Cancel a job; what is committed stays", job, (404, *ALWAYS))
    cancel["responses"]["202"] = {
        **cancel["responses"]["200"],
        "description": "the job ends after the current batch",
    }
    following = operation(
        "events",
        "Follow a job by server-sent events: progress, then end",
        {"type": "string"},
        (404, *ALWAYS),
        media="text/event-stream",
    )
    job_id = {"parameters": [in_path("id", "the job's id")]}
    return {
        "/v1/reindex": {"post": start},
        "/v1/jobs/{id}": {
            **job_id,
            "get": operation("job", "A job's state", job, (404, *ALWAYS)),
            "delete": cancel,
        },
        "/v1/jobs/{id}/events": {**job_id, "get": following},
    }


def _reading() -> Schema:
    plain = {"type": "string"}
    return {
        "/v1/chunks/{id}": {
            "parameters": [in_path("id", "32 hexadecimal digits, as a search shows them")],
            "get": operation("chunk", "A chunk by its id", schema_of(PassageFields), (404, 413, *ALWAYS)),
        },
        "/v1/status": {
            "get": operation(
                "status",
                "What is indexed, and which files changed since",
                schema_of(IndexStatus, IndexFolder),
                ALWAYS,
            )
        },
        "/healthz": {"get": operation("healthz", "The process answers", schema_of(Health), (403,))},
        "/readyz": {"get": operation("readyz", "The index can be read", schema_of(Health), (403, 429, 503))},
        "/metrics": {
            "get": operation("metrics", "Counters for Prometheus", plain, ALWAYS, media="text/plain")
        },
    }
