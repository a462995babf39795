"""Bounds on bodies, on how much runs at once and on how long it takes."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, NoReturn, TypeVar

from starlette.requests import ClientDisconnect, Request

from quintet.errors import LimitError, UsageError
from quintet.http.config import Limits
from quintet.http.wire import CLOSE, RequestError

T = TypeVar("T")

LINGER = 16  # times the largest body: read and thrown away, so that the client can read why


class Workers:
    """Threads for the engine's calls.

    Not `anyio.to_thread`: a call that overran its time still runs, and must count until it ends.
    """

    def __init__(self, limits: Limits) -> None:
        self._seconds = limits.seconds
        self._most = limits.workers + limits.waiting
        self._pool = ThreadPoolExecutor(limits.workers, "quintet-http")
        self._counting = Lock()
        self._admitted = 0

    @property
    def admitted(self) -> int:
        return self._admitted

    async def run(self, work: Callable[[], T]) -> T:
        """The work's result; `too_many` where the queue is full, 503 where it took too long."""
        with self._counting:
            if self._admitted >= self._most:
                raise LimitError(
                    f"the server is busy with {self._admitted} requests; try again in a moment",
                    code="too_many",
                )
            self._admitted += 1
        future = self._pool.submit(work)
        future.add_done_callback(self._leave)
        waiting = asyncio.wrap_future(future)
        done, _ = await asyncio.wait([waiting], timeout=self._seconds)
        if not done:
            waiting.cancel()
            raise RequestError(
                503, "timed_out", f"no answer within {self._seconds:g} s; ask for less, or try again"
            )
        return waiting.result()

    def _leave(self, future: "Future[Any]") -> None:
        with self._counting:
            self._admitted -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


async def json_object(request: Request, limits: Limits, *, required: bool = True) -> dict[str, Any]:
    """The request's body. Where it is not `required`, an absent one counts as `{}`."""
    body = await whole_body(request, limits)
    if not body and not required:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestError(
            415, "unsupported_media_type", f"the content type is {kind!r}; send application/json"
        )
    try:
        value = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = error if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        raise RequestError(400, "invalid_json", f"the body is not JSON: {reason}") from None
    if not isinstance(value, dict):
        raise UsageError('the body must be a JSON object, such as {"query": "cache ttl"}')
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


async def whole_body(request: Request, limits: Limits) -> bytes:
    """The body, if it is not too large and comes in time."""
    try:
        async with asyncio.timeout(limits.body_seconds):
            return await _collected(request, limits.body_bytes)
    except TimeoutError:
        message = f"the body did not arrive within {limits.body_seconds:g} s; send it faster"
        raise RequestError(408, "slow_client", message, CLOSE) from None
    except ClientDisconnect:
        raise RequestError(
            400, "client_gone", "the client left before its body was complete", CLOSE
        ) from None


async def _collected(request: Request, most: int) -> bytes:
    declared = request.headers.get("content-length", "0")
    size = 0
    parts: list[bytes] = []
    if declared.isdecimal() and int(declared) > most * LINGER:
        raise _too_large(most)
    async for part in request.stream():
        size += len(part)
        if size <= most:
            parts.append(part)
        elif size > most * LINGER:
            raise _too_large(most)
        else:
            parts.clear()
    if size > most:
        raise _too_large(most)
    return b"".join(parts)


def _too_large(most: int) -> RequestError:
    return RequestError(413, "too_large", f"the body is larger than {most} bytes; send less", CLOSE)
