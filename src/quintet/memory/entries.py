"""From what is to be remembered to what is written: checks, the id that hangs on the text, the passages."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from quintet.errors import LimitError, UsageError
from quintet.formats.text import parse_plain
from quintet.indexing.chunk import chunk
from quintet.memory.contract import UNSTORABLE
from quintet.model.documents import Chunk, Document, Json, digest
from quintet.model.memories import KINDS, ROOT, About, Memo
from quintet.model.parameters import shown
from quintet.ports.writing import Entry
from quintet.settings import Settings

TEXT_CHARS = 20_000  # a page or five; what is longer is a document and belongs in a folder
NAME_CHARS = {"a tag": 100, "a session": 200, "what it is about": 1_000}
MOST = {"tags": 32, "about": 32}
METADATA_CHARS = 10_000  # as JSON
METADATA_LEVELS = 32  # of objects and lists inside one another
OCCURRENCES = 1_000  # times one text may be superseded and said again
MIME_TYPE = "text/plain"
MILLISECOND = 1_000_000  # nanoseconds


def checked_text(text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"the text is {shown(text)}; it must hold at least one word")
    if len(text) > TEXT_CHARS:
        raise LimitError(
            f"the text has {len(text)} characters; a memory takes at most {TEXT_CHARS}: "
            "shorten it, or keep it as a file and index that"
        )
    return UNSTORABLE.sub("\ufffd", text).strip()


def checked_kind(kind: object) -> str:
    if not isinstance(kind, str) or kind not in KINDS:
        raise UsageError(f"kind is {shown(kind)}; it must be one of {', '.join(KINDS)}")
    return kind


def checked_name(what: str, name: object) -> str:
    """A tag, a session or what a memory is about: short text on one line."""
    if not isinstance(name, str) or not name.strip() or UNSTORABLE.search(name):
        raise UsageError(
            f"{what} is {shown(name)}; it must be text, not empty, without NUL or lone surrogates"
        )
    if len(name) > NAME_CHARS[what]:
        raise LimitError(
            f"{what} has {len(name)} characters; at most {NAME_CHARS[what]} are taken: shorten it"
        )
    return name.strip()


def checked_names(field: str, what: str, names: object) -> tuple[str, ...]:
    """Each name once, in the order given."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise UsageError(f"{field} is {shown(names)}; it must be a list of texts")
    if len(names) > MOST[field]:
        raise LimitError(f"{field} has {len(names)} entries; at most {MOST[field]} are taken: leave some out")
    return tuple(dict.fromkeys(checked_name(what, name) for name in names))


def checked_metadata(metadata: object) -> Mapping[str, Json]:
    """A JSON object that comes back as it went in."""
    try:
        if not isinstance(metadata, Mapping):
            raise TypeError("no object")
        written = json.dumps(dict(metadata), allow_nan=False)
        read: dict[str, Json] = json.loads(written)
    except (TypeError, ValueError, RecursionError):
        message = f"metadata is {shown(metadata)}; it must be an object of JSON values"
        raise UsageError(message, details={"parameter": "metadata"}) from None
    if len(written) > METADATA_CHARS:
        raise LimitError(
            f"metadata has {len(written)} characters of JSON; at most {METADATA_CHARS} are taken: shorten it"
        )
    if not _is_shallow(read):
        raise LimitError(f"metadata is more than {METADATA_LEVELS} levels deep; keep it flatter")
    if UNSTORABLE.search(json.dumps(read, ensure_ascii=False)):
        raise UsageError("metadata holds lone surrogates; every text must be Unicode")
    return read


def _is_shallow(value: Json) -> bool:
    """SQLite reads no JSON deeper than 1,000 levels, and a filter would meet it on every recall."""
    level = [value]
    for _ in range(METADATA_LEVELS + 1):
        holders = [one for one in level if isinstance(one, (dict, list))]
        level = [child for one in holders for child in (one.values() if isinstance(one, dict) else one)]
    return not level


def memo_id(kind: str, text: str, occurrence: int) -> str:
    """The same words of the same kind have one id; white space and composed letters make no difference.

    `occurrence` counts the memories of these words that were superseded before.
    """
    words = " ".join(unicodedata.normalize("NFC", text).split())
    return digest(ROOT, kind, words, str(occurrence))


def united(memo: Memo, tags: Sequence[str], about: Sequence[About], metadata: Mapping[str, Json]) -> Memo:
    """A memory that was said again: tags, subjects and metadata joined, the newest word on each."""
    subjects = {one.key: one for one in (*memo.about, *about)}
    every_tag = tuple(dict.fromkeys((*memo.tags, *tags)))
    for field, count in (("tags", len(every_tag)), ("about", len(subjects))):
        if count > MOST[field]:
            raise LimitError(
                f"{field} of memory {memo.id} would have {count} entries; at most {MOST[field]} are taken"
            )
    return replace(
        memo,
        tags=every_tag,
        about=tuple(subjects.values()),
        metadata=checked_metadata({**memo.metadata, **metadata}),
    )


def memo_entry(memo: Memo, settings: Settings) -> Entry:
    """A memory as a document: tags and subjects are its title, so that they are found as well."""
    subjects = (name for one in memo.about for name in (one.symbol, one.path) if name)
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
            piece.content,
            "",
            piece.first_line,
            piece.last_line,
            memo.kind,
        )
        for sequence, piece in enumerate(pieces)
    ]
    return Entry(document, tuple(chunks), memo.last_seen_ms * MILLISECOND)
