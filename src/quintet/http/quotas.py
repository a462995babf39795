"""What one API key may use of a server: work that waits, bytes, and seconds of work within an hour.

Requests without a key come from this machine's own user and have no quota.
"""

import math
import time
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from threading import Lock
from typing import Final

from quintet.errors import LimitError
from quintet.serving.keys import Key

# The key of the current request; None if it has none.
CALLER: ContextVar[Key | None] = ContextVar("CALLER", default=None)

MINUTE: Final = 60
WINDOW: Final = 60  # minutes


def too_many(message: str, retry_seconds: int = 1) -> LimitError:
    """The error of a quota. `Retry-After` says the same number of seconds."""
    return LimitError(message, code="too_many", details={"retry_seconds": retry_seconds})


class WorkSeconds:
    """How long jobs of each API key have worked within the last hour, by the minute."""

    def __init__(self, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        """A key may use `most` seconds within an hour."""
        self._most = most
        self._clock = clock
        self._minutes: dict[str, deque[tuple[int, float]]] = {}
        self._guard = Lock()

    def add(self, key: Key, seconds: float) -> None:
        with self._guard:
            minutes = self._current(key)
            now = self._minute()
            earlier = minutes.pop()[1] if minutes and minutes[-1][0] == now else 0.0
            minutes.append((now, earlier + seconds))
            self._minutes[key.id] = minutes

    def check(self, key: Key) -> None:
        """Refuse a key whose seconds are used up, and say when there will be some again."""
        with self._guard:
            minutes = self._current(key)
            used = sum(seconds for _, seconds in minutes)
            if used < self._most:
                return
            wait = self._wait(minutes, used)
        raise too_many(
            f"jobs of key {key.name!r} worked {used:.0f} s within the last hour, and {self._most:g} are "
            f"allowed; try again in {wait} s",
            wait,
        )

    def _wait(self, minutes: deque[tuple[int, float]], used: float) -> int:
        """The seconds until enough of the oldest minutes are an hour ago."""
        last = self._minute()
        for minute, seconds in minutes:
            used -= seconds
            if used < self._most:
                last = minute
                break
        return max(1, math.ceil((last + WINDOW + 1) * MINUTE - self._clock()))

    def _current(self, key: Key) -> deque[tuple[int, float]]:
        """The minutes of the last hour. A key without any takes no memory."""
        minutes = self._minutes.pop(key.id, deque())
        while minutes and minutes[0][0] < self._minute() - WINDOW:
            minutes.popleft()
        if minutes:
            self._minutes[key.id] = minutes
        return minutes

    def _minute(self) -> int:
        return int(self._clock() // MINUTE)
