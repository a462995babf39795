"""Memories as lines of JSON: written in one form, and read back with distrust."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import PurePosixPath

from quintet.errors import LimitError, QuintetError, UsageError
from quintet.memory import entries as memos
from quintet.memory.contract import LATEST_MS
from quintet.model.memories import About, Memo, in_order
from quintet.model.parameters import shown

LINES = 100_000
LINE_CHARS = 200_000

DIGEST = re.compile("[0-9a-f]{64}")
ID = re.compile("[0-9a-f]{32}")
KNOWN = {one.name for one in fields(Memo)} | {"session"}
NEEDED = ("text", "kind", "created_ms")


@dataclass(frozen=True, slots=True)
class Imported:
    """How many memories were new, how many that were there learnt something, how many did not."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0


def exported(memo: Memo) -> str:
    return json.dumps(memo.fields(), ensure_ascii=False, sort_keys=True)


def joined(
    lines: Iterable[str], stored: Callable[[Iterable[str]], dict[str, Memo]]
) -> tuple[list[Memo], Imported]:
    """What has to be written so that the memories of `lines` are there; nothing if any of them is wrong."""
    incoming = _read(lines)
    linked = {link for memo in incoming.values() for link in _links(memo)}
    before = stored({**incoming, **dict.fromkeys(sorted(linked))})
    after = {**before, **{id: _united(before.get(id), memo) for id, memo in incoming.items()}}
    for id in incoming:
        _check_links(after[id], after)
    _check_circles(after)
    changed = [memo for id, memo in after.items() if before.get(id) != memo]
    added = sum(memo.id not in before for memo in changed)
    return changed, Imported(added, len(changed) - added, len(incoming) - len(changed))


def _read(lines: Iterable[str]) -> dict[str, Memo]:
    found: dict[str, Memo] = {}
    for number, line in enumerate(islice(lines, LINES + 1), 1):
        if number > LINES:
            raise LimitError(f"there are more than {LINES} lines; import them in parts")
        if not line.strip():
            continue
        try:
            memo = _memo(line)
        except QuintetError as error:
            message = f"line {number}: {error.message}; nothing was imported"
            raise UsageError(message, details={"line": number}) from None
        if memo.id in found and found[memo.id] != memo:
            raise UsageError(f"line {number}: memory {memo.id} stands there twice; nothing was imported")
        found[memo.id] = memo
    return found


def _memo(line: str) -> Memo:
    if len(line) > LINE_CHARS:
        raise LimitError(f"it has {len(line)} characters; at most {LINE_CHARS} are taken")
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{shown(line)} is not JSON") from None
    if not isinstance(given, dict):
        raise UsageError(f"{shown(given)} is not an object")
    if unknown := sorted(set(given) - KNOWN):
        raise UsageError(f"there is no field {unknown[0]!r}; there are: {', '.join(sorted(KNOWN))}")
    if missing := [name for name in NEEDED if name not in given]:
        raise UsageError(f"the field {missing[0]!r} is missing")
    return _checked(given)


def _checked(given: Mapping[str, object]) -> Memo:
    created = _number(given, "created_ms", 0, 0)
    until = given.get("valid_until_ms")
    by = given.get("superseded_by")
    memo = Memo(
        "",
        memos.checked_text(given["text"]),
        memos.checked_kind(given["kind"]),
        created,
        _number(given, "last_seen_ms", created, created),
        _number(given, "seen", 1, 1),
        memos.checked_names("tags", "a tag", given.get("tags", [])),
        _abouts(given.get("about", [])),
        _sessions(given),
        tuple(_id(one) for one in _list(given.get("supersedes", []))),
        None if by is None else _id(by),
        None if until is None else _number(given, "valid_until_ms", created, created),
        memos.checked_metadata(given.get("metadata", {})),
    )
    if memo.superseded_by is not None and memo.valid_until_ms is None:
        raise UsageError("it was superseded, but valid_until_ms does not say when")
    return replace(memo, id=_own_id(memo, given.get("id")))


def _own_id(memo: Memo, given: object) -> str:
    """The id must be that of the text: else a line could take the place of another memory."""
    first = memos.memo_id(memo.kind, memo.text, 0)
    if given is None or given == first:
        return first
    if any(given == memos.memo_id(memo.kind, memo.text, one) for one in range(1, memos.OCCURRENCES)):
        return str(given)
    raise UsageError(f"id is {shown(given)}; the id of this text is {first}")


def _sessions(given: Mapping[str, object]) -> tuple[str, ...]:
    """`session` is the latest of `sessions`; either may be left out."""
    named = _list(given.get("sessions", []))
    latest = given.get("session")
    every = named if latest is None else [*named, latest]
    return in_order(memos.checked_name("a session", one) for one in every)


def _number(given: Mapping[str, object], name: str, default: int, least: int) -> int:
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LATEST_MS:
        raise UsageError(f"{name} is {shown(value)}; it must be a whole number from {least} to {LATEST_MS}")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise UsageError(f"{shown(value)} is not a list")
    return value


def _id(value: object) -> str:
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise UsageError(f"{shown(value)} is not the id of a memory")
    return value


def _abouts(value: object) -> tuple[About, ...]:
    given = _list(value)
    if len(given) > memos.MOST["about"]:
        raise LimitError(f"about has {len(given)} entries; at most {memos.MOST['about']} are taken")
    return tuple(_about(one) for one in given)


def _about(given: object) -> About:
    wrong = UsageError(f"about holds {shown(given)}; export shows what it looks like")
    if not isinstance(given, dict) or not set(given) <= {one.name for one in fields(About)}:
        raise wrong
    texts = {name: given.get(name) for name in ("path", "symbol", "root", "digest")}
    names = {
        name: None if one is None else memos.checked_name("what it is about", one)
        for name, one in texts.items()
    }
    lines, path = given.get("lines"), PurePosixPath(names["path"] or "")
    if not (names["path"] or names["symbol"]) or path.is_absolute() or ".." in path.parts:
        raise wrong
    if names["digest"] is not None and not DIGEST.fullmatch(names["digest"]):
        raise wrong
    if lines is not None and not _is_range(lines):
        raise wrong
    return About(**names, lines=tuple(lines) if lines else None)


def _is_range(lines: object) -> bool:
    if not isinstance(lines, list) or len(lines) != 2 or any(type(one) is not int for one in lines):
        return False
    first, last = lines
    return bool(1 <= first <= last < 10**9)


def _links(memo: Memo) -> list[str]:
    return [*memo.supersedes, *([memo.superseded_by] if memo.superseded_by else [])]


def _united(before: Memo | None, memo: Memo) -> Memo:
    """What is there, and what the other knows besides."""
    if before is None:
        return memo
    ended = _ended(before, memo)
    merged = memos.united(memo, before.tags, before.about, before.metadata)
    return replace(
        before,
        created_ms=min(before.created_ms, memo.created_ms),
        last_seen_ms=max(before.last_seen_ms, memo.last_seen_ms),
        seen=max(before.seen, memo.seen),
        tags=tuple(dict.fromkeys((*before.tags, *memo.tags))),
        about=merged.about,
        sessions=_joined_sessions(before, memo),
        supersedes=tuple(dict.fromkeys((*before.supersedes, *memo.supersedes))),
        superseded_by=ended.superseded_by,
        valid_until_ms=ended.valid_until_ms,
        metadata=merged.metadata,
    )


def _joined_sessions(before: Memo, memo: Memo) -> tuple[str, ...]:
    older, newer = sorted((memo, before), key=lambda one: one.last_seen_ms)
    return in_order((*older.sessions, *newer.sessions))


def _ended(before: Memo, memo: Memo) -> Memo:
    """The one that knows how the memory ended: what superseded it may have been forgotten here."""
    for one in (before, memo):
        if one.superseded_by is not None:
            return one
    return memo if before.valid_until_ms is None else before


def _check_links(memo: Memo, after: Mapping[str, Memo]) -> None:
    """Both ends of a supersession name each other."""
    for id in memo.supersedes:
        other = after.get(id)
        if other is None or other.superseded_by != memo.id:
            raise _one_sided(memo.id, "supersedes", id)
    if memo.superseded_by is not None:
        newer = after.get(memo.superseded_by)
        if newer is None or memo.id not in newer.supersedes:
            raise _one_sided(memo.id, "is superseded by", memo.superseded_by)


def _one_sided(id: str, link: str, other: str) -> UsageError:
    return UsageError(
        f"memory {id} {link} {other}, which does not say so; nothing was imported: "
        "import both, as they were exported"
    )


def _check_circles(memories: Mapping[str, Memo]) -> None:
    """No memory supersedes itself in the end. Each is looked at once."""
    cleared: set[str] = set()
    for id in memories:
        path: dict[str, None] = {}
        at: str | None = id
        while at is not None and at in memories and at not in cleared:
            if at in path:
                raise UsageError(f"memory {at} would supersede itself in the end; nothing was imported")
            path[at] = None
            at = memories[at].superseded_by
        cleared.update(path)
