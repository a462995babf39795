"""The OpenAPI document, made of the schemas of the requests and of the answers."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from quintet.contracts import CONTRACTS
from quintet.interfaces.http import receipt_schemas, requests, responses

Schema = dict[str, Any]

PROBLEMS: Mapping[int, str] = {
    400: "the request cannot be understood",
    401: "the API key is missing, wrong or revoked",
    403: "the key, the Host, the Origin or the path is not allowed",
    404: "nothing has that name",
    408: "the body did not arrive in time",
    409: "the index is in a state that forbids it",
    413: "the body or the answer is too large",
    415: "the body is not application/json",
    429: "too many requests; Retry-After says when to come back",
    501: "an optional part is not installed",
    503: "the store failed, or no answer within the time a request may take",
}
ALWAYS = (401, 403, 429, 503)
WITH_BODY = (400, 408, 413, 415, *ALWAYS)
SEARCHED = (404, 409, 501, *WITH_BODY)


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
        "paths": {**_searches(), **_receipts(), **_reindexing(), **_reading()},
        "components": {
            "schemas": {"Error": responses.ERROR, "Job": responses.JOB},
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "made by `quintet keys add`"}
            },
        },
    }


def _searches() -> Schema:
    house = {"anyOf": list(responses.BODIES.values())}
    paths = {
        "/v1/search": {
            "post": _operation(
                "search",
                "Search by the house ranking, or by the contract named",
                house,
                SEARCHED,
                body=requests.house_request(),
            )
        },
        "/v1/retrieval": {
            "post": _operation(
                "retrieval",
                "Spec 003's canonical request to its canonical result",
                responses.BODIES["knowledge"],
                SEARCHED,
                body=requests.retrieval_request(CONTRACTS["knowledge"]),
            )
        },
    }
    for name, contract in CONTRACTS.items():
        paths[f"/v1/contracts/{name}/search"] = {
            "post": _operation(
                f"search_{name}",
                f"Search by contract {name}",
                responses.BODIES[name],
                SEARCHED,
                body=requests.search_request(contract),
            )
        }
    return paths


def _receipts() -> Schema:
    verify = _operation(
        "verify",
        "Replay a receipt: identical, or what differs first and why",
        receipt_schemas.VERDICT,
        SEARCHED,
        body=receipt_schemas.VERIFY_REQUEST,
    )
    why = _operation(
        "why",
        "Why something was found or not, and what would bring it in",
        receipt_schemas.WHY,
        SEARCHED,
        body=receipt_schemas.WHY_REQUEST,
    )
    return {"/v1/verify": {"post": verify}, "/v1/why": {"post": why}}


def _reindexing() -> Schema:
    job = {"$ref": "#/components/schemas/Job"}
    start = _operation(
        "reindex",
        "Bring the index up to date, as a job; needs a key made with --write",
        job,
        WITH_BODY,
        status=202,
        body=requests.reindex_request(),
        required=False,
    )
    start["responses"]["202"]["headers"] = {"Location": {"required": True, "schema": {"type": "string"}}}
    cancel = _operation("cancel", "Cancel a job; what is committed stays", job, (404, *ALWAYS))
    cancel["responses"]["202"] = {
        **cancel["responses"]["200"],
        "description": "it ends after the batch at hand",
    }
    following = _operation(
        "events",
        "Follow a job by server-sent events: progress, then end",
        {"type": "string"},
        (404, *ALWAYS),
        media="text/event-stream",
    )
    one = {"parameters": [_in_path("id", "the job's id")]}
    return {
        "/v1/reindex": {"post": start},
        "/v1/jobs/{id}": {
            **one,
            "get": _operation("job", "A job's state", job, (404, *ALWAYS)),
            "delete": cancel,
        },
        "/v1/jobs/{id}/events": {**one, "get": following},
    }


def _reading() -> Schema:
    plain = {"type": "string"}
    return {
        "/v1/chunks/{id}": {
            "parameters": [_in_path("id", "32 hexadecimal digits, as a search shows them")],
            "get": _operation("chunk", "A chunk by its id", responses.CHUNK, (404, 413, *ALWAYS)),
        },
        "/v1/status": {
            "get": _operation("status", "What is indexed, and how far it lags", responses.STATUS, ALWAYS)
        },
        "/healthz": {"get": _operation("healthz", "The process answers", responses.HEALTH, (403,))},
        "/readyz": {"get": _operation("readyz", "The index can be read", responses.HEALTH, (403, 429, 503))},
        "/metrics": {
            "get": _operation("metrics", "Counters for Prometheus", plain, ALWAYS, media="text/plain")
        },
    }


def _operation(
    name: str,
    summary: str,
    answer: Schema,
    problems: tuple[int, ...],
    *,
    status: int = 200,
    media: str = "application/json",
    body: Schema | None = None,
    required: bool = True,
) -> Schema:
    found: Schema = {
        "operationId": name,
        "summary": summary,
        "responses": {
            str(status): {"description": "the answer", "content": {media: {"schema": answer}}},
            **{str(code): _problem(code) for code in sorted(problems)},
        },
    }
    if body is not None:
        found["requestBody"] = {"required": required, "content": {"application/json": {"schema": body}}}
    return found


def _problem(code: int) -> Schema:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": PROBLEMS[code], "content": {"application/json": {"schema": schema}}}


def _in_path(name: str, what: str) -> Schema:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": what,
        "schema": {"type": "string", "minLength": 1},
    }
