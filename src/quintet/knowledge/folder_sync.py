"""One sync run over a source folder: find the files that changed and write their documents in groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quintet.errors import Conflict, LimitError, UsageError
from quintet.formats.decoding import UnreadableFile
from quintet.formats.sandbox.parent import ParseLimits, Sandbox
from quintet.indexing.changes import find_changes
from quintet.indexing.document import shape, storable_time
from quintet.indexing.files import DiskFile, size_cap
from quintet.indexing.no_links import is_folder
from quintet.indexing.read import Content, read_file
from quintet.indexing.roots import SyncTarget
from quintet.indexing.sync import in_scope
from quintet.indexing.walk import walk
from quintet.knowledge.document_store import DocumentStore, IndexParts
from quintet.knowledge.documents import source_entry
from quintet.knowledge.registration import FolderSource, Registration
from quintet.knowledge.runs import Recorder
from quintet.ports.reading import KnownFile, Root
from quintet.ports.writing import Entry
from quintet.settings import Settings

GROUP = 32  # documents in one commit


@dataclass(frozen=True, slots=True)
class FolderSync:
    """One run over one source."""

    documents: DocumentStore
    base: Registration
    source: FolderSource
    parts: IndexParts
    recorder: Recorder

    @property
    def settings(self) -> Settings:
        """Without the globs of the index, which are about its own folders."""
        return replace(self.parts.settings, include=(), exclude=())

    def run(self) -> None:
        location = Path(self.source.location)
        if not is_folder(location):
            raise Conflict(
                f"the folder of source {self.source.name!r} is missing; restore it, or remove the source",
                code="source_gone",
            )
        root = Root(self.source.id, self.source.location)
        files, problems = walk(location, self.settings)
        for problem in problems:
            self.recorder.problem(problem.path, problem.reason)
        with self.documents.collection.snapshot() as snapshot:
            known = in_scope(SyncTarget(root), problems, snapshot.catalog.known(root.name))
        changes = find_changes(files, known, shape=shape(self.settings))
        self.recorder.count(scanned=len(files), deleted=len(changes.removed))
        unread = sorted((*changes.added, *changes.suspects), key=lambda file: file.path)
        with Sandbox(ParseLimits.of(self.settings)) as sandbox:
            for start in range(0, len(unread), GROUP):
                self._sync_group(unread[start : start + GROUP], root, known, sandbox)
        if changes.removed:
            self.recorder.at("remove", changes.removed[0])
            self._remove(changes.removed)
        self.recorder.at("embed")
        self.documents.embed()
        self.documents.drop_unused()

    def _sync_group(
        self, group: Sequence[DiskFile], root: Root, known: Mapping[str, KnownFile], sandbox: Sandbox
    ) -> None:
        entries, unreadable, touched = [], [], []
        for file in group:
            self.recorder.at("read", file.path)
            before = known.get(file.path)
            try:
                content = read_file(file.full_path, size_cap(file.path, self.settings))
                if before is not None and _is_same(before, content, self.settings):
                    touched.append((file.path, content))
                else:
                    entries.append(self._entry(file.path, content, sandbox))
                    self.recorder.count(changed=1)
            except (UnreadableFile, UsageError, LimitError) as error:
                self.recorder.problem(file.path, getattr(error, "reason", str(error)))
                unreadable += [file.path] if before is not None else []
        if entries:
            self.documents.put(entries, root, {})
        updated = sum(entry.document.path in known for entry in entries)
        self.recorder.count(updated_documents=updated, created_documents=len(entries) - updated)
        self._touch(root, touched)
        self._remove(unreadable)

    def _entry(self, path: str, content: Content, sandbox: Sandbox) -> Entry:
        now = self.parts.clock_ns()
        return source_entry(path, content, self.source, self.base, self.settings, now, sandbox)

    def _touch(self, root: Root, touched: Sequence[tuple[str, Content]]) -> None:
        if touched:
            now = self.parts.clock_ns()
            with self.documents.collection.writer() as writer, writer.batch():
                for path, content in touched:
                    writer.touch(root.name, path, content.size, storable_time(content.modified_ns), now)

    def _remove(self, paths: Sequence[str]) -> None:
        if paths:
            self.documents.remove(self.source.id, paths)
            self.recorder.count(deleted_documents=len(paths))


def _is_same(before: KnownFile, content: Content, settings: Settings) -> bool:
    return (before.content_hash, before.shape) == (content.sha256, shape(settings))
