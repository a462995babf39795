"""The sources of a knowledge base: its folders, their runs, and the state of the base that follows."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from quintet.errors import Conflict, LimitError, NotFound, UsageError
from quintet.indexing.allowed_folders import resolve_allowed
from quintet.knowledge.document_store import DocumentStore, IndexParts
from quintet.knowledge.documents import UPLOADS
from quintet.knowledge.folder_sync import FolderSync
from quintet.knowledge.registration import FolderSource, Registration, check_title
from quintet.knowledge.results import BaseState, SourceFields
from quintet.knowledge.runs import RunLog, SyncProgress, SyncRun
from quintet.model.parameters import shown

MAX_SOURCES = 100

Change = Callable[[Registration], Registration]


class FolderSources:
    """The folders whose files are documents of one base. `change` replaces its registration."""

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
        """Without `allowed` any folder may be a source: the caller can read it anyway."""
        everywhere = [Path(Path.cwd().anchor)]
        location = resolve_allowed(directory, everywhere if allowed is None else allowed, Path.cwd())
        if not location.is_dir():
            raise UsageError(f"{directory!r} is not a folder; name one", code="invalid_path")
        title = check_title((location.name or "root") if name is None else name, "name")
        self._change(lambda base: _add_source(base, title, str(location)))
        return next(source for source in self.describe() if source["id"] == self.id_of(location))

    def describe(self) -> list[SourceFields]:
        with self._documents.collection.snapshot() as snapshot:
            by_root = snapshot.documents.counts()
        return [
            {
                "id": source.id,
                "name": source.name,
                "type": "local_directory",
                "documents": by_root.get(source.id, 0),
            }
            for source in self._registered().sources
        ]

    def id_of(self, directory: Path) -> str | None:
        location = str(directory.resolve())
        sources = self._registered().sources
        return next((source.id for source in sources if source.location == location), None)

    def get(self, id: str) -> FolderSource:
        base = self._registered()
        for source in base.sources:
            if source.id == id:
                return source
        raise NotFound(f"knowledge base {base.slug!r} has no source {shown(id)}", code="unknown_source")

    def remove(self, id: str) -> int:
        source = self.get(id)
        with self._documents.store.unless_deleted(), self._log.exclusive():
            # The documents go first: without their source nobody could remove them.
            count = self._documents.drop_root(source.id)
            self._change(lambda base: replace(base, sources=tuple(s for s in base.sources if s != source)))
        return count

    def sync(self, id: str, progress: SyncProgress | None) -> SyncRun:
        base, source = self._registered(), self.get(id)
        with (
            self._documents.store.unless_deleted(),
            self._log.record(source.id, progress or _no_progress) as recorder,
        ):
            FolderSync(self._documents, base, source, self._parts, recorder).run()
        return recorder.run

    def runs(self, source_id: str | None = None) -> list[SyncRun]:
        with self._documents.store.unless_deleted():
            return [run for run in self._log.latest() if source_id in (None, run.source_id)]

    def state(self) -> BaseState:
        """An interrupted run leaves every document whole, old or new, so the base stays ready."""
        states = {run.state for run in self._last_runs()}
        return "syncing" if "running" in states else "error" if "failed" in states else "ready"

    def interrupted(self) -> list[str]:
        """The sources whose last run was interrupted, in the order of their ids."""
        return sorted(run.source_id for run in self._last_runs() if run.state == "interrupted")

    def _last_runs(self) -> list[SyncRun]:
        ids = {source.id for source in self._registered().sources}
        with self._documents.store.unless_deleted():
            return self._log.last_of(ids)


def _add_source(base: Registration, name: str, location: str) -> Registration:
    if any(source.location == location for source in base.sources):
        raise Conflict(f"{name!r} is already a source of this knowledge base", code="source_exists")
    if len(base.sources) >= MAX_SOURCES:
        raise LimitError(f"a knowledge base has at most {MAX_SOURCES} sources; remove one first")
    return replace(base, sources=(*base.sources, FolderSource(_source_id(name, base), name, location)))


def _source_id(name: str, base: Registration) -> str:
    """The name as a short word, with a number appended if the word is taken."""
    word = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "source"
    taken = {UPLOADS, *(source.id for source in base.sources)}
    candidates = (word if number == 1 else f"{word}-{number}" for number in range(1, MAX_SOURCES + 3))
    return next(candidate for candidate in candidates if candidate not in taken)


def _no_progress(run: SyncRun) -> None:
    pass
