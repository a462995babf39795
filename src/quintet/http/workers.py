"""Threads that run calls of the engine, with bounds on how many wait and for how long."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from quintet.http.config import Limits
from quintet.http.quotas import CALLER, too_many
from quintet.http.responses import RequestError
from quintet.http.turns import Turns
from quintet.serving.keys import Key

T = TypeVar("T")

# Done once the client of the current request has gone; None outside a request.
CLIENT_GONE: ContextVar["asyncio.Future[None] | None"] = ContextVar("CLIENT_GONE", default=None)


class Workers:
    """Threads for the engine's calls. API keys take turns, and one of several keys never has all threads.

    Not `anyio.to_thread`: a call that timed out may still run, and counts until it ends.
    """

    def __init__(self, limits: Limits) -> None:
        self._seconds = limits.seconds
        self._max_calls = limits.workers + limits.waiting
        self._most_of_key = limits.calls_of_key
        self._threads = limits.workers
        self._turns = Turns(limits.workers)
        self._counting = Lock()
        self._calls = 0
        self._of_keys: Counter[str] = Counter()
        self._futures: set[Future[Any]] = set()

    @property
    def calls(self) -> int:
        """Calls that run or wait."""
        return self._calls

    async def run(self, work: Callable[[], T]) -> T:
        """The result of `work`; `too_many` if the queue is full, 503 if it takes too long. Work that has not
        begun when its client goes or its time is up is dropped."""
        future = self._submit(work, CALLER.get())
        waiting = asyncio.wrap_future(future)
        if not await self._ends(waiting, future):
            waiting.cancel()
            raise RequestError(
                503, "timed_out", f"no answer within {self._seconds:g} s; ask for less, or try again"
            )
        return waiting.result()

    def _submit(self, work: Callable[[], T], key: Key | None) -> "Future[T]":
        future: Future[T] = Future()
        owner = key.id if key else ""
        with self._counting:
            if self._calls >= self._max_calls:
                raise too_many(f"the server is busy with {self._calls} requests; try again in a moment")
            if key is not None and self._of_keys[owner] >= self._most_of_key:
                raise too_many(
                    f"{self._of_keys[owner]} requests with key {key.name!r} are under way; wait for some of "
                    "them, then send more"
                )
            self._calls += 1
            self._of_keys[owner] += 1
            self._futures.add(future)

        def end_call(_: "Future[T]") -> None:
            with self._counting:
                self._calls -= 1
                self._of_keys[owner] -= 1
                self._futures.discard(future)

        future.add_done_callback(end_call)
        most = self._threads if key is None else max(1, self._threads - 1)
        self._turns.add(owner, partial(_fulfil, future, work), most=most)
        return future

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

    def close(self) -> None:
        """Drop what waits, and wait for what runs."""
        for future in tuple(self._futures):
            future.cancel()
        self._turns.close()


def _fulfil(future: "Future[T]", work: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
