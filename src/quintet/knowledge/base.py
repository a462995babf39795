"""One knowledge base: put, find, change and remove its documents, and keep it in step with its sources."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from quintet.contracts.knowledge import for_base, kept
from quintet.errors import Conflict, LimitError, NotFound, UsageError
from quintet.formats.decoding import UnreadableFile
from quintet.indexing.files import size_cap
from quintet.indexing.read import TOO_LARGE, read_file
from quintet.knowledge import registry
from quintet.knowledge.attached import FolderSources
from quintet.knowledge.document_store import DocumentStore, IndexParts
from quintet.knowledge.documents import UPLOADS, Outcome, Upload, as_given, shown_document
from quintet.knowledge.files import SourceFile, described, file_of_source
from quintet.knowledge.putting import Putting, managed
from quintet.knowledge.registry import Registration, shown_properties
from quintet.knowledge.results import BaseFields, BaseState, DocumentFields, SourceFields
from quintet.knowledge.runs import RunLog, SyncProgress, SyncRun
from quintet.knowledge.sources import GROUP
from quintet.model.documents import Json, digest
from quintet.model.parameters import shown
from quintet.ports.documents import StoredDocument
from quintet.query.search import Response

MOST_DOCUMENTS = 1_000  # in one call
MOST_LISTED = 1_000
SAME: Final[Any] = object()  # what `update` leaves as it is


class KnowledgeBase:
    """Safe to use from many threads and processes. A deleted one is `unknown_index` from then on."""

    def __init__(
        self, folder: Path, registration: Registration, parts: IndexParts, changing: Callable[[], Any]
    ) -> None:
        """`changing` guards what is registered about all bases."""
        self.slug = registration.slug
        self.index_name = registration.index_name
        self.uid = registration.uid
        self._folder = folder
        self._parts = parts
        self._changing = changing
        self._contract = for_base(registration.properties)
        self._documents = DocumentStore(folder, self.uid, parts, self.registered)
        self._putting = Putting(self._documents, parts)
        log = RunLog(folder, parts.now_ms)
        self._sources = FolderSources(self._documents, parts, log, self.registered, self.change)

    def registered(self) -> Registration:
        found = registry.read(self._folder)
        if found is None or found.uid != self.uid:
            raise unknown(self.slug)
        return found

    def change(self, change: Callable[[Registration], Registration]) -> None:
        with self._changing():
            registry.write(self._folder, change(self.registered()))

    def describe(self) -> BaseFields:
        base = self.registered()
        counts = self._documents.collection.counts()
        return {
            "id": base.slug,
            "index": base.index_name,
            "title": base.title,
            "state": self.state(),
            "archived": base.archived,
            "created_ms": base.created_ms,
            "properties": shown_properties(base.properties),
            "documents": counts.documents,
            "chunks": counts.chunks,
            "embedded": counts.embedded,
            "sources": self.sources(),
        }

    def search(self, query: str, **params: object) -> Response:
        """Contract knowledge over the documents of this base alone."""
        self._check_ready()
        given = {**params, "index": self.index_name}
        return self._documents.collection.search(query, self._contract, given)

    def _check_ready(self) -> None:
        archived, state = self.registered().archived, self.state()
        if archived or state != "ready":
            ways_out = {
                "archived": "unarchive it first",
                "syncing": "try again when the run of its source has finished",
                "error": "sync its source again, or remove that source",
            }
            told = "archived" if archived else f"in state {state!r}"
            way_out = ways_out["archived" if archived else state]
            raise Conflict(
                f"knowledge base {self.slug!r} is {told} and cannot be searched; {way_out}",
                code="knowledge_base_not_ready",
                details={"state": state, "archived": archived},
            )

    def put(
        self,
        text: str | None = None,
        *,
        content: str | None = None,
        title: str | None = None,
        uri: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        id: str | None = None,
        mime: str = "text/plain",
    ) -> Outcome:
        """Keep a text as a document, under its own id or one that hangs on what it says."""
        given = content if text is None else text
        if not isinstance(given, str) or (text is not None and content is not None):
            raise UsageError("a document is given as text or as content, a string: one of them, not both")
        data = given.encode("utf-8", "replace")
        return self._put_one(Upload(data, None, mime, title, uri, metadata, id))

    def put_file(
        self,
        data: bytes | str | os.PathLike[str],
        name: str | None = None,
        *,
        mime: str | None = None,
        title: str | None = None,
        uri: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        id: str | None = None,
    ) -> Outcome:
        """Keep a file as a document; its name, or else `mime`, says what it is."""
        if not isinstance(data, bytes):
            name = Path(data).name if name is None else name
            data = self._read(Path(data), name)
        if name is None:
            raise UsageError("a file needs a name, whose ending says what it is, such as 'report.pdf'")
        return self._put_one(Upload(data, name, mime, title, uri, metadata, id))

    def _read(self, file: Path, name: str) -> bytes:
        try:
            return read_file(file, size_cap(name, self._parts.settings)).data
        except UnreadableFile as error:
            if error.reason == TOO_LARGE:
                most = size_cap(name, self._parts.settings)
                raise LimitError(f"{name!r} has more than {most} bytes: split it") from error
            raise UsageError(f"{name!r} cannot be taken: {error.reason}", code="invalid_path") from error

    def _put_one(self, upload: Upload, instead_of: StoredDocument | None = None) -> Outcome:
        (outcome,) = self._putting.put([upload], self.registered(), strict=True, instead_of=instead_of)
        return outcome

    def put_many(
        self, uploads: Sequence[Upload], progress: Callable[[int, int], None] | None = None
    ) -> list[Outcome]:
        """Keep several documents, each whole or not at all. One that is refused does not stop the rest."""
        if len(uploads) > MOST_DOCUMENTS:
            raise LimitError(
                f"{len(uploads)} documents were given; one call takes at most {MOST_DOCUMENTS}: give fewer",
                code="too_many",
            )
        outcomes: list[Outcome] = []
        for start in range(0, len(uploads), GROUP):
            outcomes += self._putting.put(uploads[start : start + GROUP], self.registered())
            if progress:
                progress(len(outcomes), len(uploads))
        return outcomes

    def documents(self, after: str | None = None, limit: int = 100) -> list[DocumentFields]:
        """Documents by id; `after` is the last id of the page before."""
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_LISTED:
            raise UsageError(f"limit is {shown(limit)}; it must be a whole number from 1 to {MOST_LISTED}")
        self.registered()
        with self._documents.collection.snapshot() as snapshot:
            return [shown_document(one) for one in snapshot.documents.page(after or "", limit)]

    def get(self, id: str) -> DocumentFields:
        return shown_document(self._found(id))

    def update(
        self,
        id: str,
        *,
        title: str | None = SAME,
        uri: str | None = SAME,
        metadata: Mapping[str, Json] | None = SAME,
    ) -> Outcome:
        """Change what is said about a document; `put` with its id changes what it says."""
        found = self._uploaded(id)
        location = self._documents.originals.location(found.document.content_hash)
        upload = as_given(found, self._read(location, str(kept(found.document)["source_name"] or "text")))
        given: dict[str, Any] = {"title": title, "uri": uri, "metadata": metadata}
        told = {name: value for name, value in given.items() if value is not SAME}
        return self._put_one(replace(upload, **told), instead_of=found)

    def delete(self, id: str) -> None:
        """Remove a document, its passages, its vectors and its original."""
        self._documents.remove(UPLOADS, [self._uploaded(id).document.path])

    def source_file(self, id: str) -> SourceFile:
        """The file a document was made from: the original of an upload, or the source's file as it is."""
        document = self._found(id).document
        if document.root == UPLOADS:
            name = str(kept(document)["source_name"] or f"{id}.txt")
            return described(document, self._documents.originals.location(document.content_hash), name)
        folder = self._sources.one(document.root).location
        return file_of_source(document, folder, self._parts.settings.max_document_bytes)

    def _found(self, id: object) -> StoredDocument:
        self.registered()
        if isinstance(id, str) and id.isascii():
            with self._documents.collection.snapshot() as snapshot:
                candidates = [digest(UPLOADS, id), id]
                found = snapshot.documents.get(candidates)
            for candidate in candidates:
                if candidate in found and kept(found[candidate].document).get("document_id") == id:
                    return found[candidate]
        raise NotFound(f"knowledge base {self.slug!r} has no document {shown(id)}", code="document_not_found")

    def _uploaded(self, id: object) -> StoredDocument:
        found = self._found(id)
        if found.document.root != UPLOADS:
            raise managed(found)
        return found

    def add_source(
        self,
        directory: str | os.PathLike[str],
        name: str | None = None,
        *,
        allowed: Iterable[Path] | None = None,
    ) -> SourceFields:
        """Make a folder a source; `sync_source` brings its files in. `allowed` are folders it may lie in."""
        return self._sources.add(os.fspath(directory), name, allowed)

    def sources(self) -> list[SourceFields]:
        return self._sources.shown()

    def source_at(self, directory: str | os.PathLike[str]) -> str | None:
        """The id of the source that is this folder, if it is one."""
        return self._sources.at(Path(directory))

    def remove_source(self, id: str) -> int:
        """Forget a source and its documents; how many went. The files stay where they are."""
        return self._sources.remove(id)

    def sync_source(self, id: str, *, progress: SyncProgress | None = None) -> SyncRun:
        """Bring the documents of a source up to date with its folder.

        An exception raised from `progress` ends the run with what was committed so far.
        """
        return self._sources.sync(id, progress)

    def runs(self, source_id: str | None = None, limit: int = 20) -> list[SyncRun]:
        """Recorded runs, latest first."""
        self.registered()
        return self._sources.runs(source_id)[:limit]

    def state(self) -> BaseState:
        """ready; syncing while a source is looked through; error if the last run of a source failed."""
        return self._sources.state()

    def embed(self) -> int:
        """Make vectors that are missing, or all anew where the index has got another embedder."""
        self.registered()
        return self._documents.embed()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """While this is held nobody writes documents."""
        with self._documents.collection.writer():
            yield

    def rest(self) -> None:
        """Let go of files that nobody is reading or writing; whoever still has this base opens them again."""
        self._documents.store.rest()

    def close(self) -> None:
        self._documents.store.close()


def unknown(name: object) -> NotFound:
    return NotFound(
        f"there is no knowledge base {shown(name)}; 'quintet kb list' lists them", code="unknown_index"
    )
