"""Files sent as multipart/form-data. One temporary file holds all of them until the last has arrived."""

import tempfile
from collections import Counter
from collections.abc import AsyncIterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import IO, Final

import anyio
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from quintet.errors import LimitError, QuintetError, StoreError, UsageError
from quintet.http.config import Limits
from quintet.http.quotas import CALLER, too_many
from quintet.http.requests import Pace, arriving
from quintet.http.responses import CLOSE, RequestError
from quintet.knowledge import Upload
from quintet.serving.keys import Key

FIELDS: Final = ("title", "uri", "id", "metadata")
FIELD_BYTES: Final = 100_000
AT_ONCE_BYTES: Final = 16_000_000  # of files that are read into memory together
LINGER: Final = 2  # times the limit: so much is read and dropped, so that the client can read the error


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """The place of a file in the temporary file."""

    name: str | None
    mime: str | None
    start: int
    size: int


@dataclass(slots=True)
class Received:
    """A form that has arrived."""

    spool: IO[bytes]
    files: list[UploadedFile] = field(default_factory=list)
    fields: dict[str, bytes] = field(default_factory=dict)
    complete: bool = False

    def contents(self) -> Iterator[list[Upload]]:
        """The files in their order, in batches that fit into memory."""
        batch: list[Upload] = []
        held = 0
        for file in self.files:
            if batch and held + file.size > AT_ONCE_BYTES:
                yield batch
                batch, held = [], 0
            self.spool.seek(file.start)
            batch.append(Upload(self.spool.read(file.size), file.name, file.mime))
            held += file.size
        if batch:
            yield batch


class Uploads:
    """The running uploads, no more than the limits allow."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._running: Counter[str] = Counter()
        self._of_keys: Counter[str] = Counter()
        self._counting = Lock()

    @contextmanager
    def place(self, base: str) -> Iterator[IO[bytes]]:
        """A temporary file without a name for one upload into `base`, until its documents are written."""
        key = CALLER.get()
        with self._counting:
            self._check(base, key)
            self._running[base] += 1
            self._of_keys[key.id if key else ""] += 1
        try:
            with tempfile.TemporaryFile() as spool:
                yield spool
        finally:
            with self._counting:
                self._running[base] -= 1
                self._of_keys[key.id if key else ""] -= 1

    def _check(self, base: str, key: Key | None) -> None:
        of_base, all_of_them = self._running[base], self._running.total()
        if of_base >= self._limits.uploads_of_base or all_of_them >= self._limits.uploads:
            count = of_base if of_base >= self._limits.uploads_of_base else all_of_them
            raise too_many(f"{count} uploads are under way; try again in a moment")
        if key is not None and self._of_keys[key.id] >= self._limits.uploads_of_key:
            count = self._of_keys[key.id]
            raise too_many(f"{count} uploads with key {key.name!r} are under way; try again in a moment")

    async def receive(self, request: Request, spool: IO[bytes]) -> Received:
        """The whole body in time, or an error; files go to `spool`."""
        form = _Form(_boundary(request), Received(spool), self._limits)
        pace = Pace(self._limits)
        async with arriving("files", pace.seconds, "send fewer at once, or faster") as clock:
            await self._parse(pace.of(request.stream(), clock), request, form)
        if not form.received.complete:
            raise UsageError("the body is not complete: its last boundary is missing")
        return form.received

    async def _parse(self, body: AsyncIterable[bytes], request: Request, form: "_Form") -> None:
        """Read a refused body to its end too, up to a limit, so that the client can read the error."""
        most, size = self._limits.upload_bytes, 0
        declared = request.headers.get("content-length", "0")
        problem: QuintetError | None = None
        if declared.isdecimal() and int(declared) > most * LINGER:
            raise _too_large(most)
        async for part in body:
            size += len(part)
            if size > most:
                problem = _too_large(most)
            if size > most * LINGER:
                break
            if problem is None and part:
                problem = await anyio.to_thread.run_sync(form.write, part)
        if problem is not None:
            raise problem


def _too_large(most: int) -> RequestError:
    message = f"the files of one call may have {most} bytes; send them in several calls"
    return RequestError(413, "too_large", message, CLOSE)


def _boundary(request: Request) -> bytes:
    _, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if not 0 < len(boundary) <= 70:  # RFC 2046
        raise UsageError(
            "the content type names no boundary; send multipart/form-data as browsers and curl do"
        )
    return boundary


class _Form:
    """Parses a body while it arrives."""

    def __init__(self, boundary: bytes, received: Received, limits: Limits) -> None:
        self.received = received
        self._limits = limits
        self._headers: dict[str, bytes] = {}
        self._name, self._value = b"", b""
        self._part: tuple[str, str | None, str | None] = ("", None, None)
        self._start = self._size = 0
        self._text = b""
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._header_name,
                "on_header_value": self._header_value,
                "on_header_end": self._header,
                "on_headers_finished": self._check_part,
                "on_part_data": self._data,
                "on_part_end": self._end,
                "on_end": self._complete,
            },
        )

    def write(self, part: bytes) -> QuintetError | None:
        """Parse the next part of the body; the result is the error in it, if any."""
        try:
            self._parser.write(part)
        except FormParserError as error:
            return UsageError(f"the body is not valid multipart/form-data: {error}")
        except (LimitError, UsageError) as error:
            return error
        except OSError as error:
            return StoreError(f"the temporary file cannot be written: {error.strerror}; check the disk")
        return None

    def _begin(self) -> None:
        self._headers, self._name, self._value = {}, b"", b""
        self._start, self._size, self._text = self.received.spool.tell(), 0, b""

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header(self) -> None:
        self._headers[self._name.decode("latin-1").lower()] = self._value
        self._name, self._value = b"", b""

    def _check_part(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        name = options.get(b"name", b"").decode("utf-8", "replace")
        file = options.get(b"filename")
        mime = self._headers.get("content-type")
        self._part = (
            name,
            None if file is None else file.decode("utf-8", "replace"),
            None if mime is None else mime.decode("latin-1"),
        )
        if file is None and name not in FIELDS:
            raise UsageError(
                f"the form has no field {name[:80]!r}; it takes files, and {', '.join(FIELDS)}",
                details={"parameter": name[:80]},
            )
        if file is None and name in self.received.fields:
            raise UsageError(
                f"the form has the field {name!r} twice; give it once", details={"parameter": name}
            )
        if file is not None and len(self.received.files) >= self._limits.documents:
            raise LimitError(f"one call may have {self._limits.documents} files; send them in several")

    def _data(self, data: bytes, start: int, end: int) -> None:
        self._size += end - start
        most = FIELD_BYTES if self._part[1] is None else self._limits.document_bytes
        if self._size > most:
            what = self._part[0] if self._part[1] is None else self._part[1]
            raise LimitError(f"{what[:80]!r} has more than {most} bytes; nothing was stored: leave it out")
        if self._part[1] is None:
            self._text += data[start:end]
        else:
            self.received.spool.write(data[start:end])

    def _end(self) -> None:
        name, file, mime = self._part
        if file is None:
            self.received.fields[name] = self._text
        elif file or self._size:  # a browser sends an empty file if none was chosen
            self.received.files.append(UploadedFile(file or None, mime, self._start, self._size))

    def _complete(self) -> None:
        self.received.complete = True
