"""A tantivy index on disk, and which state of the database it was made from.

The folder holds `state.json` and, in a folder that it names, tantivy's own files. The state is written last:
a build or update that is cut short leaves the old index, or files that do not fit and are not used.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from typing import TYPE_CHECKING, Any
from zlib import crc32

from filelock import FileLock

from quintet.errors import StoreError
from quintet.processes import private
from quintet.storage.sqlite.catalog import State
from quintet.storage.text.tantivy.fields import engine, schema

if TYPE_CHECKING:
    from tantivy import Document, Index

VERSION = 4  # of the fields and their analysis: an index of another version is rebuilt
STATE = "state.json"
LOCK = "lock"
BUILDING_BYTES = 256_000_000  # of memory, before tantivy writes a segment
UPDATING_BYTES = 32_000_000
META = "meta.json"  # which tantivy replaces with every commit
KEPT_BY_TANTIVY = (".managed.json", ".tantivy-meta.lock", ".tantivy-writer.lock")
READ_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class StoredState:
    """The content of `state.json`: the state of the database, the folder, tantivy's own count of operations,
    the number of chunks replaced since the build, and the size and CRC-32 of each file."""

    version: int
    index_id: str
    generation: int
    tag: str
    folder: str
    operations: int
    replaced: int
    files: Mapping[str, Sequence[int]]

    @property
    def state(self) -> State:
        return State(self.index_id, self.generation, self.tag)


@contextmanager
def translate_tantivy_errors(place: Path) -> Iterator[None]:
    """Turn every error of tantivy into one of ours. Rust's panics are not Exceptions."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, (ValueError, OSError)) or type(error).__name__ == "PanicException":
            reason = " ".join(str(error).split())[:200]
            raise StoreError(
                f"the tantivy index in {place} failed: {reason}; check the disk, or delete the folder: "
                "it is rebuilt"
            ) from error
        raise


def in_memory(documents: Iterable["Document"]) -> "Index":
    index: Index = engine().Index(schema())
    _write(index, (), documents, BUILDING_BYTES)
    return index


class TantivyFolder:
    """Call its methods while it is `locked`, except `wrong_files`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def locked(self) -> Iterator[None]:
        private.make_folder(self.path)
        with FileLock(self.path / LOCK, thread_local=False, mode=private.FILE):
            yield

    def opened(self) -> tuple[StoredState, "Index"] | None:
        """The stored index; None if it is missing or damaged."""
        stored = self.stored()
        if stored is None:
            return None
        place = self.path / stored.folder
        try:
            if self.wrong_files(stored) or _operations(place) != stored.operations:
                return None
            with translate_tantivy_errors(place):
                return stored, _quiet(engine().Index.open(str(place)))
        except (OSError, ValueError, TypeError, KeyError, StoreError):
            return None

    def stored(self) -> StoredState | None:
        try:
            read = StoredState(**json.loads((self.path / STATE).read_text("utf-8")))
            return read if read.version == VERSION and Path(read.folder).name == read.folder else None
        except (OSError, ValueError, TypeError, RecursionError):
            return None

    def build(self, state: State, documents: Iterable["Document"]) -> "Index":
        """Build a new index in a folder of its own, which then replaces the old one."""
        name = f"{state.generation}-{token_hex(4)}"
        place = self.path / name
        place.mkdir(private.FOLDER)
        try:
            index: Index = engine().Index(schema(), path=str(place))
            _write(index, (), documents, BUILDING_BYTES)
            self._settle(StoredState(VERSION, *_named(state), name, _operations(place), 0, _files(place, {})))
        except BaseException:
            rmtree(place, ignore_errors=True)  # the disk may be full
            raise
        for other in self.path.iterdir():
            if other.is_dir() and other.name != name:
                rmtree(other, ignore_errors=True)  # still mapped by another process on some systems
        return index

    def update(
        self,
        opened: tuple[StoredState, "Index"],
        state: State,
        changed: Sequence[str],
        replaced: int,
        documents: Iterable["Document"],
    ) -> None:
        """Replace the changed documents."""
        stored, index = opened
        place = self.path / stored.folder
        _write(index, changed, documents, UPDATING_BYTES)
        files, operations = _files(place, stored.files), _operations(place)
        self._settle(StoredState(VERSION, *_named(state), stored.folder, operations, replaced, files))

    def _settle(self, stored: StoredState) -> None:
        draft = self.path / f"{STATE}.part"
        private.close_to_others(self.path / stored.folder)  # tantivy lets everybody read its files
        with private.open_new(draft) as file:
            file.write(json.dumps(asdict(stored), sort_keys=True).encode())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path / STATE)

    def wrong_files(self, stored: StoredState) -> list[str]:
        """The files whose bytes changed since they were written."""
        place = self.path / stored.folder
        return [name for name, about in sorted(stored.files.items()) if _about(place / name) != list(about)]


def remove_others(folder: Path, keep: str = "") -> None:
    """Delete all tantivy folders except this one."""
    for other in folder.glob("tantivy-*"):
        if other.name != keep:
            rmtree(other, ignore_errors=True)


def _write(index: "Index", changed: Sequence[str], documents: Iterable["Document"], memory: int) -> None:
    writer = index.writer(memory, 1)
    for document_id in changed:
        writer.delete_documents_by_term("document", document_id)
    for document in documents:
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    _quiet(index)


def _quiet(index: "Index") -> "Index":
    """Load the index now, without a thread that watches for later commits."""
    index.config_reader("manual")
    index.reload()
    return index


def _named(state: State) -> tuple[str, int, str]:
    return state.index_id, state.generation, state.tag


def _operations(place: Path) -> int:
    meta: Any = json.loads((place / META).read_text("utf-8"))
    return int(meta["opstamp"])


def _files(place: Path, known: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Size and checksum of every file. What is `known` is not read again: tantivy changes only META."""
    names = sorted(file.name for file in place.iterdir() if file.name not in KEPT_BY_TANTIVY)
    unread = known.keys() - {META}
    return {name: list(known[name]) if name in unread else _about(place / name) for name in names}


def _about(file: Path) -> list[int]:
    size = checksum = 0
    with suppress(FileNotFoundError), file.open("rb") as opened:
        while block := opened.read(READ_AT_ONCE):
            size, checksum = size + len(block), crc32(block, checksum)
    return [size, checksum]
