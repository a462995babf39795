"""Memories as lines of JSON, for export and import. Input is untrusted: every line is checked."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import PurePosixPath

from quintet.errors import LimitError, QuintetError, UsageError
from quintet.memory import validation
from quintet.memory.contract import LATEST_MS
from quintet.memory.memo_entry import OCCURRENCES, memo_id, merge_memo
from quintet.model.memories import About, Memo, in_order
from quintet.model.metadata import check_metadata
from quintet.model.parameters import shown

LINES = 100_000
LINE_CHARS = 200_000

DIGEST = re.compile("[0-9a-f]{64}")
ID = re.compile("[0-9a-f]{32}")
KNOWN = {field.name for field in fields(Memo)} | {"session"}
NEEDED = ("text", "kind", "created_ms")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """How many memories were new, how many existing ones changed, and how many did not."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0


def export_line(memo: Memo) -> str:
    return json.dumps(memo.fields(), ensure_ascii=False, sort_keys=True)


def merge_lines(
    lines: Iterable[str], stored: Callable[[Iterable[str]], dict[str, Memo]]
) -> tuple[list[Memo], ImportReport]:
    """The memories to write so that those of `lines` are stored. Raises if any line is invalid.

    `stored` looks memories up by id.
    """
    incoming = _read_lines(lines)
    linked = {link for memo in incoming.values() for link in _links(memo)}
    before = stored({**incoming, **dict.fromkeys(sorted(linked))})
    after = {**before, **{id: _merge(before.get(id), memo) for id, memo in incoming.items()}}
    for id in incoming:
        _check_links(after[id], after)
    _check_circles(after)
    changed = [memo for id, memo in after.items() if before.get(id) != memo]
    added = sum(memo.id not in before for memo in changed)
    return changed, ImportReport(added, len(changed) - added, len(incoming) - len(changed))


def _read_lines(lines: Iterable[str]) -> dict[str, Memo]:
    memos: dict[str, Memo] = {}
    for number, line in enumerate(islice(lines, LINES + 1), 1):
        if number > LINES:
            raise LimitError(f"there are more than {LINES} lines; import them in parts")
        if not line.strip():
            continue
        try:
            memo = _read_line(line)
        except QuintetError as error:
            message = f"line {number}: {error.message}; nothing was imported"
            raise UsageError(message, details={"line": number}) from None
        if memo.id in memos and memos[memo.id] != memo:
            raise UsageError(f"line {number}: memory {memo.id} occurs twice; nothing was imported")
        memos[memo.id] = memo
    return memos


def _read_line(line: str) -> Memo:
    if len(line) > LINE_CHARS:
        raise LimitError(f"it has {len(line)} characters; at most {LINE_CHARS} are allowed")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{shown(line)} is not JSON") from None
    if not isinstance(record, dict):
        raise UsageError(f"{shown(record)} is not an object")
    if unknown := sorted(set(record) - KNOWN):
        raise UsageError(f"there is no field {unknown[0]!r}; there are: {', '.join(sorted(KNOWN))}")
    if missing := [name for name in NEEDED if name not in record]:
        raise UsageError(f"the field {missing[0]!r} is missing")
    return _check_memo(record)


def _check_memo(record: Mapping[str, object]) -> Memo:
    created = _check_number(record, "created_ms", 0, 0)
    until = record.get("valid_until_ms")
    by = record.get("superseded_by")
    memo = Memo(
        "",
        validation.check_text(record["text"]),
        validation.check_kind(record["kind"]),
        created,
        _check_number(record, "last_seen_ms", created, created),
        _check_number(record, "seen", 1, 1),
        validation.check_names("tags", "a tag", record.get("tags", [])),
        _check_abouts(record.get("about", [])),
        _check_sessions(record),
        tuple(_check_id(id) for id in _check_list(record.get("supersedes", []))),
        None if by is None else _check_id(by),
        None if until is None else _check_number(record, "valid_until_ms", created, created),
        check_metadata(record.get("metadata", {})),
    )
    if memo.superseded_by is not None and memo.valid_until_ms is None:
        raise UsageError("it was superseded, but valid_until_ms does not say when")
    return replace(memo, id=_check_own_id(memo, record.get("id")))


def _check_own_id(memo: Memo, id: object) -> str:
    """The id must belong to the text, or a line could replace another memory."""
    first = memo_id(memo.kind, memo.text, 0)
    if id is None or id == first:
        return first
    if any(id == memo_id(memo.kind, memo.text, number) for number in range(1, OCCURRENCES)):
        return str(id)
    raise UsageError(f"id is {shown(id)}; the id of this text is {first}")


def _check_sessions(record: Mapping[str, object]) -> tuple[str, ...]:
    """`session` is the latest of `sessions`; either may be left out."""
    sessions = _check_list(record.get("sessions", []))
    latest = record.get("session")
    if latest is not None:
        sessions = [*sessions, latest]
    return in_order(validation.check_name("a session", session) for session in sessions)


def _check_number(record: Mapping[str, object], name: str, default: int, least: int) -> int:
    value = record.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LATEST_MS:
        raise UsageError(f"{name} is {shown(value)}; it must be a whole number from {least} to {LATEST_MS}")
    return value


def _check_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise UsageError(f"{shown(value)} is not a list")
    return value


def _check_id(value: object) -> str:
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise UsageError(f"{shown(value)} is not the id of a memory")
    return value


def _check_abouts(value: object) -> tuple[About, ...]:
    subjects = _check_list(value)
    if len(subjects) > validation.MAX_ENTRIES["about"]:
        raise LimitError(
            f"about has {len(subjects)} entries; at most {validation.MAX_ENTRIES['about']} are allowed"
        )
    return tuple(_check_about(about) for about in subjects)


def _check_about(subject: object) -> About:
    wrong = UsageError(f"about holds {shown(subject)}; see an export for its form")
    if not isinstance(subject, dict) or not set(subject) <= {field.name for field in fields(About)}:
        raise wrong
    texts = {name: subject.get(name) for name in ("path", "symbol", "root", "digest")}
    names = {
        name: None if text is None else validation.check_name("what it is about", text)
        for name, text in texts.items()
    }
    lines, path = subject.get("lines"), PurePosixPath(names["path"] or "")
    if not (names["path"] or names["symbol"]) or path.is_absolute() or ".." in path.parts:
        raise wrong
    if names["digest"] is not None and not DIGEST.fullmatch(names["digest"]):
        raise wrong
    if lines is not None and not _is_range(lines):
        raise wrong
    return About(**names, lines=tuple(lines) if lines else None)


def _is_range(lines: object) -> bool:
    if not isinstance(lines, list) or len(lines) != 2 or any(type(number) is not int for number in lines):
        return False
    first, last = lines
    return bool(1 <= first <= last < 10**9)


def _links(memo: Memo) -> list[str]:
    return [*memo.supersedes, *([memo.superseded_by] if memo.superseded_by else [])]


def _merge(before: Memo | None, memo: Memo) -> Memo:
    """A stored memory, extended by what the imported one adds."""
    if before is None:
        return memo
    superseded = _superseded_version(before, memo)
    merged = merge_memo(memo, before.tags, before.about, before.metadata)
    return replace(
        before,
        created_ms=min(before.created_ms, memo.created_ms),
        last_seen_ms=max(before.last_seen_ms, memo.last_seen_ms),
        seen=max(before.seen, memo.seen),
        tags=tuple(dict.fromkeys((*before.tags, *memo.tags))),
        about=merged.about,
        sessions=_merge_sessions(before, memo),
        supersedes=tuple(dict.fromkeys((*before.supersedes, *memo.supersedes))),
        superseded_by=superseded.superseded_by,
        valid_until_ms=superseded.valid_until_ms,
        metadata=merged.metadata,
    )


def _merge_sessions(before: Memo, memo: Memo) -> tuple[str, ...]:
    older, newer = sorted((memo, before), key=lambda memo: memo.last_seen_ms)
    return in_order((*older.sessions, *newer.sessions))


def _superseded_version(before: Memo, memo: Memo) -> Memo:
    """The version that names its successor, which may have been forgotten in the other."""
    for version in (before, memo):
        if version.superseded_by is not None:
            return version
    return memo if before.valid_until_ms is None else before


def _check_links(memo: Memo, after: Mapping[str, Memo]) -> None:
    """A memory and the one that supersedes it must name each other."""
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
        f"memory {id} {link} {other}, but that memory does not name it; nothing was imported: "
        "import both as they were exported"
    )


def _check_circles(memories: Mapping[str, Memo]) -> None:
    """No memory may supersede itself, directly or through others. Each is visited once."""
    cleared: set[str] = set()
    for id in memories:
        path: dict[str, None] = {}
        at: str | None = id
        while at is not None and at in memories and at not in cleared:
            if at in path:
                raise UsageError(f"memory {at} would supersede itself through others; nothing was imported")
            path[at] = None
            at = memories[at].superseded_by
        cleared.update(path)
