"""Threads that run calls of the engine, with bounds on how many wait and for how long."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from threading import Lock
from typing import Any, TypeVar

from quintet.errors import LimitError
from quintet.http.config import Limits
from quintet.http.responses import RequestError

T = TypeVar("T")

# Done once the client of the current request has gone; None outside a request.
CLIENT_GONE: ContextVar["asyncio.Future[None] | None"] = ContextVar("CLIENT_GONE", default=None)


class Workers:
    """Threads for the engine's calls.

    Not `anyio.to_thread`: a call that timed out still runs, and counts until it ends.
    """

    def __init__(self, limits: Limits) -> None:
        self._seconds = limits.seconds
        self._max_calls = limits.workers + limits.waiting
        self._pool = ThreadPoolExecutor(limits.workers, "quintet-http")
        self._counting = Lock()
        self._calls = 0

    @property
    def calls(self) -> int:
        """Calls that run or wait."""
        return self._calls

    async def run(self, work: Callable[[], T]) -> T:
        """The result of `work`; `too_many` if the queue is full, 503 if it takes too long. Work that has not
        begun when its client goes is dropped."""
        with self._counting:
            if self._calls >= self._max_calls:
                raise LimitError(
                    f"the server is busy with {self._calls} requests; try again in a moment", code="too_many"
                )
            self._calls += 1
        future = self._pool.submit(work)
        future.add_done_callback(self._end_call)
        waiting = asyncio.wrap_future(future)
        if not await self._ends(waiting, future):
            waiting.cancel()
            raise RequestError(
                503, "timed_out", f"no answer within {self._seconds:g} s; ask for less, or try again"
            )
        return waiting.result()

    async def _ends(self, waiting: "asyncio.Future[T]", future: "Future[T]") -> bool:
        """Whether the work ends in time."""
        gone, deadline = CLIENT_GONE.get(), time.monotonic() + self._seconds
        if gone is not None:
            either: list[asyncio.Future[Any]] = [waiting, gone]
            await asyncio.wait(either, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            if gone.done() and future.cancel():
                raise RequestError(
                    499, "client_gone", "the client closed the connection before its turn came"
                )
        done, _ = await asyncio.wait([waiting], timeout=max(0.0, deadline - time.monotonic()))
        return bool(done)

    def _end_call(self, future: "Future[Any]") -> None:
        with self._counting:
            self._calls -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
