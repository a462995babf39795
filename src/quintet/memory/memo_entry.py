"""A memory as a document: the id that is derived from its text, and the entry that is written."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from quintet.errors import LimitError
from quintet.formats.text import parse_plain
from quintet.indexing.chunk import chunk
from quintet.memory.validation import MAX_ENTRIES
from quintet.model.documents import Chunk, Document, Json, digest
from quintet.model.memories import ROOT, About, Memo
from quintet.model.metadata import check_metadata
from quintet.ports.writing import Entry
from quintet.settings import Settings

OCCURRENCES = 1_000  # how often the same text can be superseded and remembered again
MIME_TYPE = "text/plain"
MILLISECOND = 1_000_000  # nanoseconds


def memo_id(kind: str, text: str, occurrence: int) -> str:
    """The same words of the same kind have the same id, whatever their white space and Unicode form.

    `occurrence` counts the memories with these words that were superseded before.
    """
    words = " ".join(unicodedata.normalize("NFC", text).split())
    return digest(ROOT, kind, words, str(occurrence))


def merge_memo(memo: Memo, tags: Sequence[str], about: Sequence[About], metadata: Mapping[str, Json]) -> Memo:
    """A memory that was remembered again, with the new tags, subjects and metadata added to the old."""
    subjects = {subject.key: subject for subject in (*memo.about, *about)}
    every_tag = tuple(dict.fromkeys((*memo.tags, *tags)))
    for field, count in (("tags", len(every_tag)), ("about", len(subjects))):
        if count > MAX_ENTRIES[field]:
            raise LimitError(
                f"{field} of memory {memo.id} would have {count} entries; "
                f"at most {MAX_ENTRIES[field]} are allowed"
            )
    return replace(
        memo,
        tags=every_tag,
        about=tuple(subjects.values()),
        metadata=check_metadata({**memo.metadata, **metadata}),
    )


def memo_entry(memo: Memo, settings: Settings) -> Entry:
    """A memory as a document. Its tags and subjects are the title, so that a query finds them too. The
    speaker is the heading, which is embedded as well: who said something is part of what was said."""
    subjects = (name for about in memo.about for name in (about.symbol, about.path) if name)
    data = memo.text.encode()
    document = Document(
        ROOT,
        memo.id,
        title=" ".join(dict.fromkeys((*memo.tags, *subjects))),
        mime_type=MIME_TYPE,
        language=None,
        size=len(data),
        modified_ns=memo.created_ms * MILLISECOND,
        content_hash=sha256(data).hexdigest(),
        metadata=memo.fields(),
    )
    pieces = chunk(parse_plain(memo.id, memo.text, MIME_TYPE), settings.chunk_chars)
    chunks = [
        Chunk(
            digest(document.id, str(sequence)),  # a memory's text never changes
            document.id,
            sequence,
            piece.text,
            _speaker(memo),
            piece.first_line,
            piece.last_line,
            memo.kind,
        )
        for sequence, piece in enumerate(pieces)
    ]
    return Entry(document, tuple(chunks), memo.last_seen_ms * MILLISECOND)


def _speaker(memo: Memo) -> str:
    speaker = memo.metadata.get("speaker")
    return speaker.strip() if isinstance(speaker, str) else ""
