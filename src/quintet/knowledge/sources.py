"""A folder as a source of documents: looked through, compared, and brought into the base group by group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from quintet.errors import Conflict, LimitError, UsageError
from quintet.formats.decoding import UnreadableFile
from quintet.formats.sandbox.parent import ParseLimits, Sandbox
from quintet.indexing.changes import find_changes
from quintet.indexing.document import shape, storable_time
from quintet.indexing.files import DiskFile, size_cap
from quintet.indexing.read import Content, read_file
from quintet.indexing.roots import SyncTarget
from quintet.indexing.sync import in_scope
from quintet.indexing.walk import walk
from quintet.knowledge.document_store import DocumentStore, IndexParts
from quintet.knowledge.documents import source_entry
from quintet.knowledge.registry import FolderSource, Registration
from quintet.knowledge.runs import Recorder
from quintet.ports.reading import KnownFile, Root
from quintet.ports.writing import Entry
from quintet.settings import Settings

GROUP = 32  # documents in one commit


class FolderSync:
    """One run over one source."""

    def __init__(
        self,
        documents: DocumentStore,
        base: Registration,
        source: FolderSource,
        parts: IndexParts,
        record: Recorder,
    ) -> None:
        self._documents = documents
        self._base = base
        self._source = source
        self._parts = parts
        self._record = record
        # Which files of the index's own folders count says nothing about this folder.
        self._settings: Settings = replace(parts.settings, include=(), exclude=())

    def run(self) -> None:
        location = Path(self._source.location)
        if not location.is_dir():
            raise Conflict(
                f"the folder of source {self._source.name!r} is gone; bring it back, or remove the source",
                code="source_gone",
            )
        root = Root(self._source.id, self._source.location)
        found, problems = walk(location, self._settings)
        for problem in problems:
            self._record.problem(problem.path, problem.reason)
        with self._documents.collection.snapshot() as snapshot:
            known = in_scope(SyncTarget(root), problems, snapshot.catalog.known(root.name))
        todo = find_changes(found, known, shape=shape(self._settings))
        self._record.count(scanned=len(found), deleted=len(todo.removed))
        files = sorted((*todo.added, *todo.suspects), key=lambda file: file.path)
        with Sandbox(ParseLimits.of(self._settings)) as isolated:
            for group in _groups(files):
                self._bring(group, root, known, isolated)
        if todo.removed:
            self._record.at("remove", todo.removed[0])
            self._remove(todo.removed)
        self._record.at("embed")
        self._documents.embed()
        self._documents.drop_unused()

    def _bring(
        self, group: Sequence[DiskFile], root: Root, known: Mapping[str, KnownFile], isolated: Sandbox
    ) -> None:
        entries, lost, touched = [], [], []
        for file in group:
            self._record.at("read", file.path)
            before = known.get(file.path)
            try:
                content = read_file(file.full_path, size_cap(file.path, self._settings))
                if before is not None and _same(before, content, self._settings):
                    touched.append((file.path, content))
                else:
                    entries.append(self._entry(file.path, content, isolated))
                    self._record.count(changed=1)
            except (UnreadableFile, UsageError, LimitError) as error:
                self._record.problem(file.path, getattr(error, "reason", str(error)))
                lost += [file.path] if before is not None else []
        if entries:
            self._documents.put(entries, root, {})
        updated = sum(entry.document.path in known for entry in entries)
        self._record.count(updated_documents=updated, created_documents=len(entries) - updated)
        self._touch(root, touched)
        self._remove(lost)

    def _entry(self, path: str, content: Content, isolated: Sandbox) -> Entry:
        now = self._parts.clock_ns()
        return source_entry(path, content, self._source, self._base, self._settings, now, isolated)

    def _touch(self, root: Root, touched: Sequence[tuple[str, Content]]) -> None:
        if touched:
            now = self._parts.clock_ns()
            with self._documents.collection.writer() as writer, writer.batch():
                for path, content in touched:
                    writer.touch(root.name, path, content.size, storable_time(content.modified_ns), now)

    def _remove(self, paths: Sequence[str]) -> None:
        if paths:
            self._documents.remove(self._source.id, paths)
            self._record.count(deleted_documents=len(paths))


def _same(before: KnownFile, content: Content, settings: Settings) -> bool:
    return (before.content_hash, before.shape) == (content.sha256, shape(settings))


def _groups(files: Sequence[DiskFile]) -> Iterator[Sequence[DiskFile]]:
    for start in range(0, len(files), GROUP):
        yield files[start : start + GROUP]
