"""A file below a root, and the report of one that cannot be indexed."""

from dataclasses import dataclass

from quintet.formats.registry import is_binary
from quintet.settings import Settings


@dataclass(frozen=True, slots=True)
class DiskFile:
    """A regular file below a root.

    `path` is relative to the root, `/`-separated and in Unicode normal form C. `full_path` is absolute and
    spelt as on disk; it is a string because creating thousands of `Path` objects costs more than the walk.
    """

    path: str
    full_path: str
    size: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file or folder that could not be indexed, and why. Unprintable characters of the path are escaped."""

    path: str
    reason: str


def size_cap(path: str, settings: Settings) -> int:
    """The largest size, in bytes, that a file with this name may have."""
    return settings.max_document_bytes if is_binary(path) else settings.max_file_bytes
