"""Uploads into documents: checked, parsed, compared with what is there, and written in one commit."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from quintet.contracts.knowledge import kept
from quintet.errors import Conflict, NotFound, QuintetError, StoreError
from quintet.formats.sandbox.parent import ParseLimits, Sandbox
from quintet.knowledge.document_store import DocumentStore, IndexParts
from quintet.knowledge.documents import UPLOADS, Accepted, Outcome, Upload, accepted, uploaded_entry
from quintet.knowledge.registry import Registration
from quintet.ports.documents import StoredDocument
from quintet.ports.reading import Root
from quintet.ports.writing import Entry


@dataclass(slots=True)
class _Group:
    """Uploads that will be committed together."""

    entries: dict[str, Entry] = field(default_factory=dict)  # by id
    originals: dict[str, bytes] = field(default_factory=dict)


class Putting:
    """Puts uploads into one base."""

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
    ) -> list[Outcome]:
        """What became of each. With `strict` the first that is refused raises."""
        group, outcomes = _Group(), []
        with Sandbox(ParseLimits.of(self._parts.settings)) as isolated:
            for upload in uploads:
                try:
                    outcomes.append(self._judged(upload, base, group, isolated))
                except QuintetError as error:
                    if strict or isinstance(error, (NotFound, StoreError)):  # not a matter of this upload
                        raise
                    outcomes.append(Outcome(upload.id, "refused", upload.name, 0, error.code, error.message))
        if group.entries:
            entries, root = list(group.entries.values()), Root(UPLOADS, UPLOADS)
            why_not = self._documents.put(entries, root, group.originals, instead_of)
            outcomes = [_without_vectors(one, why_not) if why_not else one for one in outcomes]
            if any(one.outcome == "updated" for one in outcomes):
                self._documents.drop_unused()
        return outcomes

    def _judged(self, upload: Upload, base: Registration, group: _Group, isolated: Sandbox) -> Outcome:
        now = self._parts.clock_ns()
        one = accepted(upload, self._parts.settings, now)
        before = self._before(one)
        waiting = group.entries.get(one.id)
        last = (waiting.document.content_hash, waiting.shape) if waiting else before
        if last == (one.content.sha256, one.shape(self._parts.settings)):
            return Outcome(one.id, "unchanged", one.name)
        entry = uploaded_entry(one, base, self._parts.settings, now, isolated)
        group.entries[one.id] = entry
        group.originals[one.content.sha256] = one.content.data
        return Outcome(one.id, "created" if last is None else "updated", one.name, len(entry.chunks))

    def _before(self, one: Accepted) -> tuple[str, str] | None:
        """Content and shape of the document of that id, which must not be one that a source manages."""
        with self._documents.collection.snapshot() as snapshot:
            found = snapshot.documents.get([one.document_id, one.id])
        if one.id in found and one.document_id not in found:
            raise managed(found[one.id])
        known = found.get(one.document_id)
        return None if known is None else (known.document.content_hash, known.shape)


def _without_vectors(one: Outcome, why: str) -> Outcome:
    if one.outcome not in ("created", "updated"):
        return one
    return replace(one, code="embedding_postponed", message=f"its vectors were not made: {why}")


def managed(listed: StoredDocument) -> Conflict:
    source = kept(listed.document).get("source_name")
    return Conflict(
        f"this document belongs to source {source!r}; change its file there and sync the source",
        code="managed_by_source",
    )
