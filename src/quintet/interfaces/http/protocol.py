"""HTTP/1.1 by uvicorn and h11, with an end to the patience for clients that dawdle below the request."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from quintet.interfaces.http.config import Limits
from quintet.interfaces.http.wire import encoded, shape


def bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """A protocol class for uvicorn, which makes one object a connection."""
    return type("BoundedProtocol", (_Bounded,), {"limits": limits})


class _Bounded(H11Protocol):
    limits: Limits

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head = _stop(self._head)
        elif self._head is None:  # the first bytes of a further request
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head, self._taking = _stop(self._head), _stop(self._taking)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._taking is None:
            self._taking = self.loop.call_later(self.limits.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._taking = _stop(self._taking)
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """In the shape of every other error."""
        body = encoded(shape("bad_request", "this is not HTTP/1.1, or its head is too large"))
        headers = [("content-type", "application/json"), ("content-length", str(len(body)))]
        head = h11.Response(status_code=400, headers=[*headers, ("connection", "close")], reason=b"Bad Request")
        for event in (head, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _expect_head(self) -> None:
        self._head = self.loop.call_later(self.limits.head_seconds, self.transport.abort)


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
