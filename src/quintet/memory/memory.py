"""Remember, recall, forget. Nothing is overwritten: a memory is valid until another supersedes it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quintet.collection import Collection
from quintet.contracts import read
from quintet.errors import Conflict, NotFound, UsageError
from quintet.indexing.run import Progress
from quintet.memory import validation
from quintet.memory.about import AboutCode, notes_on_unknown
from quintet.memory.contract import LATEST_MS, MEMORY, Params, memory_filter
from quintet.memory.embedding import catch_up, embed_few
from quintet.memory.json_lines import ImportReport, export_line, merge_lines
from quintet.memory.memo_entry import OCCURRENCES, memo_entry, memo_id, merge_memo
from quintet.memory.near_duplicates import MAX_COMPARED, NearDuplicate, near_duplicates
from quintet.model.documents import Json, Passage
from quintet.model.filters import Filter
from quintet.model.memories import ROOT, Memo, in_order, memo_from
from quintet.model.metadata import check_metadata
from quintet.model.parameters import shown
from quintet.model.results import Note
from quintet.model.schema import Count
from quintet.ports.reading import Root
from quintet.ports.writing import Writer
from quintet.query.search import Response

MAX_BESIDE = 1_000  # memories on either side of the middle of a timeline


@dataclass(frozen=True, slots=True)
class Remembered:
    """`merged` is true if the text was remembered before; `near` are memories that say almost the same."""

    id: str
    merged: bool
    seen: Count
    near: list[NearDuplicate] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


class Memory:
    """The memory of an index folder. Safe to use from many threads and processes."""

    def __init__(self, memories: Collection, index: Collection, now_ms: Callable[[], int]) -> None:
        """`index` holds the code that memories are about."""
        self._memories = memories
        self._now_ms = now_ms
        self._code = AboutCode(index)

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
        """Store a text. When this returns it is on disk and can be recalled.

        The same text of the same kind is the same memory: it is counted again, not stored twice. `supersedes`
        is the id of an older memory that is no longer valid.
        """
        now = self._now_ms()
        memo = Memo(
            "",
            validation.check_text(text),
            validation.check_kind(kind),
            now,
            now,
            tags=validation.check_names("tags", "a tag", tags),
            about=self._code.look_up(validation.check_names("about", "what it is about", about)),
            sessions=() if session is None else (validation.check_name("a session", session),),
            metadata=check_metadata({} if metadata is None else metadata),
        )
        duplicates = self._near_duplicates(memo)
        with self._memories.run() as run:
            stored, merged = self._merge(memo)
            changed = {stored.id: stored}
            if supersedes is not None:
                changed |= self._supersede(supersedes, stored)
            self._put(run.writer, changed.values())
            notes = [*notes_on_unknown(memo), *embed_few(self._memories, run)]
        near = [duplicate for duplicate in duplicates if duplicate.id not in changed]
        return Remembered(stored.id, merged, stored.seen, near, notes)

    def _merge(self, memo: Memo) -> tuple[Memo, bool]:
        """The memory with its id, merged into a valid memory with the same text if there is one."""
        with self._memories.snapshot() as snapshot:
            for occurrence in range(OCCURRENCES):
                id = memo_id(memo.kind, memo.text, occurrence)
                before = snapshot.memos.get([id]).get(id)
                if before is None:
                    return replace(memo, id=id), False
                if before.valid_until_ms is None:
                    last_seen = max(before.last_seen_ms, memo.created_ms)  # a clock may go back
                    sessions = in_order((*before.sessions, *memo.sessions))
                    again = replace(before, seen=before.seen + 1, last_seen_ms=last_seen, sessions=sessions)
                    return merge_memo(again, memo.tags, memo.about, memo.metadata), True
        raise Conflict(f"this text was superseded {OCCURRENCES} times; write it in other words")

    def _near_duplicates(self, memo: Memo) -> list[NearDuplicate]:
        with self._memories.snapshot() as snapshot:
            response = self._memories.search_in(snapshot, memo.text, MEMORY, {"limit": MAX_COMPARED})
            return near_duplicates(memo.text, response, snapshot.text.tokens)

    def supersede(self, old: str, by: str) -> None:
        """Let memory `by` replace `old`, which is no longer valid from now on."""
        with self._memories.writer() as writer:
            self._put(writer, self._supersede(old, self._find(by)).values())

    def _supersede(self, old: str, newer: Memo) -> dict[str, Memo]:
        """Both memories as they are after `newer` replaced `old`."""
        if old == newer.id:
            raise UsageError(f"memory {old} cannot supersede itself; name another")
        older = self._find(old)
        for memo, action in ((older, "be superseded again"), (newer, "supersede another")):
            if memo.valid_until_ms is not None:
                by = f" by {memo.superseded_by}" if memo.superseded_by else ""
                raise Conflict(
                    f"memory {memo.id} was superseded{by} and cannot {action}; name one that is still valid"
                )
        until = max(self._now_ms(), older.created_ms)
        return {
            newer.id: replace(newer, supersedes=(*newer.supersedes, older.id)),
            older.id: replace(older, superseded_by=newer.id, valid_until_ms=until),
        }

    def recall(self, query: str, **params: object) -> Response:
        """The memories that match best. `params`: limit, kind, tags, session, about, since, until,
        include_superseded."""
        params = self._code.stored_filters(params)
        notes = catch_up(self._memories)
        response = self._memories.search(query, MEMORY, params)
        memos = [memo_from(passage.document.metadata) for passage in _passages(response)]
        pairs = zip(response.body["results"], self._code.freshness(memos), strict=True)
        results = [{**result, **freshness} for result, freshness in pairs]
        return replace(response, body={**response.body, "results": results}, notes=[*notes, *response.notes])

    def get(self, id: str) -> dict[str, Any]:
        """A memory by its id, whether it is still valid or not."""
        return self._code.show([self._find(id)])[0]

    def timeline(
        self,
        around: str | int | None = None,
        before: int = 5,
        after: int = 5,
        *,
        kind: str | None = None,
        session: str | None = None,
    ) -> list[dict[str, Any]]:
        """Memories in the order of time, oldest first, around a memory or a time (Unix milliseconds).

        Without `around`, the latest. Superseded memories are included.
        """
        for name, count in (("before", before), ("after", after)):
            if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MAX_BESIDE:
                raise UsageError(f"{name} is {count!r}; it must be a whole number from 0 to {MAX_BESIDE}")
        filter = _filter(kind=kind, session=session, include_superseded=True)
        middle = [self._find(around)] if isinstance(around, str) else []
        moment = (middle[0].created_ms, middle[0].id) if middle else (_moment(around), "")
        with self._memories.snapshot() as snapshot:
            earlier = snapshot.memos.before(filter, *moment, before)
            later = snapshot.memos.after(filter, *moment, after)
        return self._code.show([*earlier, *middle, *later])

    def forget(self, id: str | None = None, **filters: object) -> list[str]:
        """Remove a memory, or all that match the filters of `recall`; returns their ids.

        This cannot be undone. Memories that a removed one superseded stay superseded.
        """
        if (id is None) == (not filters):
            raise UsageError("give either the id of the memory to forget, or filters")
        with self._memories.writer() as writer:
            if id is not None:
                gone = {id: self._find(id)}
            else:
                with self._memories.snapshot() as snapshot:
                    filter = _filter(**{"include_superseded": True, **self._code.stored_filters(filters)})
                    gone = {memo.id: memo for memo in snapshot.memos.all(filter)}
            self._remove(writer, gone)
        return list(gone)

    def _remove(self, writer: Writer, gone: Mapping[str, Memo]) -> None:
        linked = {link for memo in gone.values() for link in (*memo.supersedes, memo.superseded_by) if link}
        with self._memories.snapshot() as snapshot:
            others = snapshot.memos.get(sorted(linked - set(gone)))
        with writer.batch():
            writer.remove(ROOT, list(gone))
            for memo in others.values():
                supersedes = tuple(id for id in memo.supersedes if id not in gone)
                by = None if memo.superseded_by in gone else memo.superseded_by
                unlinked = replace(memo, supersedes=supersedes, superseded_by=by)
                writer.put(memo_entry(unlinked, self._memories.settings))
            writer.graph.link(ROOT, {})
            writer.vectors.drop_unused()

    def export(self) -> list[str]:
        """Every memory as a line of JSON, oldest first. A line holds everything that is stored."""
        with self._memories.snapshot() as snapshot:
            return [export_line(memo) for memo in snapshot.memos.all(Filter())]

    def import_(self, lines: Iterable[str], *, progress: Progress | None = None) -> ImportReport:
        """Add the lines of an `export`. If any line is invalid, nothing is written.

        Existing memories stay; importing the same lines twice changes nothing.
        """
        with self._memories.run(progress) as run:
            with self._memories.snapshot() as snapshot:
                changed, report = merge_lines(lines, snapshot.memos.get)
            self._put(run.writer, changed)
            self._memories.embed(run)
        return report

    def embed(self, *, progress: Progress | None = None) -> int:
        """Make the vectors that are missing, or all of them if the index has a new embedder."""
        with self._memories.run(progress) as run:
            return self._memories.embed(run)

    def close(self) -> None:
        self._memories.close()

    def _put(self, writer: Writer, changed: Iterable[Memo]) -> None:
        entries = [memo_entry(memo, self._memories.settings) for memo in changed]
        if entries:
            with writer.batch():
                if not writer.roots():
                    writer.put_root(Root(ROOT, ROOT))
                writer.put(*entries)
                writer.graph.link(ROOT, {})  # memories have no code graph

    def _find(self, id: object) -> Memo:
        memo = None
        if isinstance(id, str) and id.isascii():
            with self._memories.snapshot() as snapshot:
                memo = snapshot.memos.get([id]).get(id)
        if memo is None:
            raise NotFound(
                f"there is no memory {shown(id)}; 'quintet recall' and 'quintet timeline' show ids",
                code="memory_not_found",
            )
        return memo


def _filter(**given: object) -> Filter:
    """The filters of `recall`, without a query."""
    if "limit" in given:
        raise UsageError("limit does not select memories; leave it out")
    return memory_filter(read(MEMORY.name, Params, given, {}))


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
