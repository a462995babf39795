"""Around every request: checks of its headers, metrics, and one shape for every error."""

import asyncio
import logging
import time
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quintet.errors import QuintetError
from quintet.http.authentication import PREFLIGHT, Guard
from quintet.http.metrics import Metrics
from quintet.http.responses import CLOSE, RequestError, error_response, fault_response, routing_error_response
from quintet.settings import is_debugging

HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
UNMATCHED = "unmatched"  # one label for every unknown path: clients must not fill the memory

log = logging.getLogger("quintet.http")


class RequestMiddleware:
    """The outermost application. While it is `stopping`, a cancelled request gets 503 `stopping`."""

    def __init__(self, inner: ASGIApp, guard: Guard, metrics: Metrics) -> None:
        self._inner = inner
        self._guard = guard
        self._metrics = metrics
        self.stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        scope["app"] = self  # without it the router answers an unknown path itself
        headers = Headers(scope=scope)
        sender = _ResponseSender(send, {**HEADERS, **self._guard.cors_headers(headers)})
        start = time.perf_counter()
        problem = await self._handle(scope, headers, receive, sender)
        if problem is not None and not sender.status:
            await problem(scope, receive, sender.send)
        self._record(scope, sender.status, time.perf_counter() - start)

    async def _handle(
        self, scope: Scope, headers: Headers, receive: Receive, sender: "_ResponseSender"
    ) -> Response | None:
        """Let the routes respond. The result is the response to send if they could not."""
        try:
            check_framing(headers)
            self._guard.check(headers)
            if self._guard.is_preflight(scope["method"], headers):
                return Response(status_code=204, headers=PREFLIGHT)
            await self._inner(scope, receive, sender.send)
        except QuintetError as error:
            return error_response(error)
        except HTTPException as error:
            return routing_error_response(error)
        except asyncio.CancelledError:
            if not self.stopping:
                raise
            return error_response(_stopping())
        except Exception as error:
            log.error("fault: %s in %s", type(error).__name__, _route(scope), exc_info=is_debugging())
            return fault_response()
        return None

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        route, method = _route(scope), scope["method"]
        method = method if method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS") else "other"
        self._metrics.request(route, method, status, seconds)
        log.info("%s %s %d %.1f ms", method, route, status, 1000 * seconds)


def check_framing(headers: Headers) -> None:
    """Two statements about the length of a body let another server read another request out of it."""
    if "content-length" in headers and "transfer-encoding" in headers:
        message = "the request has both Content-Length and Transfer-Encoding; send one of them"
        raise RequestError(400, "bad_request", message, CLOSE)


class _ResponseSender:
    """Passes messages on with the headers of every response. `status` is 0 until one is sent."""

    def __init__(self, send: Send, headers: Mapping[str, str]) -> None:
        self._send = send
        self._headers = headers
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                headers.setdefault(name, value)
        await self._send(message)


def _stopping() -> RequestError:
    message = "the server is stopping, and the request may have been carried out; try again"
    return RequestError(503, "stopping", message)


def _route(scope: Scope) -> str:
    """The pattern of the route. Never the path itself, which may name a document."""
    return str(getattr(scope.get("route"), "path", UNMATCHED))
