"""From the content of a file to its document and chunks."""

from hashlib import sha256

from quintet.formats.blocks import ParsedFile
from quintet.formats.registry import is_binary
from quintet.formats.sandbox.parent import Sandbox
from quintet.formats.time_limit import within
from quintet.indexing.chunk import chunk
from quintet.indexing.parse import parse
from quintet.indexing.read import Content
from quintet.model.documents import Chunk, Document, digest
from quintet.ports.writing import Entry
from quintet.settings import Settings

EARLIEST_NS, LATEST_NS = -(2**63), 2**63 - 1  # the years 1677 and 2262: what SQLite can store
PARSERS = 7  # goes up when a parser or the chunker gives different chunks or outlines for the same text


def storable_time(modified_ns: int) -> int:
    """The nearest time that the index can store."""
    return min(max(modified_ns, EARLIEST_NS), LATEST_NS)


def shape(settings: Settings) -> str:
    """What decides the chunks of a file besides its content: parser version and chunk size."""
    return f"{PARSERS}:{settings.chunk_chars}"


def make_entry(
    root: str, path: str, content: Content, settings: Settings, indexed_ns: int, sandbox: Sandbox
) -> Entry:
    """The document and its chunks. Raises `UnreadableFile` with the reason if there are none."""
    parsed = parse_content(path, content, sandbox)
    document = make_document(root, path, content, parsed)
    chunks = make_chunks(document.id, parsed, settings)
    return Entry(document, chunks, indexed_ns, shape(settings), parsed.outline)


def make_document(root: str, path: str, content: Content, parsed: ParsedFile) -> Document:
    return Document(
        root,
        path,
        parsed.title,
        parsed.mime_type,
        parsed.language,
        content.size,
        storable_time(content.modified_ns),
        content.sha256,
        parsed.metadata,
    )


def parse_content(path: str, content: Content, sandbox: Sandbox) -> ParsedFile:
    if is_binary(path):
        return sandbox.parse(path, content.data)
    text = content.text
    return within(sandbox.limits.text_seconds, len(text), lambda: parse(path, text))


def make_chunks(document_id: str, parsed: ParsedFile, settings: Settings) -> tuple[Chunk, ...]:
    """An id depends on the text and on how often the text occurred before, not on its position."""
    occurrences: dict[str, int] = {}
    chunks = []
    chars = sum(len(block.text) for block in parsed.blocks)
    pieces = within(settings.text_seconds, chars, lambda: chunk(parsed, settings.chunk_chars))
    for sequence, piece in enumerate(pieces):
        text_hash = sha256(piece.text.encode()).hexdigest()
        before = occurrences.get(text_hash, 0)
        occurrences[text_hash] = before + 1
        chunk_id = digest(document_id, text_hash, str(before))
        heading_path = " > ".join(piece.heading_path)
        place = piece.first_line, piece.last_line, piece.kind, piece.name, piece.page
        chunks.append(Chunk(chunk_id, document_id, sequence, piece.text, heading_path, *place))
    return tuple(chunks)
