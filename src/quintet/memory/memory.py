"""Remember, recall, forget. Nothing is overwritten: a memory holds until another supersedes it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quintet.collection import Collection
from quintet.contracts import read
from quintet.errors import Conflict, NotFound, UsageError
from quintet.indexing.run import Progress
from quintet.memory import entries as memos
from quintet.memory.code import Code, unknown
from quintet.memory.contract import LATEST_MS, MEMORY, Params, conditions
from quintet.memory.json_lines import Imported, exported, joined
from quintet.memory.similar import LOOKED_AT, Near, near
from quintet.memory.vectors import catch_up, embed_few
from quintet.model.documents import Json, Passage
from quintet.model.filters import Filter
from quintet.model.memories import ROOT, Memo, in_order, memo_from
from quintet.model.parameters import shown as value_shown
from quintet.model.results import Note
from quintet.model.schema import Count
from quintet.ports.reading import Root
from quintet.ports.writing import Writer
from quintet.query.search import Response

MOST_BESIDE = 1_000  # on either side of a moment


@dataclass(frozen=True, slots=True)
class Remembered:
    """`merged` says that it was remembered before; `near` are memories that say almost the same."""

    id: str
    merged: bool
    seen: Count
    near: list[Near] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


class Memory:
    """The memory of an index folder. Safe to use from many threads and processes."""

    def __init__(self, memories: Collection, index: Collection, now_ms: Callable[[], int]) -> None:
        """`index` is the code that memories are about."""
        self._memories = memories
        self._now_ms = now_ms
        self._subjects = Code(index)

    def remember(
        self,
        text: str,
        kind: str = "fact",
        tags: Sequence[str] = (),
        about: Sequence[str] = (),
        session: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        supersedes: str | None = None,
    ) -> Remembered:
        """Keep a text. It is on disk and can be recalled when this returns.

        The same text of the same kind again is the same memory, counted once more. `supersedes` names an
        older memory that holds no longer.
        """
        now = self._now_ms()
        memo = Memo(
            "",
            memos.checked_text(text),
            memos.checked_kind(kind),
            now,
            now,
            tags=memos.checked_names("tags", "a tag", tags),
            about=self._subjects.looked_up(memos.checked_names("about", "what it is about", about)),
            sessions=() if session is None else (memos.checked_name("a session", session),),
            metadata=memos.checked_metadata(metadata or {}),
        )
        found = self._near(memo)
        with self._memories.run() as run:
            kept, merged = self._placed(memo)
            changed = {kept.id: kept}
            if supersedes is not None:
                changed |= self._superseded(supersedes, kept)
            self._put(run.writer, changed.values())
            notes = [*unknown(memo), *embed_few(self._memories, run)]
        return Remembered(kept.id, merged, kept.seen, [one for one in found if one.id not in changed], notes)

    def _placed(self, memo: Memo) -> tuple[Memo, bool]:
        """The memory under its id: a new one, or the one that says the same and still holds."""
        with self._memories.snapshot() as snapshot:
            for occurrence in range(memos.OCCURRENCES):
                id = memos.memo_id(memo.kind, memo.text, occurrence)
                before = snapshot.memos.get([id]).get(id)
                if before is None:
                    return replace(memo, id=id), False
                if before.valid_until_ms is None:
                    last_seen = max(before.last_seen_ms, memo.created_ms)  # a clock may go back
                    sessions = in_order((*before.sessions, *memo.sessions))
                    again = replace(before, seen=before.seen + 1, last_seen_ms=last_seen, sessions=sessions)
                    return memos.united(again, memo.tags, memo.about, memo.metadata), True
        raise Conflict(f"this text was superseded {memos.OCCURRENCES} times; write it in other words")

    def _near(self, memo: Memo) -> list[Near]:
        with self._memories.snapshot() as snapshot:
            response = self._memories.search_in(snapshot, memo.text, MEMORY, {"limit": LOOKED_AT})
            return near(memo.text, response, snapshot.text.tokens)

    def supersede(self, old: str, by: str) -> None:
        """Say that memory `by` takes the place of `old`, which no longer holds from now on."""
        with self._memories.writer() as writer:
            newer = self._found(by)
            self._put(writer, self._superseded(old, newer).values())

    def _superseded(self, old: str, newer: Memo) -> dict[str, Memo]:
        """Both memories as they are after the one took the place of the other."""
        if old == newer.id:
            raise UsageError(f"memory {old} cannot supersede itself; name another")
        older = self._found(old)
        for memo, wish in ((older, "be superseded again"), (newer, "supersede another")):
            if memo.valid_until_ms is not None:
                by = f" by {memo.superseded_by}" if memo.superseded_by else ""
                raise Conflict(
                    f"memory {memo.id} was superseded{by} and cannot {wish}; name one that still holds"
                )
        until = max(self._now_ms(), older.created_ms)
        return {
            newer.id: replace(newer, supersedes=(*newer.supersedes, older.id)),
            older.id: replace(older, superseded_by=newer.id, valid_until_ms=until),
        }

    def recall(self, query: str, **params: object) -> Response:
        """The memories that match best. `params`: limit, kind, tags, session, about, since, until,
        include_superseded."""
        params = self._subjects.as_stored(params)
        notes = catch_up(self._memories)
        response = self._memories.search(query, MEMORY, params)
        found = [memo_from(p.document.metadata) for p in _passages(response)]
        shown = zip(response.body["results"], self._subjects.judged(found), strict=True)
        results = [{**result, **judged} for result, judged in shown]
        return replace(response, body={**response.body, "results": results}, notes=[*notes, *response.notes])

    def get(self, id: str) -> dict[str, Any]:
        """A memory by its id, whether it still holds or not."""
        return self._subjects.shown([self._found(id)])[0]

    def timeline(
        self,
        around: str | int | None = None,
        before: int = 5,
        after: int = 5,
        *,
        kind: str | None = None,
        session: str | None = None,
    ) -> list[dict[str, Any]]:
        """Memories by time, oldest first, around one of them or a moment (Unix milliseconds).

        Without `around`, the latest. What was superseded since is there too.
        """
        for name, count in (("before", before), ("after", after)):
            if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST_BESIDE:
                raise UsageError(f"{name} is {count!r}; it must be a whole number from 0 to {MOST_BESIDE}")
        chosen = _filter(kind=kind, session=session, include_superseded=True)
        middle = [self._found(around)] if isinstance(around, str) else []
        moment = (middle[0].created_ms, middle[0].id) if middle else (_moment(around), "")
        with self._memories.snapshot() as snapshot:
            earlier = snapshot.memos.before(chosen, *moment, before)
            later = snapshot.memos.after(chosen, *moment, after)
        return self._subjects.shown([*earlier, *middle, *later])

    def forget(self, id: str | None = None, **filters: object) -> list[str]:
        """Remove a memory, or all that pass the filters of `recall`; their ids. There is no way back.

        What a removed memory had superseded stays superseded.
        """
        if (id is None) == (not filters):
            raise UsageError(
                "name the memory to forget by its id, or say by filters which: not both, not none"
            )
        with self._memories.writer() as writer:
            if id is not None:
                gone = {id: self._found(id)}
            else:
                with self._memories.snapshot() as snapshot:
                    chosen = _filter(**{"include_superseded": True, **self._subjects.as_stored(filters)})
                    gone = {memo.id: memo for memo in snapshot.memos.all(chosen)}
            self._remove(writer, gone)
        return list(gone)

    def _remove(self, writer: Writer, gone: Mapping[str, Memo]) -> None:
        linked = {link for memo in gone.values() for link in (*memo.supersedes, memo.superseded_by) if link}
        with self._memories.snapshot() as snapshot:
            left = snapshot.memos.get(sorted(linked - set(gone)))
        with writer.batch():
            writer.remove(ROOT, list(gone))
            for memo in left.values():
                kept = tuple(one for one in memo.supersedes if one not in gone)
                by = None if memo.superseded_by in gone else memo.superseded_by
                remaining = replace(memo, supersedes=kept, superseded_by=by)
                writer.put(memos.memo_entry(remaining, self._memories.settings))
            writer.link(ROOT, {})
            writer.drop_unused_vectors()

    def export(self) -> list[str]:
        """Every memory as a line of JSON, oldest first: all there is to know, in one order."""
        with self._memories.snapshot() as snapshot:
            return [exported(memo) for memo in snapshot.memos.all(Filter())]

    def import_(self, lines: Iterable[str], *, progress: Progress | None = None) -> Imported:
        """Add what `export` wrote. Every line is checked first: one that is wrong, and nothing is written.

        What is there already stays; importing the same lines twice changes nothing.
        """
        with self._memories.run(progress) as run:
            with self._memories.snapshot() as snapshot:
                changed, report = joined(lines, snapshot.memos.get)
            self._put(run.writer, changed)
            self._memories.embed(run)
        return report

    def embed(self, *, progress: Progress | None = None) -> int:
        """Make the vectors that are missing, or all of them anew if the index has another embedder now."""
        with self._memories.run(progress) as run:
            return self._memories.embed(run)

    def close(self) -> None:
        self._memories.close()

    def _put(self, writer: Writer, changed: Iterable[Memo]) -> None:
        entries = [memos.memo_entry(memo, self._memories.settings) for memo in changed]
        if entries:
            with writer.batch():
                if not writer.roots():
                    writer.put_root(Root(ROOT, ROOT))
                writer.put(*entries)
                writer.link(ROOT, {})  # memories are no code

    def _found(self, id: object) -> Memo:
        memo = None
        if isinstance(id, str) and id.isascii():
            with self._memories.snapshot() as snapshot:
                memo = snapshot.memos.get([id]).get(id)
        if memo is None:
            raise NotFound(
                f"there is no memory {value_shown(id)}; 'quintet recall' and 'quintet timeline' show ids",
                code="memory_not_found",
            )
        return memo


def _filter(**given: object) -> Filter:
    """The filters of `recall`, without a query."""
    if "limit" in given:
        raise UsageError("limit does not say which memories are meant; leave it out")
    return conditions(read(MEMORY.name, Params, given, {}))


def _moment(around: object) -> int:
    if around is None:
        return LATEST_MS
    if isinstance(around, bool) or not isinstance(around, int) or not 0 <= around <= LATEST_MS:
        raise UsageError(
            f"around is {around!r}; it must be the id of a memory or a time in Unix milliseconds"
        )
    return around


def _passages(response: Response) -> list[Passage]:
    answer = response.answer
    assert answer is not None
    return [answer.passages[item.best_chunk] for item in answer.ranked]
