"""A document's source file: conditional, in single ranges, and unable to act as a page of this server."""

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
from quintet.knowledge import SourceFile

PART_BYTES: Final = 64 * 1024
READERS: Final = 8  # threads that read files
RANGE: Final = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*")
MEDIA: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}")
AS_IT_IS: Final = ("text/plain", "text/markdown", "text/csv", "application/json", "application/pdf")
PDF_POLICY: Final = (  # a sandbox would keep browsers from showing it at all
    "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
POLICY: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

_reading = anyio.CapacityLimiter(READERS)


@dataclass(frozen=True, slots=True)
class Opened:
    """An open file, as it was when it was opened. Should nobody send it, it closes by itself."""

    file: FileIO
    size: int
    modified_ns: int
    etag: str

    @property
    def modified(self) -> datetime:
        return datetime.fromtimestamp(self.modified_ns // 10**9, UTC)


def opened(file: SourceFile) -> Opened:
    """The file itself, never what a link in its place leads to; a pipe does not hold us up."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(file.location, flags | getattr(os, "O_BINARY", 0))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotFound(
                "this file became a link; sync its source", code="invalid_source_file_path"
            ) from None
        raise _gone() from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise _gone()
    marks = f"{file.digest}:{found.st_mtime_ns}:{found.st_size}"
    etag = f'"{sha256(marks.encode()).hexdigest()[:32]}"'
    return Opened(FileIO(descriptor), found.st_size, found.st_mtime_ns, etag)


def _gone() -> NotFound:
    return NotFound(
        "the file of this document is not there any more; sync its source", code="source_file_not_found"
    )


def sent(file: SourceFile, found: Opened, asked: Headers) -> Response:
    """The answer to GET: 200, 206, 304 or 416. It closes the file."""
    headers = _headers(file, found)
    if _is_known(found, asked):
        return _closed(found, Response(status_code=304, headers=_about(headers)))
    try:
        part = _part(found, asked)
    except IndexError:
        outside = {**_about(headers), "Content-Range": f"bytes */{found.size}"}
        told = f"the file has {found.size} bytes; ask for a range within them"
        return _closed(found, json_response(error_body("invalid_range", told), 416, outside))
    if part is None:
        return FileStream(found, range(found.size), 200, headers)
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{found.size}"
    return FileStream(found, part, 206, headers)


def _closed(found: Opened, answer: Response) -> Response:
    found.file.close()
    return answer


class FileStream(Response):
    """Part of an open file, a little at a time."""

    def __init__(self, found: Opened, part: range, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(None, status, {**headers, "Content-Length": str(len(part))})
        self._found = found
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
            self._found.file.close()

    async def _parts(self) -> AsyncIterator[bytes]:
        place = self._range.start
        while place < self._range.stop:
            size = min(PART_BYTES, self._range.stop - place)
            part = await anyio.to_thread.run_sync(self._read, size, place, limiter=_reading)
            if not part:  # the length is promised already, so the connection has to break
                raise StoreError("a source file became shorter while it was sent")
            place += len(part)
            yield part

    def _read(self, size: int, place: int) -> bytes:
        self._found.file.seek(place)
        return self._found.file.read(size)


def _headers(file: SourceFile, found: Opened) -> dict[str, str]:
    media, inline = shown_as(file.mime_type)
    return {
        "Content-Type": media,
        "Content-Disposition": disposition("inline" if inline else "attachment", file.name),
        "Content-Security-Policy": PDF_POLICY if media == "application/pdf" else POLICY,
        "Cache-Control": "private, no-cache",
        "Accept-Ranges": "bytes",
        "ETag": found.etag,
        "Last-Modified": format_datetime(found.modified, usegmt=True),
    }


def _about(headers: Mapping[str, str]) -> dict[str, str]:
    """What is said of a file that is not sent along."""
    return {name: headers[name] for name in ("Cache-Control", "Accept-Ranges", "ETag", "Last-Modified")}


def shown_as(mime_type: str) -> tuple[str, bool]:
    """The media type to send, and whether a browser may show it. No page and no script is sent as one.

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
    """For any file name (RFC 6266, RFC 5987): plain letters for old clients, then all of it.

    >>> disposition("inline", 'a "b"/č.pdf')
    'inline; filename="a _b___.pdf"; filename*=UTF-8\\'\\'a%20_b__%C4%8D.pdf'
    """
    printable = "".join(char if char.isprintable() and char not in '\\/"' else "_" for char in name) or "file"
    plain = "".join(char if char.isascii() and char != "%" else "_" for char in printable)
    whole = quote(printable.encode("utf-8", "replace"), safe="")
    return f"{how}; filename=\"{plain}\"; filename*=UTF-8''{whole}"


def _is_known(found: Opened, asked: Headers) -> bool:
    """Does the client have this very version already? (RFC 9110, 13.2.2)"""
    tags = asked.get("if-none-match")
    if tags is not None:
        known = [tag.strip().removeprefix("W/") for tag in tags.split(",")]
        return "*" in known or found.etag in known
    since = _date(asked.get("if-modified-since"))
    return since is not None and found.modified <= since


def _part(found: Opened, asked: Headers) -> range | None:
    """The bytes asked for; None means all. IndexError where there are none of these."""
    form = RANGE.fullmatch(asked.get("range", ""))
    if form is None or form[1] == form[2] == "" or not _holds(asked.get("if-range"), found):
        return None
    if not form[1]:
        start, stop = max(0, found.size - int(form[2])), found.size
    else:
        start, stop = int(form[1]), min(found.size, int(form[2] or found.size) + 1)
        if form[2] and int(form[2]) < start:
            return None
    if start >= found.size:
        raise IndexError(start)
    return range(start, stop)


def _holds(condition: str | None, found: Opened) -> bool:
    return condition is None or condition.strip() == found.etag or _date(condition) == found.modified


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
