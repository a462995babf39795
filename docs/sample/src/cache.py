"""The cache of answers: bounded in size and in time."""

import time
from collections import OrderedDict


class AnswerCache:
    """Keeps the latest answers. `ttl` is in seconds; 0 keeps nothing."""

    def __init__(self, ttl: float = 300.0, max_entries: int = 1000) -> None:
        self.ttl = ttl
        self.max_entries = max_entries
        self._entries: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def get(self, question: str) -> str | None:
        """The answer, unless it is too old."""
        found = self._entries.get(question)
        if found is None or time.monotonic() - found[0] > self.ttl:
            return None
        self._entries.move_to_end(question)
        return found[1]

    def put(self, question: str, answer: str) -> None:
        """Remember an answer; the least recently used one makes room for it."""
        self._entries[question] = (time.monotonic(), answer)
        if len(self._entries) > self.max_entries:
            self._entries.popitem(last=False)


def seconds_left(stored_at: float, ttl: float, now: float) -> float:
    """How long an entry will still be served."""
    return max(0.0, stored_at + ttl - now)
