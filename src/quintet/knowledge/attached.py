"""The sources of a knowledge base: which folders it has, how their runs went, and what that makes of it."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from quintet.errors import Conflict, LimitError, NotFound, UsageError
from quintet.indexing.allowed_folders import resolve_allowed
from quintet.knowledge.document_store import DocumentStore, IndexParts
from quintet.knowledge.documents import UPLOADS
from quintet.knowledge.registry import FolderSource, Registration, checked_title
from quintet.knowledge.results import BaseState, SourceFields
from quintet.knowledge.runs import RunLog, SyncProgress, SyncRun
from quintet.knowledge.sources import FolderSync
from quintet.model.parameters import shown

MOST_SOURCES = 100

Change = Callable[[Registration], Registration]


class FolderSources:
    """`change` replaces what is registered about the base."""

    def __init__(
        self,
        documents: DocumentStore,
        parts: IndexParts,
        log: RunLog,
        registered: Callable[[], Registration],
        change: Callable[[Change], None],
    ) -> None:
        self._documents = documents
        self._parts = parts
        self._log = log
        self._registered = registered
        self._change = change

    def add(self, directory: str, name: str | None, allowed: Iterable[Path] | None) -> SourceFields:
        """Without `allowed`, any folder of the machine: whoever calls has it all the same."""
        everywhere = [Path(Path.cwd().anchor)]
        location = resolve_allowed(directory, everywhere if allowed is None else allowed, Path.cwd())
        if not location.is_dir():
            raise UsageError(f"{directory!r} is not a folder; name one", code="invalid_path")
        title = checked_title((location.name or "root") if name is None else name, "name")
        self._change(lambda base: _with(base, title, str(location)))
        return next(one for one in self.shown() if one["id"] == self.at(location))

    def shown(self) -> list[SourceFields]:
        with self._documents.collection.snapshot() as snapshot:
            by_root = snapshot.documents.counts()
        return [
            {
                "id": one.id,
                "name": one.name,
                "type": "local_directory",
                "documents": by_root.get(one.id, 0),
            }
            for one in self._registered().sources
        ]

    def at(self, directory: Path) -> str | None:
        location = str(directory.resolve())
        return next((one.id for one in self._registered().sources if one.location == location), None)

    def one(self, id: str) -> FolderSource:
        base = self._registered()
        found = next((one for one in base.sources if one.id == id), None)
        if found is None:
            raise NotFound(f"knowledge base {base.slug!r} has no source {shown(id)}", code="unknown_source")
        return found

    def remove(self, id: str) -> int:
        source = self.one(id)
        with self._documents.store.unless_deleted(), self._log.exclusive():
            # The documents go first: without their source nobody could remove them.
            gone = self._documents.drop_root(source.id)
            self._change(lambda base: replace(base, sources=tuple(s for s in base.sources if s != source)))
        return gone

    def sync(self, id: str, progress: SyncProgress | None) -> SyncRun:
        base, source = self._registered(), self.one(id)
        with (
            self._documents.store.unless_deleted(),
            self._log.running(source.id, progress or _no_progress) as record,
        ):
            FolderSync(self._documents, base, source, self._parts, record).run()
        return record.run

    def runs(self, source_id: str | None = None) -> list[SyncRun]:
        with self._documents.store.unless_deleted():
            return [run for run in self._log.latest() if source_id in (None, run.source_id)]

    def state(self) -> BaseState:
        ids = {one.id for one in self._registered().sources}
        with self._documents.store.unless_deleted():
            states = {run.state for run in self._log.last_of(ids)}
        return "syncing" if "running" in states else "error" if "failed" in states else "ready"


def _with(base: Registration, name: str, location: str) -> Registration:
    if any(one.location == location for one in base.sources):
        raise Conflict(f"{name!r} is a source of this knowledge base already", code="source_exists")
    if len(base.sources) >= MOST_SOURCES:
        raise LimitError(f"a knowledge base has at most {MOST_SOURCES} sources; remove one first")
    return replace(base, sources=(*base.sources, FolderSource(_source_id(name, base), name, location)))


def _source_id(name: str, base: Registration) -> str:
    """The name as a short word, with a number behind it where another source or we have it."""
    word = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "source"
    taken = {UPLOADS, *(one.id for one in base.sources)}
    numbered = (word if number == 1 else f"{word}-{number}" for number in range(1, MOST_SOURCES + 3))
    return next(one for one in numbered if one not in taken)


def _no_progress(run: SyncRun) -> None:
    pass
