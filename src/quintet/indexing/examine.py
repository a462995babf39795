"""Examine one file: read and parse it, and decide what to write. Nothing is written here, so any process can
do it."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from quintet.formats.decoding import UnreadableFile
from quintet.formats.sandbox.parent import ParseLimits, Sandbox
from quintet.indexing.document import PARSERS, make_entry, shape, storable_time
from quintet.indexing.files import DiskFile, size_cap
from quintet.indexing.read import read_file
from quintet.ports.writing import Entry
from quintet.processes.channel import code_version
from quintet.settings import Settings

if TYPE_CHECKING:
    from quintet.ports.reading import KnownFile

_CODE = code_version(__file__)


class Task(NamedTuple):
    """A file to examine, what the index knows about it, and the time."""

    root: str
    file: DiskFile
    before: "KnownFile | None"
    now_ns: int


class SameContent(NamedTuple):
    """The content has not changed; size and time may have."""

    size: int
    modified_ns: int


class Refusal(NamedTuple):
    """The file cannot be indexed; `reason` completes "it is …" or "it …"."""

    reason: str


Examination = Entry | SameContent | Refusal


def identity() -> bytes:
    """Identifies this version of Quintet: processes that share work must be the same one."""
    return f"{PARSERS} {_CODE}".encode()


class Examiner:
    """Examines files until `close`. Binary formats are parsed in a process of their own."""

    def __init__(self, settings: Settings, force: bool) -> None:
        self._settings = settings
        self._shape = shape(settings)
        self._force = force
        self._sandbox = Sandbox(ParseLimits.of(settings))

    def close(self) -> None:
        self._sandbox.close()

    def each(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Examination]]:
        return ((task, self.examine(task)) for task in tasks)

    def examine(self, task: Task) -> Examination:
        file, before = task.file, task.before
        try:
            content = read_file(file.full_path, size_cap(file.path, self._settings))
            known = None if before is None or self._force else (before.content_hash, before.shape)
            if known == (content.sha256, self._shape):
                return SameContent(content.size, storable_time(content.modified_ns))
            return make_entry(task.root, file.path, content, self._settings, task.now_ns, self._sandbox)
        except UnreadableFile as error:
            return Refusal(error.reason)
