"""One knowledge base: add, search, change and remove documents, and sync its sources."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from quintet.contracts import knowledge as retrieval
from quintet.contracts import quintet as house
from quintet.contracts.bases import kept
from quintet.errors import Conflict, LimitError, NotFound, StoreError, UsageError
from quintet.formats.decoding import UnreadableFile
from quintet.indexing.files import size_cap
from quintet.indexing.read import TOO_LARGE, read_file
from quintet.knowledge.document_store import DocumentStore, IndexParts
from quintet.knowledge.documents import (
    UPLOADS,
    Outcome,
    Upload,
    check_upload,
    original_upload,
    show_document,
)
from quintet.knowledge.files import SourceFile, describe_file, describe_source_file
from quintet.knowledge.folder_sources import FolderSources
from quintet.knowledge.folder_sync import GROUP
from quintet.knowledge.registration import Registration, RegistrationFile, check_values, list_properties
from quintet.knowledge.results import BaseFields, BaseState, DocumentFields, SourceFields
from quintet.knowledge.runs import RunLog, SyncProgress, SyncRun
from quintet.knowledge.uploads import Uploader, managed_by_source
from quintet.model.documents import Json, digest
from quintet.model.parameters import shown
from quintet.model.results import Note
from quintet.ports.documents import StoredDocument
from quintet.query.search import Response

MAX_DOCUMENTS = 1_000  # in one call
MAX_LISTED = 1_000
SAME: Final[Any] = object()  # tells `update` to keep a field


class KnowledgeBase:
    """Safe to use from many threads and processes. After it is deleted, every call raises `unknown_index`."""

    def __init__(
        self, folder: Path, registration: Registration, parts: IndexParts, changing: Callable[[], Any]
    ) -> None:
        """`changing` is held while registrations change."""
        self.slug = registration.slug
        self.index_name = registration.index_name
        self.uid = registration.uid
        self._file = RegistrationFile(folder)
        self._parts = parts
        self._changing = changing
        in_base = (module.for_base(registration.properties) for module in (retrieval, house))
        self._contracts = {contract.name: contract for contract in in_base}
        self._documents = DocumentStore(folder, self.uid, parts, self.registered)
        self._uploader = Uploader(self._documents, parts)
        log = RunLog(folder, parts.now_ms)
        self._sources = FolderSources(self._documents, parts, log, self.registered, self.change)

    def __repr__(self) -> str:
        return f"KnowledgeBase({self.slug!r})"

    def registered(self) -> Registration:
        """The current registration. Raises `unknown_index` if the base was deleted."""
        registration = self._file.read()
        if registration is None or registration.uid != self.uid:
            raise unknown(self.slug)
        return registration

    def change(self, change: Callable[[Registration], Registration]) -> None:
        with self._changing():
            self._file.write(change(self.registered()))

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
            "properties": list_properties(base.properties),
            "documents": counts.documents,
            "chunks": counts.chunks,
            "embedded": counts.embedded,
            "sources": self.sources(),
        }

    def search(self, query: str, contract: str = retrieval.CONTRACT.name, **params: object) -> Response:
        """Search the documents of this base by contract knowledge, or by the house ranking, quintet."""
        if contract not in self._contracts:
            raise UsageError(
                f"a knowledge base is not searched by contract {shown(contract)}; "
                f"the contracts are: {', '.join(self._contracts)}",
                code="unknown_contract",
            )
        self._check_ready()
        params = {**params, "index": self.index_name}
        response = self._documents.collection.search(query, self._contracts[contract], params)
        if interrupted := self.interrupted():
            return replace(response, notes=[*response.notes, _partly_synced(interrupted)])
        return response

    def _check_ready(self) -> None:
        archived, state = self.registered().archived, self.state()
        if archived or state != "ready":
            ways_out = {
                "archived": "unarchive it first",
                "syncing": "try again when the run of its source has finished",
                "error": "sync its source again, or remove that source",
            }
            condition = "archived" if archived else f"in state {state!r}"
            way_out = ways_out["archived" if archived else state]
            raise Conflict(
                f"knowledge base {self.slug!r} is {condition} and cannot be searched; {way_out}",
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
        """Add a text as a document. Without an `id`, the id is derived from the text."""
        string = content if text is None else text
        if not isinstance(string, str) or (text is not None and content is not None):
            raise UsageError("give either text or content, a string, and not both")
        data = string.encode("utf-8", "replace")
        return self._put_one(Upload(data, None, mime, title, uri, metadata, id))

    def check(self, upload: Upload) -> None:
        """Raise what storing this upload would raise about its size and its description."""
        checked = check_upload(upload, self._parts.settings, 0)
        check_values(self.registered().properties, checked.metadata)

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
        """Add a file as a document. Its name decides the format, or else `mime` does."""
        if not isinstance(data, bytes):
            name = Path(data).name if name is None else name
            data = self._read(Path(data), name)
        if name is None:
            raise UsageError("a file needs a name that decides its format, such as 'report.pdf'")
        return self._put_one(Upload(data, name, mime, title, uri, metadata, id))

    def _read(self, file: Path, name: str) -> bytes:
        try:
            place = file.parent.resolve() / file.name
            return read_file(place, size_cap(name, self._parts.settings)).data
        except UnreadableFile as error:
            if error.reason == TOO_LARGE:
                max_bytes = size_cap(name, self._parts.settings)
                raise LimitError(f"{name!r} has more than {max_bytes} bytes: split it") from error
            raise UsageError(f"{name!r} cannot be read: {error.reason}", code="invalid_path") from error

    def _put_one(self, upload: Upload, instead_of: StoredDocument | None = None) -> Outcome:
        (outcome,) = self._uploader.put([upload], self.registered(), strict=True, instead_of=instead_of)
        return outcome

    def put_many(
        self,
        uploads: Sequence[Upload],
        progress: Callable[[int, int], None] | None = None,
        *,
        step: Callable[[], None] | None = None,
    ) -> list[Outcome]:
        """Add several documents, each completely or not at all. A refused document does not stop the rest.

        `progress` is called after each commit with the count of documents so far and of all, `step` after
        each document is parsed. An exception from either ends the call with what was committed so far.
        """
        if len(uploads) > MAX_DOCUMENTS:
            raise LimitError(
                f"{len(uploads)} documents were given; one call accepts at most {MAX_DOCUMENTS}: give fewer",
                code="too_many",
            )
        outcomes: list[Outcome] = []
        for start in range(0, len(uploads), GROUP):
            group = uploads[start : start + GROUP]
            outcomes += self._uploader.put(group, self.registered(), step=step)
            if progress:
                progress(len(outcomes), len(uploads))
        return outcomes

    def documents(self, after: str | None = None, limit: int = 100) -> list[DocumentFields]:
        """A page of documents in the order of their ids; `after` is the last id of the page before."""
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LISTED:
            raise UsageError(f"limit is {shown(limit)}; it must be a whole number from 1 to {MAX_LISTED}")
        self.registered()
        with self._documents.collection.snapshot() as snapshot:
            return [show_document(document) for document in snapshot.documents.page(after or "", limit)]

    def get(self, id: str) -> DocumentFields:
        return show_document(self._find(id))

    def update(
        self,
        id: str,
        *,
        title: str | None = SAME,
        uri: str | None = SAME,
        metadata: Mapping[str, Json] | None = SAME,
    ) -> Outcome:
        """Change the title, address or metadata of a document. To change its content, `put` it again."""
        stored = self._find_upload(id)
        location = self._documents.originals.location(stored.document.content_hash)
        name = str(kept(stored.document)["source_name"] or "text")
        data = self._read(location, name)
        if sha256(data).hexdigest() != stored.document.content_hash:
            raise damaged_upload(id)
        upload = original_upload(stored, data)
        fields: dict[str, Any] = {"title": title, "uri": uri, "metadata": metadata}
        changes = {name: value for name, value in fields.items() if value is not SAME}
        return self._put_one(replace(upload, **changes), instead_of=stored)

    def delete(self, id: str) -> None:
        """Remove a document, its passages, its vectors and its original."""
        self._documents.remove(UPLOADS, [self._find_upload(id).document.path])

    def source_file(self, id: str) -> SourceFile:
        """The file of a document: the original of an upload, or the current file of a source."""
        document = self._find(id).document
        if document.root == UPLOADS:
            name = str(kept(document)["source_name"] or f"{id}.txt")
            originals = self._documents.originals
            file = describe_file(document, originals.location(document.content_hash), name)
            if not originals.is_right(document.content_hash):
                raise damaged_upload(id)
            return file
        folder = self._sources.get(document.root).location
        return describe_source_file(document, folder, self._parts.settings.max_document_bytes)

    def _find(self, id: object) -> StoredDocument:
        self.registered()
        if isinstance(id, str) and id.isascii():
            with self._documents.collection.snapshot() as snapshot:
                stored = snapshot.documents.get([digest(UPLOADS, id), id])
            for document in stored.values():
                if kept(document.document).get("document_id") == id:
                    return document
        raise NotFound(f"knowledge base {self.slug!r} has no document {shown(id)}", code="document_not_found")

    def _find_upload(self, id: object) -> StoredDocument:
        stored = self._find(id)
        if stored.document.root != UPLOADS:
            raise managed_by_source(stored)
        return stored

    def add_source(
        self,
        directory: str | os.PathLike[str],
        name: str | None = None,
        *,
        allowed: Iterable[Path] | None = None,
    ) -> SourceFields:
        """Add a folder as a source; `sync_source` reads its files. It must lie in an `allowed` folder."""
        return self._sources.add(os.fspath(directory), name, allowed)

    def sources(self) -> list[SourceFields]:
        return self._sources.describe()

    def source_at(self, directory: str | os.PathLike[str]) -> str | None:
        """The id of the source for this folder, if there is one."""
        return self._sources.id_of(Path(directory))

    def remove_source(self, id: str) -> int:
        """Remove a source and its documents; returns how many documents went. The files stay."""
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
        """`syncing` while a source is synced, `error` if the last run of a source failed, else `ready`."""
        return self._sources.state()

    def interrupted(self) -> list[str]:
        """The sources whose last run was interrupted. A server resumes them when it starts."""
        return self._sources.interrupted()

    def examine(self) -> list[str]:
        """What is damaged, if anything."""
        return self._documents.examine()

    def embed(self) -> int:
        """Make the vectors that are missing, or all of them if the index has a new embedder."""
        self.registered()
        return self._documents.embed()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Nobody else can write documents while this is held."""
        with self._documents.collection.writer():
            yield

    def rest(self) -> None:
        """Close the files that nobody is using; the next use of this base opens them again."""
        self._documents.store.rest()

    def close(self) -> None:
        self._documents.store.close()


def _partly_synced(sources: Sequence[str]) -> Note:
    message = (
        f"the last run of source {', '.join(sources)} was interrupted, so some of its documents may be of an "
        "earlier state; a server resumes the run when it starts, and so does 'quintet kb sync'"
    )
    return {"code": "partly_synced", "message": message}


def damaged_upload(id: str) -> StoreError:
    return StoreError(f"the upload of document {id!r} is damaged on the disk; add the document again")


def unknown(name: object) -> NotFound:
    return NotFound(
        f"there is no knowledge base {shown(name)}; 'quintet kb list' lists them", code="unknown_index"
    )
