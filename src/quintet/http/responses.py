"""Responses: JSON as `quintet --json` prints it, and errors in one shape."""

from collections.abc import Mapping
from typing import TypedDict

from starlette.exceptions import HTTPException
from starlette.responses import Response

from quintet.errors import QuintetError, UsageError
from quintet.http.reads import limited_json, to_json
from quintet.model.schema import Object

# The codes whose status is not that of their class.
STATUS_OF = {"unauthorized": 401, "too_many": 429, "timed_out": 503}
RETRY_SECONDS = 1
CLOSE: Mapping[str, str] = {"Connection": "close"}
ROUTING_ERRORS = {
    404: ("not_found", "there is nothing at this path; /openapi.json lists all paths"),
    405: ("method_not_allowed", "this path does not take that method; the Allow header lists those it takes"),
}


class ErrorFields(TypedDict):
    """What was wrong: a code for programs, a sentence for people, and details that depend on the code."""

    code: str
    message: str
    details: Object


class ErrorBody(TypedDict):
    """The response to a request that failed."""

    error: ErrorFields


class RequestError(UsageError):
    """A fault of a request that never reaches the engine. It has its own status."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.status = status
        self.headers = dict(headers or {})


def json_response(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(to_json(value), status, headers, "application/json")


def limited_response(value: object, max_bytes: int) -> Response:
    """A response with the value, or an error if it is larger than `max_bytes`."""
    return Response(limited_json(value, max_bytes), media_type="application/json")


def error_body(code: str, message: str, details: Mapping[str, object] | None = None) -> ErrorBody:
    return {"error": {"code": code, "message": message, "details": dict(details or {})}}


def error_response(error: QuintetError) -> Response:
    status, headers = STATUS_OF.get(error.code, error.http_status), {}
    if isinstance(error, RequestError):
        status, headers = error.status, dict(error.headers)
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="quintet"'
    if status in (429, 503):
        headers["Retry-After"] = str(error.details.get("retry_seconds", RETRY_SECONDS))
    return json_response(error_body(error.code, error.message, error.details), status, headers)


def routing_error_response(error: HTTPException) -> Response:
    code, message = ROUTING_ERRORS.get(error.status_code, ("http_error", error.detail))
    return json_response(error_body(code, message), error.status_code, error.headers)


def fault_response() -> Response:
    """A fault of the server. The response names no cause, which may quote a document."""
    message = "unexpected fault of the server; please report it with the log that QUINTET_DEBUG=1 gives"
    return json_response(error_body("internal_error", message), 500)
