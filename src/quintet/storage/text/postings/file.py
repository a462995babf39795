"""A segment as one file that processes share by memory mapping.

The file begins with magic bytes and the length and checksum of a header. The header (JSON) names the state of
the index, and every array with its place and checksum. A damaged file counts as missing.
"""

import json
import os
import tempfile
import threading
import zlib
from contextlib import suppress
from functools import partial
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from quintet.processes import private
from quintet.storage.sqlite.catalog import State
from quintet.storage.text.postings.merge import SegmentPart, SegmentStream
from quintet.storage.text.postings.segment import LONG, Array, Segment, arrays, segment_of

MAGIC = b"QTPOST\0\3"  # the last byte is the version
PREFIX = len(MAGIC) + 8
ALIGNED = 64
LARGEST_HEADER = 1 << 16
READ_AT_ONCE = 1 << 22
KINDS = {"<i8", "<i4", "<u8", "|u1", "<u2", "<u4", "|S16"}


class _Layout:
    """The place of each array, and its checksum so far."""

    def __init__(self, segment: Segment) -> None:
        self._places: dict[str, list[Any]] = {}
        self._filled: dict[str, int] = {}
        self.size = 0
        for name, values in arrays(segment):
            self._places[name] = [name, values.dtype.str, list(values.shape), self.size, 0]
            self._filled[name] = self.size
            self.size = _aligned(self.size + values.nbytes)

    @property
    def places(self) -> list[list[Any]]:
        return list(self._places.values())

    def put(self, target: BinaryIO, begin: int, name: str, piece: Array) -> None:
        """Write the next piece of an array."""
        data, place = _bytes(piece), self._places[name]
        target.seek(begin + self._filled[name])
        target.write(data)
        place[4] = zlib.crc32(data, place[4])
        self._filled[name] += piece.nbytes

    def header(self, state: State) -> bytes:
        about = [state.index_id, state.generation, state.tag]
        return json.dumps({"state": about, "arrays": self.places}, separators=(",", ":")).encode()

    def longest_header(self, state: State) -> int:
        """An upper bound of the header's length: a checksum has at most ten digits."""
        return len(self.header(state)) + 9 * len(self._places)


def write(file: Path, state: State, flow: SegmentStream) -> None:
    """Replace `file` as a whole, or leave it as it was."""
    part = file.with_name(f"{file.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        with private.open_new(part) as target:
            _write(target, state, flow)
            target.flush()
            os.fsync(target.fileno())
        part.replace(file)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _write(target: BinaryIO, state: State, flow: SegmentStream) -> None:
    layout = _Layout(flow.segment)
    guessed = _aligned(PREFIX + layout.longest_header(state))
    short = ((name, values) for name, values in arrays(flow.segment) if name not in LONG)
    for name, piece in chain(short, flow.pieces):
        layout.put(target, guessed, name, piece)
    header = layout.header(state)
    begin = _aligned(PREFIX + len(header))
    _move(target, guessed, begin, layout.size)
    target.seek(0)
    target.write(MAGIC + len(header).to_bytes(4, "little") + zlib.crc32(header).to_bytes(4, "little"))
    target.write(header.ljust(begin - PREFIX, b"\0"))
    target.truncate(begin + layout.size)


def _move(target: BinaryIO, old: int, new: int, size: int) -> None:
    """Move the arrays. Where they begin depends on the digits of their checksums, which are known last."""
    if old == new:
        return
    target.truncate(old + size)
    for at in range(0, size, READ_AT_ONCE):
        target.seek(old + at)
        piece = target.read(min(READ_AT_ONCE, size - at))
        target.seek(new + at)
        target.write(piece)


def _bytes(values: Array) -> Any:
    return np.ascontiguousarray(values).view(np.uint8).data if len(values) else b""


class Spill:
    """Keeps segments on disk in a file without a name, which goes when it is closed or the process ends.

    A segment is mapped each time it is opened, so its pages count as memory only that long.
    """

    def __init__(self, folder: Path) -> None:
        self._file: BinaryIO = tempfile.TemporaryFile(  # noqa: SIM115
            prefix="text-", suffix=".postings.part", dir=folder
        )
        self._end = 0

    def __enter__(self) -> "Spill":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def put(self, segment: Segment) -> SegmentPart:
        layout, begin = _Layout(segment), self._end
        for name, values in arrays(segment):
            layout.put(self._file, begin, name, values)
        self._end += layout.size
        self._file.truncate(self._end)
        self._file.flush()
        return SegmentPart(partial(_mapped, self._file, begin, layout.places))


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def read(file: Path) -> tuple[State, Segment] | None:
    """What `write` wrote; None for a file that is missing or damaged in any byte."""
    try:
        with file.open("rb") as source:
            about, begin = _header(source)
            if not all(_is_sound(source, begin, place) for place in about["arrays"]):
                return None
            # Map the file that was checked, not one that replaced it meanwhile.
            return State(*about["state"]), _mapped(source, begin, about["arrays"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_state(file: Path) -> State | None:
    """The state that a file says it is of, without checking its arrays."""
    try:
        with file.open("rb") as source:
            return State(*_header(source)[0]["state"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _header(source: BinaryIO) -> tuple[dict[str, Any], int]:
    """The header, and where the arrays begin."""
    prefix = source.read(PREFIX)
    size = int.from_bytes(prefix[len(MAGIC) : len(MAGIC) + 4], "little")
    if not prefix.startswith(MAGIC) or size > LARGEST_HEADER:
        raise ValueError("no postings")
    header = source.read(size)
    if zlib.crc32(header) != int.from_bytes(prefix[len(MAGIC) + 4 :], "little"):
        raise ValueError("a damaged header")
    return json.loads(header), _aligned(PREFIX + size)


def _is_sound(source: BinaryIO, begin: int, place: list[Any]) -> bool:
    """Read the file instead of mapping it: pages that are only checked should not count as memory in use."""
    _, kind, shape, at, expected = place
    if kind not in KINDS:
        return False
    source.seek(begin + at)
    left, checksum = prod(shape) * np.dtype(kind).itemsize, 0
    while left:
        piece = source.read(min(left, READ_AT_ONCE))
        if not piece:
            return False
        checksum, left = zlib.crc32(piece, checksum), left - len(piece)
    return bool(checksum == expected)


def _mapped(source: BinaryIO, begin: int, places: list[list[Any]]) -> Segment:
    whole = np.memmap(source, np.uint8, "r")
    named: dict[str, Array] = {}
    for name, kind, shape, at, _ in places:
        first = begin + at
        size = prod(shape) * np.dtype(kind).itemsize
        named[name] = np.asarray(whole)[first : first + size].view(kind).reshape(shape)
    return segment_of(named)
