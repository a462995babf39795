"""HTTP/1.1 by uvicorn and h11, with timeouts for slow clients."""

import asyncio
from typing import Any

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from quintet.errors import LimitError
from quintet.http.config import Limits
from quintet.http.reads import to_json
from quintet.http.responses import CLOSE, error_body, error_response
from quintet.http.workers import CLIENT_GONE


def bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """A protocol class for uvicorn, which makes one object a connection."""
    return type("BoundedProtocol", (_Bounded,), {"limits": limits})


class _Bounded(H11Protocol):
    limits: Limits

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._gone: asyncio.Future[None] = self.loop.create_future()
        self.app = self._observed(self.app)

    def _observed(self, app: Any) -> Any:
        """The application, which can see when its client is gone."""

        async def observed(scope: Scope, receive: Receive, send: Send) -> None:
            CLIENT_GONE.set(self._gone)
            await app(scope, receive, send)

        return observed

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self.app = _refuse_connection
        self._expect("head", self.limits.head_seconds)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:  # the first bytes of a request
            self._expect("head", self.limits.head_seconds)
        else:
            self._arrived("head")

    def connection_lost(self, exc: Exception | None) -> None:
        for name in tuple(self._timers):
            self._arrived(name)
        if not self._gone.done():
            self._gone.set_result(None)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect("taken", self.limits.write_seconds)

    def resume_writing(self) -> None:
        self._arrived("taken")
        super().resume_writing()

    def _expect(self, name: str, seconds: float) -> None:
        """End the connection unless this arrives in time. A second call keeps the first deadline."""
        if name not in self._timers:
            self._timers[name] = self.loop.call_later(seconds, self.transport.abort)

    def _arrived(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def send_400_response(self, msg: str) -> None:
        """An error in the same shape as all others."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):  # a response has begun already
            self.transport.close()
            return
        body = to_json(error_body("bad_request", "this is not HTTP/1.1, or its head is too large"))
        headers = [("content-type", "application/json"), ("content-length", str(len(body)))]
        head = h11.Response(
            status_code=400, headers=[*headers, ("connection", "close")], reason=b"Bad Request"
        )
        for event in (head, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


async def _refuse_connection(scope: Scope, receive: Receive, send: Send) -> None:
    """The application of a connection beyond the limit."""
    error = LimitError("the server has too many connections; try again in a moment", code="too_many")
    answer = error_response(error)
    answer.headers.update(CLOSE)
    await answer(scope, receive, send)
