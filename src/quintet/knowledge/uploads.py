"""Turns uploads into documents: check, parse, compare with the stored version, write in one commit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from quintet.contracts.bases import kept
from quintet.errors import Conflict, NotFound, QuintetError, StoreError
from quintet.formats.sandbox.parent import ParseLimits, Sandbox
from quintet.knowledge.document_store import DocumentStore, IndexParts
from quintet.knowledge.documents import (
    UPLOADS,
    CheckedUpload,
    Outcome,
    OutcomeKind,
    Upload,
    check_upload,
    upload_entry,
)
from quintet.knowledge.registration import Registration
from quintet.ports.documents import StoredDocument
from quintet.ports.reading import Root
from quintet.ports.writing import Entry


@dataclass(slots=True)
class _UploadGroup:
    """Uploads that will be committed together."""

    entries: dict[str, Entry] = field(default_factory=dict)  # by id
    originals: dict[str, bytes] = field(default_factory=dict)


class Uploader:
    """Writes uploads as documents of one base."""

    def __init__(self, documents: DocumentStore, parts: IndexParts) -> None:
        self._documents = documents
        self._parts = parts

    def put(
        self,
        uploads: Sequence[Upload],
        base: Registration,
        *,
        strict: bool = False,
        instead_of: StoredDocument | None = None,
        step: Callable[[], None] | None = None,
    ) -> list[Outcome]:
        """Write uploads in one commit; one outcome each. With `strict`, the first refused upload raises.
        `step` is called after each is parsed."""
        group, outcomes = _UploadGroup(), []
        with Sandbox(ParseLimits.of(self._parts.settings)) as sandbox:
            for upload in uploads:
                try:
                    outcomes.append(self._add(upload, base, group, sandbox))
                except QuintetError as error:
                    if strict or isinstance(error, (NotFound, StoreError)):  # not the fault of this upload
                        raise
                    outcomes.append(Outcome(upload.id, "refused", upload.name, 0, error.code, error.message))
                if step:
                    step()
        if group.entries:
            entries, root = list(group.entries.values()), Root(UPLOADS, UPLOADS)
            why_not = self._documents.put(entries, root, group.originals, instead_of)
            if why_not:
                outcomes = [_note_missing_vectors(outcome, why_not) for outcome in outcomes]
            if any(outcome.outcome == "updated" for outcome in outcomes):
                self._documents.drop_unused()
        return outcomes

    def _add(self, upload: Upload, base: Registration, group: _UploadGroup, sandbox: Sandbox) -> Outcome:
        """Check and parse an upload, and add it to the group unless it is already there unchanged."""
        settings, now = self._parts.settings, self._parts.clock_ns()
        checked = check_upload(upload, settings, now)
        stored = self._stored_version(checked)
        waiting = group.entries.get(checked.id)
        before = (waiting.document.content_hash, waiting.shape) if waiting else stored
        if before == (checked.content.sha256, checked.shape(settings)):
            return Outcome(checked.id, "unchanged", checked.name)
        entry = upload_entry(checked, base, settings, now, sandbox)
        group.entries[checked.id] = entry
        group.originals[checked.content.sha256] = checked.content.data
        result: OutcomeKind = "created" if before is None else "updated"
        return Outcome(checked.id, result, checked.name, len(entry.chunks))

    def _stored_version(self, upload: CheckedUpload) -> tuple[str, str] | None:
        """Content hash and shape of the document with this id. It must not belong to a source."""
        with self._documents.collection.snapshot() as snapshot:
            stored = snapshot.documents.get([upload.document_id, upload.id])
        if upload.id in stored and upload.document_id not in stored:
            raise managed_by_source(stored[upload.id])
        before = stored.get(upload.document_id)
        return None if before is None else (before.document.content_hash, before.shape)


def _note_missing_vectors(outcome: Outcome, why: str) -> Outcome:
    if outcome.outcome not in ("created", "updated"):
        return outcome
    return replace(outcome, code="embedding_postponed", message=f"its vectors were not made: {why}")


def managed_by_source(stored: StoredDocument) -> Conflict:
    source = kept(stored.document).get("source_name")
    return Conflict(
        f"this document belongs to source {source!r}; change its file there and sync the source",
        code="managed_by_source",
    )
