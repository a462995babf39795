"""One operation of the OpenAPI document: its name, parameters, body and responses."""

from collections.abc import Mapping

from quintet.http.responses import ErrorBody, error_body
from quintet.http.schema.examples import EXAMPLES
from quintet.model.schema import Schema, schema_of

# By status: the name of the response, when it is sent, and the code and the message of an example.
PROBLEMS: Mapping[int, tuple[str, str, str, str]] = {
    400: (
        "BadRequest",
        "the request is not valid",
        "bad_query",
        "the query is blank; give at least one word",
    ),
    401: (
        "Unauthorized",
        "the API key is missing, wrong or revoked",
        "unauthorized",
        "this server needs an API key; send it as `Authorization: Bearer KEY`",
    ),
    403: (
        "Forbidden",
        "the key, the Host, the Origin or the path is not allowed",
        "forbidden",
        "this key may only read",
    ),
    404: (
        "NotFound",
        "nothing has that name",
        "unknown_index",
        "there is no knowledge base 'handbok'; did you mean 'handbook'?",
    ),
    408: (
        "TooSlow",
        "the body did not arrive in time",
        "slow_client",
        "the body did not arrive in time; send it faster",
    ),
    409: (
        "Conflict",
        "the index is in a state that forbids it",
        "knowledge_base_not_ready",
        "knowledge base 'handbook' is archived; unarchive it first",
    ),
    413: (
        "TooLarge",
        "the body or the answer is too large",
        "too_large",
        "the body is larger than 1000000 bytes; send less",
    ),
    415: (
        "UnsupportedMediaType",
        "the content type is not supported",
        "unsupported_media_type",
        "the content type is 'text/plain'; send application/json",
    ),
    416: (
        "RangeNotSatisfiable",
        "the file has no such bytes",
        "invalid_range",
        "the file has 120 bytes; ask for a range within them",
    ),
    422: (
        "DocumentsRefused",
        "not one of the documents was taken",
        "documents_refused",
        "none of 1 documents was taken; the first: the document holds no text",
    ),
    429: (
        "TooManyRequests",
        "too many requests; Retry-After says when to come back",
        "too_many",
        "16 uploads are under way; try again in a moment",
    ),
    501: (
        "MissingExtra",
        "an optional dependency is not installed",
        "missing_extra",
        "Word documents need an extra; install quintet[documents]",
    ),
    503: (
        "Unavailable",
        "the store failed, or the request took too long",
        "timed_out",
        "the request took longer than 30 s; try again",
    ),
}
RETRY_AFTER: Schema = {
    "description": "seconds after which to try again",
    "required": True,
    "schema": {"type": "integer", "minimum": 0},
}
ALWAYS = (401, 403, 429, 503)
WITH_BODY = (400, 408, 413, 415, *ALWAYS)
SEARCHED = (404, 409, 501, *WITH_BODY)


def operation(
    name: str,
    summary: str,
    description: str,
    answer: Schema,
    problems: tuple[int, ...],
    *,
    status: int = 200,
    media: str = "application/json",
    body: Schema | None = None,
    required: bool = True,
    parameters: tuple[Schema, ...] = (),
) -> Schema:
    schema: Schema = {
        "operationId": name,
        "summary": summary,
        "description": description,
        "responses": {
            str(status): {"description": "the result", "content": {media: {"schema": answer}}},
            **{str(code): _problem(code) for code in sorted(problems)},
        },
    }
    if body is not None:
        content = {"schema": body, "example": EXAMPLES[name]}
        schema["requestBody"] = {"required": required, "content": {"application/json": content}}
    if parameters:
        schema["parameters"] = list(parameters)
    return schema


def tagged(tag: str, paths: Schema) -> Schema:
    """The paths with every operation under this tag."""
    for item in paths.values():
        for name, schema in item.items():
            if name != "parameters":
                schema["tags"] = [tag]
    return paths


def _problem(code: int) -> Schema:
    return {"$ref": f"#/components/responses/{PROBLEMS[code][0]}"}


def problem_responses() -> Schema:
    """The responses to requests that fail, by name."""
    responses = {}
    for status, (name, when, code, message) in PROBLEMS.items():
        content = {"schema": schema_of(ErrorBody), "example": error_body(code, message)}
        responses[name] = {"description": when, "content": {"application/json": content}}
        if status in (429, 503):
            responses[name]["headers"] = {"Retry-After": RETRY_AFTER}
    return responses


def in_path(name: str, what: str, example: str, pattern: str | None = None) -> Schema:
    matching = {} if pattern is None else {"pattern": pattern}
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": what,
        "schema": {"type": "string", "minLength": 1, **matching},
        "example": example,
    }


def in_query(name: str, schema: Schema, what: str) -> Schema:
    return {"name": name, "in": "query", "required": False, "description": what, "schema": schema}


def link(operation_id: str, **parameters: str) -> Schema:
    """How to call another operation with what this one returned."""
    return {"operationId": operation_id, "parameters": parameters}
