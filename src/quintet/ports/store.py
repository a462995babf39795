"""A store: snapshots to read, one writer to write."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from quintet.ports.health import HealthCheck
from quintet.ports.reading import Snapshot
from quintet.ports.store_files import StoreFiles
from quintet.ports.writing import Writer


class Store(Protocol):
    """Safe to use from many threads and processes. Readers never wait for the writer."""

    @property
    def folder(self) -> Path: ...

    def snapshot(self) -> AbstractContextManager[Snapshot]: ...

    def writer(self, timeout: float) -> AbstractContextManager[Writer]:
        """The writer, as soon as no other thread or process has it. Raises Conflict `busy_writer` after
        `timeout` seconds."""
        ...

    def close(self) -> None: ...


class FolderStore(Store, Protocol):
    """A store in a folder of its own, which may be missing or go away."""

    def exists(self) -> bool: ...

    def create(self) -> None:
        """Make the folder and an empty store in it, if there is none."""
        ...

    def upgrade(self) -> None:
        """Open what is there. Creates nothing, not even a folder that was deleted a moment ago."""
        ...

    def copy(self, folder: Path, files: StoreFiles) -> None:
        """Put the database as it is now into another folder, under the name that `files` gives it."""
        ...

    def examine(self) -> list[HealthCheck]:
        """Check whether what is stored is sound."""
        ...

    def rest(self) -> None:
        """Close the files that nobody is using; the next reader or writer opens them again."""
        ...
