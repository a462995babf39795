"""One operation of the OpenAPI document: its name, parameters, body and responses."""

from collections.abc import Mapping

from quintet.model.schema import Schema

PROBLEMS: Mapping[int, str] = {
    400: "the request is not valid",
    401: "the API key is missing, wrong or revoked",
    403: "the key, the Host, the Origin or the path is not allowed",
    404: "nothing has that name",
    408: "the body did not arrive in time",
    409: "the index is in a state that forbids it",
    413: "the body or the answer is too large",
    415: "the content type is not supported",
    422: "not one of the documents was taken",
    429: "too many requests; Retry-After says when to come back",
    501: "an optional dependency is not installed",
    503: "the store failed, or the request took too long",
}
ALWAYS = (401, 403, 429, 503)
WITH_BODY = (400, 408, 413, 415, *ALWAYS)
SEARCHED = (404, 409, 501, *WITH_BODY)


def operation(
    name: str,
    summary: str,
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
        "responses": {
            str(status): {"description": "the answer", "content": {media: {"schema": answer}}},
            **{str(code): _problem(code) for code in sorted(problems)},
        },
    }
    if body is not None:
        schema["requestBody"] = {"required": required, "content": {"application/json": {"schema": body}}}
    if parameters:
        schema["parameters"] = list(parameters)
    return schema


def _problem(code: int) -> Schema:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": PROBLEMS[code], "content": {"application/json": {"schema": schema}}}


def in_path(name: str, what: str) -> Schema:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": what,
        "schema": {"type": "string", "minLength": 1},
    }


def in_query(name: str, schema: Schema, what: str) -> Schema:
    return {"name": name, "in": "query", "required": False, "description": what, "schema": schema}
