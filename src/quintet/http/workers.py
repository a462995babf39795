"""Threads for calls of the engine and for jobs: bounds on how many wait and for how long, and fair turns."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from threading import Event, Lock, local
from typing import Any, TypeVar

from quintet.http.config import Limits
from quintet.http.quotas import CALLER, too_many
from quintet.http.responses import RequestError
from quintet.serving.keys import Key

T = TypeVar("T")

THREADS = 2
SLICE_SECONDS = 5.0  # of work; then it gives way if others wait
MOST_PAUSED = 16  # each holds a thread and perhaps some files in memory

Work = Callable[[], None]

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


class _Ticket:
    """A piece of work. It has a `turn` to wait for once it has begun and given way."""

    def __init__(self, owner: str, work: Work, lane: str | None, most: int) -> None:
        self.owner = owner
        self.work = work
        self.lane = lane
        self.most = most
        self.began = 0.0
        self.turn: Event | None = None


class Turns:
    """Runs work in threads. Owners take turns, and the work of one owner starts in order.

    An owner is an API key; without one, a knowledge base or the folders of the index. Work in one lane, such
    as a knowledge base, runs one by one.
    """

    def __init__(self, threads: int = THREADS, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = threads
        self._clock = clock
        self._pool = ThreadPoolExecutor(threads + MOST_PAUSED, "quintet-turn")
        self._waiting: dict[str, deque[_Ticket]] = {}  # in the order of the owners' turns
        self._running: Counter[str] = Counter()
        self._busy: set[str] = set()  # lanes
        self._paused: set[_Ticket] = set()
        self._current = local()
        self._guard = Lock()
        self.closed = False

    def add(self, owner: str, work: Work, *, lane: str | None = None, most: int = 1) -> None:
        """Run `work` in the turn of `owner`, who has at most `most` threads at a time."""
        with self._guard:
            self._waiting.setdefault(owner, deque()).append(_Ticket(owner, work, lane, most))
            self._start()

    def give_way(self) -> None:
        """Called by running work between two steps: if it had its slice and others wait, they go first."""
        ticket: _Ticket | None = getattr(self._current, "ticket", None)
        if ticket is None or self._clock() - ticket.began < SLICE_SECONDS:
            return
        with self._guard:
            others = (owner for owner in self._waiting if owner != ticket.owner and self._next(owner))
            if self.closed or len(self._paused) >= MOST_PAUSED or next(others, None) is None:
                return
            ticket.turn = turn = Event()
            self._paused.add(ticket)
            own = self._waiting.pop(ticket.owner, deque())
            self._waiting[ticket.owner] = deque((ticket, *own))
            self._running[ticket.owner] -= 1
            self._free += 1
            self._start()
        turn.wait()

    def _start(self) -> None:
        """Start what can run now. An owner that had its turn goes to the end."""
        for owner in tuple(self._waiting):
            if not self._free or self.closed:
                return
            ticket = self._next(owner)
            if ticket is None:
                continue
            works = self._waiting.pop(owner)
            works.remove(ticket)
            if works:
                self._waiting[owner] = works
            self._begin(ticket)

    def _next(self, owner: str) -> _Ticket | None:
        """The first work of an owner that may run now. Work that gave way still holds its lane."""
        for ticket in self._waiting[owner]:
            if self._running[owner] >= ticket.most:
                return None
            if ticket.turn is not None or ticket.lane not in self._busy:
                return ticket
        return None

    def _begin(self, ticket: _Ticket) -> None:
        self._running[ticket.owner] += 1
        self._free -= 1
        ticket.began = self._clock()
        if ticket.turn is not None:
            self._paused.discard(ticket)
            ticket.turn.set()
            ticket.turn = None
            return
        if ticket.lane is not None:
            self._busy.add(ticket.lane)
        self._pool.submit(self._run, ticket)

    def _run(self, ticket: _Ticket) -> None:
        self._current.ticket = ticket
        try:
            ticket.work()
        finally:
            self._current.ticket = None
            with self._guard:
                if ticket.lane is not None:
                    self._busy.remove(ticket.lane)
                self._running[ticket.owner] -= 1
                if not self._running[ticket.owner]:
                    del self._running[ticket.owner]
                self._free += 1
                self._start()

    def close(self) -> None:
        """Start nothing more, and wait for what runs or gave way."""
        with self._guard:
            self.closed = True
            for ticket in tuple(self._paused):
                self._begin(ticket)
        self._pool.shutdown(wait=True)
