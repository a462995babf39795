"""Threads that run calls of the engine, with bounds on how many wait and for how long."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from quintet.errors import LimitError
from quintet.http.config import Limits
from quintet.http.responses import RequestError

T = TypeVar("T")


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
        """The result of `work`; `too_many` if the queue is full, 503 if it takes too long."""
        with self._counting:
            if self._calls >= self._max_calls:
                raise LimitError(
                    f"the server is busy with {self._calls} requests; try again in a moment", code="too_many"
                )
            self._calls += 1
        future = self._pool.submit(work)
        future.add_done_callback(self._end_call)
        waiting = asyncio.wrap_future(future)
        done, _ = await asyncio.wait([waiting], timeout=self._seconds)
        if not done:
            waiting.cancel()
            raise RequestError(
                503, "timed_out", f"no answer within {self._seconds:g} s; ask for less, or try again"
            )
        return waiting.result()

    def _end_call(self, future: "Future[Any]") -> None:
        with self._counting:
            self._calls -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
