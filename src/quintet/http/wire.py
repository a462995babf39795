"""What goes over the wire: JSON as `quintet --json` prints it, and errors in their one shape."""

import json
from collections.abc import Mapping
from typing import TypedDict

from starlette.exceptions import HTTPException
from starlette.responses import Response

from quintet.errors import LimitError, QuintetError, UsageError
from quintet.model.schema import Object

STATUS_OF = {"unauthorized": 401, "too_many": 429}  # codes that differ from their class
RETRY_SECONDS = 1
CLOSE: Mapping[str, str] = {"Connection": "close"}
ADVICE = {
    404: ("not_found", "there is nothing at this path; /openapi.json lists what there is"),
    405: ("method_not_allowed", "this path does not take that method; the Allow header lists those it takes"),
}


class RequestError(UsageError):
    """What is wrong with a request before any of it reaches the engine. It carries its own status."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.status = status
        self.headers = dict(headers or {})


def encoded(value: object) -> bytes:
    """Byte for byte what `--json` prints."""
    return (json.dumps(value, ensure_ascii=False, default=str) + "\n").encode("utf-8", "replace")


def answered(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encoded(value), status, headers, "application/json")


def bounded(value: object, most: int) -> Response:
    """An answer, unless it is larger than a client should ever get at once."""
    body = encoded(value)
    if len(body) > most:
        raise LimitError(
            f"the answer has {len(body)} bytes; at most {most} are sent: ask for fewer results",
            details={"bytes": len(body), "limit": most},
        )
    return Response(body, 200, media_type="application/json")


def status_of(error: QuintetError) -> int:
    if isinstance(error, RequestError):
        return error.status
    return STATUS_OF.get(error.code, error.http_status)


class ErrorFields(TypedDict):
    code: str
    message: str
    details: Object


class ErrorBody(TypedDict):
    error: ErrorFields


def shape(code: str, message: str, details: Mapping[str, object] | None = None) -> ErrorBody:
    return {"error": {"code": code, "message": message, "details": dict(details or {})}}


def refused(error: QuintetError) -> Response:
    status = status_of(error)
    headers = dict(error.headers) if isinstance(error, RequestError) else {}
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="quintet"'
    if status in (429, 503):
        headers["Retry-After"] = str(RETRY_SECONDS)
    return answered(shape(error.code, error.message, error.details), status, headers)


def unrouted(error: HTTPException) -> Response:
    """What the router could not place."""
    code, message = ADVICE.get(error.status_code, ("http_error", error.detail))
    return answered(shape(code, message), error.status_code, error.headers)


def fault() -> Response:
    """A fault of ours. What went wrong may quote a document, so it stays here."""
    message = "unexpected fault of the server; please report this, with what QUINTET_DEBUG=1 shows in its log"
    return answered(shape("internal_error", message), 500)
