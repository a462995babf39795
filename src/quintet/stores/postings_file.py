"""A segment as one file that processes share by memory mapping.

Magic, length and checksum of a header; the header (JSON) names the state it was made of and every array with
its place and checksum. A file that is not whole in any respect counts as none.
"""

import json
import os
import zlib
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from quintet.stores.postings import Array, Segment, State, arrays, segment_of

MAGIC = b"QTPOST\0\1"  # the last byte is the version
PREFIX = len(MAGIC) + 8
ALIGNED = 64
LARGEST_HEADER = 1 << 16
READ_AT_ONCE = 1 << 22
KINDS = {"<i8", "<i4", "<u8", "|u1", "<u2", "<u4", "|S16"}


def write(file: Path, state: State, segment: Segment) -> None:
    """Replace `file` as a whole, or leave it as it was."""
    places, at = list[list[Any]](), 0
    for name, values in arrays(segment):
        places.append([name, values.dtype.str, list(values.shape), at, zlib.crc32(_bytes(values))])
        at = _aligned(at + values.nbytes)
    about = [state.index_id, state.generation, state.tag]
    header = json.dumps({"state": about, "arrays": places}, separators=(",", ":")).encode()
    begin = _aligned(PREFIX + len(header))
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as target:
            target.write(MAGIC + len(header).to_bytes(4, "little") + zlib.crc32(header).to_bytes(4, "little"))
            target.write(header)
            for (_, values), place in zip(arrays(segment), places, strict=True):
                target.seek(begin + place[3])
                target.write(_bytes(values))
            target.truncate(begin + at)
            target.flush()
            os.fsync(target.fileno())
        part.replace(file)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _bytes(values: Array) -> Any:
    return np.ascontiguousarray(values).view(np.uint8).data if len(values) else b""


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def read(file: Path) -> tuple[State, Segment] | None:
    """What `write` wrote; None for a file that is missing or damaged in any byte."""
    try:
        with file.open("rb") as source:
            about, begin = _header(source)
            if not all(_is_sound(source, begin, place) for place in about["arrays"]):
                return None
            # What was checked is mapped, not what another process may have put in its place meanwhile.
            return State(*about["state"]), _mapped(source, begin, about["arrays"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_state(file: Path) -> State | None:
    """Only what a file says it is."""
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
    """Read past the mapping: a page that was only checked should not count as memory in use."""
    _, kind, shape, at, expected = place
    if kind not in KINDS:
        return False
    source.seek(begin + at)
    left, found = prod(shape) * np.dtype(kind).itemsize, 0
    while left:
        piece = source.read(min(left, READ_AT_ONCE))
        if not piece:
            return False
        found, left = zlib.crc32(piece, found), left - len(piece)
    return bool(found == expected)


def _mapped(source: BinaryIO, begin: int, places: list[list[Any]]) -> Segment:
    whole = np.memmap(source, np.uint8, "r")
    named: dict[str, Array] = {}
    for name, kind, shape, at, _ in places:
        first = begin + at
        size = prod(shape) * np.dtype(kind).itemsize
        named[name] = np.asarray(whole)[first : first + size].view(kind).reshape(shape)
    return segment_of(named)
