"""Threads for work, with fair turns: nobody waits behind more than a slice of another's work."""

import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock, local

THREADS = 2
SLICE_SECONDS = 5.0  # of work; then it gives way if others wait
MOST_PAUSED = 16  # each holds a thread and perhaps some files in memory

Work = Callable[[], None]


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
