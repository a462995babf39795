"""Index documents that come as records instead of files."""

from collections.abc import Iterable, Mapping
from hashlib import sha256

from quintet.formats.blocks import ParsedFile
from quintet.formats.lines import block_template, normalise_newlines, paragraph_blocks
from quintet.indexing.batches import batches
from quintet.indexing.document import make_chunks, shape
from quintet.indexing.run import IndexRun
from quintet.model.documents import Document
from quintet.ports.reading import KnownFile, Root
from quintet.ports.writing import Entry
from quintet.settings import Settings

Record = tuple[str, str, str]  # id, title, text
MIME_TYPE = "text/plain"


def sync_records(run: IndexRun, root: str, records: Iterable[Record]) -> None:
    """Write the new and changed records of a root, and remove the documents that have no record any more."""
    known, present = run.writer.known(root), set[str]()
    if not any(known_root.name == root for known_root in run.writer.roots()):
        with run.writer.batch():
            run.writer.put_root(Root(root, root))
    for batch in batches(records, _size, run.settings.batch_files, run.settings.batch_bytes):
        entries = [record_entry(root, record, run.settings) for record in batch]
        changed = [entry for entry in entries if _changed(entry, known)]
        with run.writer.batch():
            run.writer.put(*changed)
        run.report.indexed += len(changed)
        present.update(entry.document.path for entry in entries)
        run.progress("text", len(present), 0)
    with run.writer.batch():
        run.writer.remove(root, [path for path in known if path not in present])
        run.writer.graph.link(root, {})  # records are prose and have no code graph
        run.writer.vectors.drop_unused()


def _changed(entry: Entry, known: Mapping[str, KnownFile]) -> bool:
    before = known.get(entry.document.path)
    after = (entry.document.content_hash, entry.shape)
    return before is None or (before.content_hash, before.shape) != after


def _size(record: Record) -> int:
    return len(record[2])


def record_entry(root: str, record: Record, settings: Settings) -> Entry:
    """A record as a document. Its title is the heading of every chunk, so every chunk is found by it. If a
    record has no text, its title is the text."""
    path, title, text = record[0], " ".join(_storable(record[1]).split()), _storable(record[2])
    if not text.strip():
        title, text = "", title
    lines = text.split("\n")
    like = block_template(heading_path=(title,) if title else ())
    parsed = ParsedFile("", MIME_TYPE, None, tuple(paragraph_blocks(lines, 0, len(lines) - 1, like=like)))
    document = Document(
        root,
        path,
        title=parsed.title,
        mime_type=MIME_TYPE,
        language=None,
        size=len(text.encode()),
        modified_ns=0,
        content_hash=sha256(f"{title}\n{text}".encode()).hexdigest(),
    )
    return Entry(document, make_chunks(document.id, parsed, settings), 0, shape(settings))


def _storable(text: str) -> str:
    return normalise_newlines(text).replace("\0", "\ufffd")
