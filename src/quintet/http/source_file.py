"""The source file of a document: conditional requests, single ranges, and never as a page of this server."""

import errno
import os
import re
import stat
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import sha256
from io import FileIO
from typing import Final
from urllib.parse import quote

import anyio
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from quintet.errors import NotFound, StoreError
from quintet.http.responses import error_body, json_response
from quintet.indexing import no_links
from quintet.knowledge import SourceFile

PART_BYTES: Final = 64 * 1024
READERS: Final = 8  # threads that read files
RANGE: Final = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*")
MEDIA: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}")
AS_IT_IS: Final = ("text/plain", "text/markdown", "text/csv", "application/json", "application/pdf")
PDF_POLICY: Final = (  # with a sandbox, browsers would not show it at all
    "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
POLICY: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

_reading = anyio.CapacityLimiter(READERS)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """An open file, with its state when it was opened. It closes itself if nobody sends it."""

    file: FileIO
    size: int
    modified_ns: int
    etag: str

    @property
    def modified(self) -> datetime:
        return datetime.fromtimestamp(self.modified_ns // 10**9, UTC)


def open_file(file: SourceFile) -> OpenFile:
    """Open the file itself, never the target of a link in its path. A pipe does not block."""
    try:
        descriptor = no_links.open_file(file.location)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotFound(
                "this file is now a link; sync its source", code="invalid_source_file_path"
            ) from None
        raise _gone() from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise _gone()
    marks = f"{file.digest}:{status.st_mtime_ns}:{status.st_size}"
    etag = f'"{sha256(marks.encode()).hexdigest()[:32]}"'
    return OpenFile(FileIO(descriptor), status.st_size, status.st_mtime_ns, etag)


def _gone() -> NotFound:
    return NotFound(
        "the file of this document no longer exists; sync its source", code="source_file_not_found"
    )


def file_response(file: SourceFile, opened: OpenFile, request: Headers) -> Response:
    """The response to GET: 200, 206, 304 or 416. It closes the file."""
    headers = _headers(file, opened)
    if _is_known(opened, request):
        return _closed(opened, Response(status_code=304, headers=_about(headers)))
    try:
        part = _part(opened, request)
    except IndexError:
        outside = {**_about(headers), "Content-Range": f"bytes */{opened.size}"}
        message = f"the file has {opened.size} bytes; ask for a range within them"
        return _closed(opened, json_response(error_body("invalid_range", message), 416, outside))
    if part is None:
        return FileStream(opened, range(opened.size), 200, headers)
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{opened.size}"
    return FileStream(opened, part, 206, headers)


def _closed(opened: OpenFile, answer: Response) -> Response:
    opened.file.close()
    return answer


class FileStream(Response):
    """Sends a part of an open file, some bytes at a time."""

    def __init__(self, opened: OpenFile, part: range, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(None, status, {**headers, "Content-Length": str(len(part))})
        self._opened = opened
        self._range = part

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            if scope["method"] != "HEAD":
                async for part in self._parts():
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._opened.file.close()

    async def _parts(self) -> AsyncIterator[bytes]:
        place = self._range.start
        while place < self._range.stop:
            size = min(PART_BYTES, self._range.stop - place)
            part = await anyio.to_thread.run_sync(self._read, size, place, limiter=_reading)
            if not part:  # the length is sent already, so the connection has to break
                raise StoreError("a source file became shorter while it was sent")
            place += len(part)
            yield part

    def _read(self, size: int, place: int) -> bytes:
        self._opened.file.seek(place)
        return self._opened.file.read(size)


def _headers(file: SourceFile, opened: OpenFile) -> dict[str, str]:
    media, inline = shown_as(file.mime_type)
    return {
        "Content-Type": media,
        "Content-Disposition": disposition("inline" if inline else "attachment", file.name),
        "Content-Security-Policy": PDF_POLICY if media == "application/pdf" else POLICY,
        "Cache-Control": "private, no-cache",
        "Accept-Ranges": "bytes",
        "ETag": opened.etag,
        "Last-Modified": format_datetime(opened.modified, usegmt=True),
    }


def _about(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a response without the file."""
    return {name: headers[name] for name in ("Cache-Control", "Accept-Ranges", "ETag", "Last-Modified")}


def shown_as(mime_type: str) -> tuple[str, bool]:
    """The media type to send, and whether a browser may show the file. HTML and scripts are sent as text.

    >>> shown_as("text/html"), shown_as("image/svg+xml")
    (('text/plain; charset=utf-8', True), ('image/svg+xml', False))
    """
    media = mime_type.partition(";")[0].strip().lower()
    if media in AS_IT_IS:
        return (f"{media}; charset=utf-8" if media.startswith("text/") else media), True
    if media.startswith("text/") or media == "application/xhtml+xml":
        return "text/plain; charset=utf-8", True
    return (media if MEDIA.fullmatch(media) else "application/octet-stream"), False


def disposition(how: str, name: str) -> str:
    """Content-Disposition for any file name (RFC 6266, RFC 5987): in ASCII for old clients, then in full.

    >>> disposition("inline", 'a "b"/č.pdf')
    'inline; filename="a _b___.pdf"; filename*=UTF-8\\'\\'a%20_b__%C4%8D.pdf'
    """
    printable = "".join(char if char.isprintable() and char not in '\\/"' else "_" for char in name) or "file"
    plain = "".join(char if char.isascii() and char != "%" else "_" for char in printable)
    whole = quote(printable.encode("utf-8", "replace"), safe="")
    return f"{how}; filename=\"{plain}\"; filename*=UTF-8''{whole}"


def _is_known(opened: OpenFile, request: Headers) -> bool:
    """Whether the client has this version already (RFC 9110, 13.2.2)."""
    tags = request.get("if-none-match")
    if tags is not None:
        known = [tag.strip().removeprefix("W/") for tag in tags.split(",")]
        return "*" in known or opened.etag in known
    since = _date(request.get("if-modified-since"))
    return since is not None and opened.modified <= since


def _part(opened: OpenFile, request: Headers) -> range | None:
    """The requested bytes; None means all. IndexError if the file has none of them."""
    form = RANGE.fullmatch(request.get("range", ""))
    if form is None or form[1] == form[2] == "" or not _holds(request.get("if-range"), opened):
        return None
    if not form[1]:
        start, stop = max(0, opened.size - int(form[2])), opened.size
    else:
        start, stop = int(form[1]), min(opened.size, int(form[2] or opened.size) + 1)
        if form[2] and int(form[2]) < start:
            return None
    if start >= opened.size:
        raise IndexError(start)
    return range(start, stop)


def _holds(condition: str | None, opened: OpenFile) -> bool:
    return condition is None or condition.strip() == opened.etag or _date(condition) == opened.modified


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
