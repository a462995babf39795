"""Threads for long work, with fair turns: nobody waits behind more than one piece of another's work."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

THREADS = 2

Work = Callable[[], None]


class Turns:
    """Runs work in threads. Work of one owner runs one by one, in order; owners take turns.

    An owner is a knowledge base, or "" for the folders of the index.
    """

    def __init__(self, threads: int = THREADS) -> None:
        self._free = threads
        self._pool = ThreadPoolExecutor(threads, "quintet-job")
        self._waiting: dict[str, deque[Work]] = {}  # in the order of the owners' turns
        self._busy: set[str] = set()
        self._guard = Lock()
        self.closed = False

    def add(self, owner: str, work: Work) -> None:
        with self._guard:
            self._waiting.setdefault(owner, deque()).append(work)
            self._start()

    def _start(self) -> None:
        """Start what can run now. An owner that had its turn goes to the end."""
        for owner in tuple(self._waiting):
            if not self._free or self.closed:
                return
            if owner in self._busy:
                continue
            works = self._waiting.pop(owner)
            work = works.popleft()
            if works:
                self._waiting[owner] = works
            self._busy.add(owner)
            self._free -= 1
            self._pool.submit(self._run, owner, work)

    def _run(self, owner: str, work: Work) -> None:
        try:
            work()
        finally:
            with self._guard:
                self._busy.remove(owner)
                self._free += 1
                self._start()

    def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        with self._guard:
            self.closed = True
        self._pool.shutdown(wait=True)
