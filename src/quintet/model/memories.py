"""A memory: its text, what it is about, and how long it was valid."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from quintet.model.documents import Json

ROOT = "memory"  # where memories live among the documents of their database
KINDS = ("decision", "fact", "preference", "error", "summary", "code", "task")
SESSIONS = 100  # kept by one memory
AboutState = Literal["unchanged", "changed", "gone", "unknown"]
MemoryFreshness = Literal["Fresh", "Stale", "StaleWithRisk"]
FRESHNESS: Mapping[AboutState, MemoryFreshness] = {
    "unchanged": "Fresh",
    "unknown": "Fresh",
    "changed": "Stale",
    "gone": "StaleWithRisk",
}


@dataclass(frozen=True, slots=True)
class About:
    """A file, some of its lines or a symbol, and the digest of its text when the memory was made.

    Without a digest nothing had that name then, so nobody can say whether it changed.
    """

    path: str | None = None
    symbol: str | None = None
    root: str | None = None
    lines: tuple[int, int] | None = None
    digest: str | None = None

    @property
    def key(self) -> tuple[str, str, str, tuple[int, int]]:
        """Identity without content: a symbol may move to other lines, a line range may not."""
        lines = (0, 0) if self.symbol or self.lines is None else self.lines
        return self.symbol or "", self.root or "", self.path or "", lines

    def fields(self) -> dict[str, Json]:
        return {
            "path": self.path,
            "symbol": self.symbol,
            "root": self.root,
            "lines": list(self.lines) if self.lines else None,
            "digest": self.digest,
        }


@dataclass(frozen=True, slots=True)
class Memo:
    """One memory. It is valid from `created_ms` until `valid_until_ms`, or until now where that is None."""

    id: str
    text: str
    kind: str
    created_ms: int
    last_seen_ms: int
    seen: int = 1
    tags: tuple[str, ...] = ()
    about: tuple[About, ...] = ()
    sessions: tuple[str, ...] = ()  # that stated it, the latest last
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    valid_until_ms: int | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)

    @property
    def session(self) -> str | None:
        """The latest session."""
        return self.sessions[-1] if self.sessions else None

    def fields(self) -> dict[str, Json]:
        """The whole memory as JSON, as it is stored and exported."""
        return {
            "id": self.id,
            "text": self.text,
            "kind": self.kind,
            "created_ms": self.created_ms,
            "last_seen_ms": self.last_seen_ms,
            "seen": self.seen,
            "tags": list(self.tags),
            "about": [about.fields() for about in self.about],
            "session": self.session,
            "sessions": list(self.sessions),
            "supersedes": list(self.supersedes),
            "superseded_by": self.superseded_by,
            "valid_until_ms": self.valid_until_ms,
            "metadata": dict(self.metadata),
        }


def memo_from(stored: Mapping[str, Any]) -> Memo:
    """A memory from its `fields`."""
    subjects = [
        About(**{**about, "lines": tuple(about["lines"]) if about["lines"] else None})
        for about in stored["about"]
    ]
    known = {name: value for name, value in stored.items() if name != "session"}
    many = {name: tuple(stored[name]) for name in ("tags", "supersedes")}
    sessions = in_order((*stored.get("sessions", ()), stored["session"]))
    return Memo(**{**known, **many, "sessions": sessions, "about": tuple(subjects)})


def in_order(sessions: Iterable[str | None]) -> tuple[str, ...]:
    """Each session once, at its last place; only the latest are kept.

    >>> in_order(["monday", "tuesday", None, "monday"])
    ('tuesday', 'monday')
    """
    latest_first = dict.fromkeys(session for session in reversed(list(sessions)) if session is not None)
    return tuple(reversed(list(latest_first)[:SESSIONS]))
