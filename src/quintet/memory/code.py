"""The code that memories are about, as the index and the disk know it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from quintet.collection import Collection
from quintet.memory.contract import is_storable, memory_fields, subject_fields
from quintet.memory.subject import spelt, subject
from quintet.memory.subject_files import Subjects
from quintet.model.memories import FRESHNESS, About, Memo
from quintet.model.parameters import shown
from quintet.model.results import Note
from quintet.ports.reading import Root
from quintet.ranking.freshness import BEST_FIRST


class Code:
    def __init__(self, index: Collection) -> None:
        self._index = index

    def looked_up(self, names: Sequence[str]) -> tuple[About, ...]:
        """What each name means, and what that looks like now."""
        if not names:
            return ()
        base = Path.cwd()
        with self._index.snapshot() as snapshot:
            subjects = self._subjects(snapshot.catalog.roots())
            meant = [subject(name, snapshot.catalog, snapshot.graph, base) for name in names]
        found = {one.key: subjects.recorded(one) for one in meant}
        return tuple(found.values())

    def as_stored(self, filters: Mapping[str, object]) -> dict[str, object]:
        """The filters of a recall, with `about` as memories hold it: a path may be written in many ways."""
        name = filters.get("about")
        if not isinstance(name, str) or not is_storable(name):
            return dict(filters)
        with self._index.snapshot() as snapshot:
            return {**filters, "about": spelt(name, snapshot.catalog, Path.cwd())}

    def shown(self, memos: Sequence[Memo]) -> list[dict[str, Any]]:
        """Memories as answers show them, with whether what they are about changed since."""
        judgements = self.judged(memos)
        return [{**memory_fields(memo), **now} for memo, now in zip(memos, judgements, strict=True)]

    def judged(self, memos: Sequence[Memo]) -> list[dict[str, Any]]:
        """What each memory is about, and the freshness class that follows from it."""
        if not any(memo.about for memo in memos):
            return [{"freshness": "Fresh"} for _ in memos]
        with self._index.snapshot() as snapshot:
            subjects = self._subjects(snapshot.catalog.roots())
        return [_judged(memo, subjects) for memo in memos]

    def _subjects(self, roots: Sequence[Root]) -> Subjects:
        return Subjects({root.name: root.location for root in roots}, self._index.settings.max_file_bytes)


def unknown(memo: Memo) -> list[Note]:
    """A note on each thing that a memory is said to be about and that was not found."""
    notes: list[Note] = []
    for one in memo.about:
        if one.digest is None:
            lines = ":" + "-".join(map(str, one.lines)) if one.lines else ""
            name = shown(one.symbol or f"{one.path}{lines}")
            message = f"nothing was found under {name}, so recall cannot say whether it changed"
            notes.append({"code": "about_unknown", "message": message})
    return notes


def _judged(memo: Memo, subjects: Subjects) -> dict[str, Any]:
    states = [subjects.state(one) for one in memo.about]
    about = [subject_fields(subject, state) for subject, state in zip(memo.about, states, strict=True)]
    worst = max((FRESHNESS[state] for state in states), key=BEST_FIRST.index, default="Fresh")
    return {"about": about, "freshness": worst}
