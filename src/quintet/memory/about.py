"""What memories are about: files, lines and symbols of the index, and whether they changed since."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from quintet.collection import Collection
from quintet.memory.about_files import AboutFiles
from quintet.memory.about_names import find_subject, stored_spelling
from quintet.memory.contract import is_storable, memory_fields, subject_fields
from quintet.model.memories import FRESHNESS, About, Memo
from quintet.model.parameters import shown
from quintet.model.results import Note
from quintet.ports.reading import Root
from quintet.ranking.freshness import BEST_FIRST


class AboutCode:
    """Looks up the subjects of memories in an index and on disk."""

    def __init__(self, index: Collection) -> None:
        self._index = index

    def look_up(self, names: Sequence[str]) -> tuple[About, ...]:
        """What each name means, with the digest of what is there now."""
        if not names:
            return ()
        base = Path.cwd()
        with self._index.snapshot() as snapshot:
            files = self._files(snapshot.catalog.roots())
            subjects = [find_subject(name, snapshot.catalog, snapshot.graph, base) for name in names]
        return tuple({about.key: files.record(about) for about in subjects}.values())

    def stored_filters(self, filters: Mapping[str, object]) -> dict[str, object]:
        """The filters of a recall, with `about` as memories store it: a path can be written in many ways."""
        name = filters.get("about")
        if not isinstance(name, str) or not is_storable(name):
            return dict(filters)
        with self._index.snapshot() as snapshot:
            return {**filters, "about": stored_spelling(name, snapshot.catalog, Path.cwd())}

    def show(self, memos: Sequence[Memo]) -> list[dict[str, Any]]:
        """Memories as answers show them, with what they are about and its freshness."""
        freshness = self.freshness(memos)
        return [{**memory_fields(memo), **fields} for memo, fields in zip(memos, freshness, strict=True)]

    def freshness(self, memos: Sequence[Memo]) -> list[dict[str, Any]]:
        """The fields `about` and `freshness` of each memory: whether what it is about changed since."""
        if not any(memo.about for memo in memos):
            return [{"freshness": "Fresh"} for _ in memos]
        with self._index.snapshot() as snapshot:
            files = self._files(snapshot.catalog.roots())
        return [_freshness(memo, files) for memo in memos]

    def _files(self, roots: Sequence[Root]) -> AboutFiles:
        return AboutFiles({root.name: root.location for root in roots}, self._index.settings.max_file_bytes)


def notes_on_unknown(memo: Memo) -> list[Note]:
    """A note on each subject of a memory that neither the index nor the disk has."""
    notes: list[Note] = []
    for about in memo.about:
        if about.digest is None:
            lines = ":" + "-".join(map(str, about.lines)) if about.lines else ""
            name = shown(about.symbol or f"{about.path}{lines}")
            message = f"nothing was found under {name}, so recall cannot tell whether it changed"
            notes.append({"code": "about_unknown", "message": message})
    return notes


def _freshness(memo: Memo, files: AboutFiles) -> dict[str, Any]:
    states = [files.state(about) for about in memo.about]
    subjects = [subject_fields(*pair) for pair in zip(memo.about, states, strict=True)]
    worst = max((FRESHNESS[state] for state in states), key=BEST_FIRST.index, default="Fresh")
    return {"about": subjects, "freshness": worst}
