"""Documents of a knowledge base: the checks of an upload, its id, and the entry that is written."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

from quintet.codegraph.languages.registry import LANGUAGES, language_of
from quintet.contracts.bases import BASE, authored, kept
from quintet.errors import LimitError, UsageError
from quintet.filters.fields import BUILT_IN
from quintet.formats.blocks import ParsedFile
from quintet.formats.decoding import UnreadableFile
from quintet.formats.registry import BY_EXTENSION, BY_NAME
from quintet.formats.sandbox.parent import Sandbox
from quintet.indexing.document import make_chunks, make_document, parse_content, shape
from quintet.indexing.files import size_cap
from quintet.indexing.read import Content
from quintet.knowledge.references import is_local
from quintet.knowledge.registration import FolderSource, Registration, check_title, check_values
from quintet.knowledge.results import DocumentFields
from quintet.model.documents import Document, Json, digest
from quintet.model.metadata import check_metadata
from quintet.model.parameters import shown
from quintet.model.schema import Count
from quintet.ports.documents import StoredDocument
from quintet.ports.writing import Entry
from quintet.settings import Settings

UPLOADS = "uploads"  # the root of all documents that belong to no source
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
URI_CHARS = 2_000
RUN_BY_BROWSERS = re.compile("(javascript|vbscript|data):", re.IGNORECASE)
NAME_CHARS = 255
TITLE_LINE_CHARS = 80  # of the first line of a text, which is its title
# Of each media type, the first ending that has it.
ENDINGS = {language.mime_type: language.endings[0] for language in reversed(LANGUAGES)}
ENDINGS |= {form.mime_type: ending for ending, form in reversed(BY_EXTENSION.items())} | {"text/plain": "txt"}
OutcomeKind = Literal["created", "updated", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class Upload:
    """A document to add. `name` is a file name, whose ending decides the format; a text has none."""

    data: bytes
    name: str | None = None
    mime: str | None = None
    title: str | None = None
    uri: str | None = None
    metadata: Mapping[str, Json] | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an upload. `code` and `message` say why it was refused, or why it has no vectors yet
    (`embedding_postponed`)."""

    id: str | None
    outcome: OutcomeKind
    name: str | None = None
    chunks: Count = 0
    code: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class CheckedUpload:
    """An upload after its checks. The ending of `parsed_as` decides the format."""

    id: str
    content: Content
    parsed_as: str
    name: str | None
    title: str | None
    uri: str | None
    metadata: Mapping[str, Json]

    @property
    def document_id(self) -> str:
        return digest(UPLOADS, self.id)

    def shape(self, settings: Settings) -> str:
        """Everything besides the content that the document depends on."""
        about = [self.parsed_as, self.name, self.title, self.uri, self.metadata]
        return f"{shape(settings)}:{digest(json.dumps(about, sort_keys=True))}"


def check_upload(upload: Upload, settings: Settings, now_ns: int) -> CheckedUpload:
    name = None if upload.name is None else _check_name(upload.name)
    parsed_as = _with_ending(name or "text", upload.mime)
    if not isinstance(upload.data, bytes):
        raise UsageError(f"the content is {shown(upload.data)}; it must be text or bytes")
    if len(upload.data) > (max_bytes := size_cap(parsed_as, settings)):
        raise LimitError(
            f"the document has {len(upload.data)} bytes; at most {max_bytes} are allowed: split it"
        )
    content = Content(upload.data, sha256(upload.data).hexdigest(), len(upload.data), now_ns)
    return CheckedUpload(
        digest(content.sha256) if upload.id is None else check_id(upload.id),
        content,
        parsed_as,
        name,
        None if upload.title is None else check_title(upload.title),
        None if upload.uri is None else _check_uri(upload.uri),
        _check_own_metadata({} if upload.metadata is None else upload.metadata),
    )


def check_id(id: object) -> str:
    if not isinstance(id, str) or not ID.fullmatch(id):
        raise UsageError(
            f"the id is {shown(id)}; it must be 1 to 128 letters, digits, '.', '_', ':' or '-', and begin "
            "with a letter or digit",
            details={"parameter": "id"},
        )
    return id


def _check_name(name: object) -> str:
    """The file name without its folders."""
    last = check_title(name, "name").replace("\\", "/").rpartition("/")[2]
    if not last or len(last) > NAME_CHARS:
        raise UsageError(
            f"the name is {shown(name)}; it must be a file name of at most {NAME_CHARS} characters"
        )
    return last


def _with_ending(name: str, mime: object) -> str:
    ending = name.lower().rpartition(".")[2] if "." in name else ""
    if mime is None or language_of(name) or ending in BY_EXTENSION or name.lower() in BY_NAME:
        return name
    kind = str(mime).partition(";")[0].strip().lower()
    return f"{name}.{ENDINGS.get(kind, 'txt')}"


def _check_uri(uri: object) -> str:
    if not isinstance(uri, str) or not uri.strip() or re.search("[\x00-\x20\x7f\ud800-\udfff]", uri.strip()):
        raise UsageError(f"uri is {shown(uri)}; it must be an address without spaces")
    if len(uri) > URI_CHARS:
        raise LimitError(f"uri has {len(uri)} characters; at most {URI_CHARS} are allowed")
    if RUN_BY_BROWSERS.match(uri.strip()):
        raise UsageError(f"uri is {shown(uri)}; a browser would run it: give the address of a page or file")
    if is_local(uri.strip()):
        raise UsageError(f"uri is {shown(uri)}; paths on this machine are never shown: leave it out")
    return uri.strip()


def _check_own_metadata(metadata: object) -> Mapping[str, Json]:
    checked = check_metadata(metadata)
    if BASE in checked:
        raise UsageError(f"metadata {BASE} is reserved; choose another name", code="reserved_property")
    return {name: value for name, value in checked.items() if name not in BUILT_IN}


def upload_entry(
    upload: CheckedUpload, base: Registration, settings: Settings, now_ns: int, sandbox: Sandbox
) -> Entry:
    parsed = _parse(upload.parsed_as, upload.content, sandbox)
    built_in: dict[str, Json] = {
        "document_id": upload.id,
        "source_type": "text" if upload.name is None else "upload",
        "source_name": upload.name,
        "uri": upload.uri,
        "source_id": None,
        "source_path": None,
        "managed_by_source": False,
    }
    given: dict[str, Json] = {"title": upload.title, "metadata": dict(upload.metadata)}
    title = upload.title or (_first_line(upload.content) if upload.name is None else parsed.title)
    document = make_document(UPLOADS, upload.id, upload.content, replace(parsed, title=title))
    entry = _entry(document, parsed, base, {**built_in, "given": given}, upload.metadata, settings, now_ns)
    if not entry.chunks:
        raise UsageError("the document holds no text", code="unreadable_document")
    return replace(entry, shape=upload.shape(settings))


def source_entry(
    path: str,
    content: Content,
    source: FolderSource,
    base: Registration,
    settings: Settings,
    now_ns: int,
    sandbox: Sandbox,
) -> Entry:
    parsed = _parse(path, content, sandbox)
    document = make_document(source.id, path, content, parsed)
    built_in: dict[str, Json] = {
        "document_id": document.id,
        "source_type": "local_directory",
        "source_name": source.name,
        "uri": path,
        "source_id": source.id,
        "source_path": path,
        "managed_by_source": True,
    }
    return _entry(document, parsed, base, built_in, {}, settings, now_ns)


def _parse(path: str, content: Content, sandbox: Sandbox) -> ParsedFile:
    try:
        return parse_content(path, content, sandbox)
    except UnreadableFile as error:
        raise _unreadable(error) from error


def _unreadable(error: UnreadableFile) -> UsageError:
    return UsageError(f"the document cannot be read: {error.reason}", code="unreadable_document")


def _entry(
    document: Document,
    parsed: ParsedFile,
    base: Registration,
    built_in: Mapping[str, Json],
    given: Mapping[str, Json],
    settings: Settings,
    now_ns: int,
) -> Entry:
    """Metadata of the file itself, overridden by `given`, overridden by `built_in`."""
    metadata: dict[str, Json] = {**check_metadata(parsed.metadata), **given}
    check_values(base.properties, metadata)
    metadata[BASE] = {**built_in, "knowledge_base_id": base.slug}
    try:
        chunks = make_chunks(document.id, parsed, settings)
    except UnreadableFile as error:
        raise _unreadable(error) from error
    return Entry(replace(document, metadata=metadata), chunks, now_ns, shape(settings))


def _first_line(content: Content) -> str:
    line = next((line.strip() for line in content.text.splitlines() if line.strip()), "")
    line = re.sub(r"^#+\s+", "", line)
    return line if len(line) <= TITLE_LINE_CHARS else line[: TITLE_LINE_CHARS - 1].rstrip() + "…"


def show_document(stored: StoredDocument) -> DocumentFields:
    """A document as answers show it."""
    document = stored.document
    known: Any = kept(document)
    return {
        "id": known.get("document_id"),
        "title": document.title,
        "knowledge_base_id": known.get("knowledge_base_id"),
        "managed_by_source": known.get("managed_by_source"),
        "source_id": known.get("source_id"),
        "source_name": known.get("source_name"),
        "source_path": known.get("source_path"),
        "source_type": known.get("source_type"),
        "uri": known.get("uri"),
        "mime_type": document.mime_type,
        "size": document.size,
        "digest": document.content_hash,
        "chunks": stored.chunks,
        "updated_ms": stored.indexed_ns // 1_000_000,
        "metadata": authored(document),
    }


def original_upload(stored: StoredDocument, data: bytes) -> Upload:
    """The upload a document was made from."""
    known = kept(stored.document)
    given = known["given"]
    assert isinstance(given, dict)
    name, uri, title, metadata = known["source_name"], known["uri"], given["title"], given["metadata"]
    assert isinstance(metadata, dict)
    return Upload(
        data,
        None if name is None else str(name),
        stored.document.mime_type,
        None if title is None else str(title),
        None if uri is None else str(uri),
        metadata,
        str(known["document_id"]),
    )
