"""Around every request: who asks, what is counted, and no way out but an answer in the one shape."""

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
from quintet.http.wire import RequestError, fault, refused, unrouted
from quintet.settings import is_debugging

HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
UNMATCHED = "unmatched"  # one label for every path there is not: clients must not fill the memory

log = logging.getLogger("quintet.http")


class Front:
    """The outermost application. Once it is `stopping`, a request that is cancelled is told so."""

    def __init__(self, inner: ASGIApp, guard: Guard, metrics: Metrics) -> None:
        self._inner = inner
        self._guard = guard
        self._metrics = metrics
        self.stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        scope["app"] = self  # the router raises for an unknown path only where there is one
        headers = Headers(scope=scope)
        answer = _Answer(send, {**HEADERS, **self._guard.shared_with(headers)})
        start = time.perf_counter()
        problem = await self._handled(scope, headers, receive, answer)
        if problem is not None and not answer.status:
            await problem(scope, receive, answer.send)
        self._record(scope, answer.status, time.perf_counter() - start)

    async def _handled(
        self, scope: Scope, headers: Headers, receive: Receive, answer: "_Answer"
    ) -> Response | None:
        """Let the routes answer; what to answer instead if they could not."""
        try:
            self._guard.check(headers)
            if self._guard.is_preflight(scope["method"], headers):
                return Response(status_code=204, headers=PREFLIGHT)
            await self._inner(scope, receive, answer.send)
        except QuintetError as error:
            return refused(error)
        except HTTPException as error:
            return unrouted(error)
        except asyncio.CancelledError:
            if not self.stopping:
                raise
            return refused(_stopped())
        except Exception as error:
            log.error("fault: %s in %s", type(error).__name__, _route(scope), exc_info=is_debugging())
            return fault()
        return None

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        route, method = _route(scope), scope["method"]
        method = method if method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS") else "other"
        self._metrics.request(route, method, status, seconds)
        log.info("%s %s %d %.1f ms", method, route, status, 1000 * seconds)


class _Answer:
    """Sends on, with the headers every answer has; remembers the status, 0 until there is one."""

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


def _stopped() -> RequestError:
    message = "the server is stopping; what was asked may have been done all the same: ask again"
    return RequestError(503, "stopping", message)


def _route(scope: Scope) -> str:
    """The route's pattern. Never the path itself, which may name a document."""
    return str(getattr(scope.get("route"), "path", UNMATCHED))
