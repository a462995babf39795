"""Watch the roots and index what changes, soon after it changes."""

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from quintet.errors import MissingExtra, NotFound, QuintetError
from quintet.indexing.ignore import NEVER
from quintet.indexing.roots import GivenPath, path_in_root
from quintet.indexing.run import Report
from quintet.indexing.walk import IGNORE_FILES
from quintet.ports.reading import Root

DEBOUNCE_MS = 1_600  # the longest time that changes are collected before they are indexed
QUIET_MS = 100  # collecting ends when nothing has changed for this long
CHECK_MS = 500  # how often to check that the roots are still the same folders
MANY = 200  # changes at once, as after a branch switch: one walk is cheaper than syncing each of them

OnReport = Callable[[Report], None]

log = logging.getLogger(__name__)


class WatchedIndex(Protocol):
    """What can be watched: an index, or a server's handle on one."""

    @property
    def folder(self) -> Path: ...

    def roots(self) -> list[Root]: ...

    def sync(self, paths: Sequence[GivenPath] | None = None) -> Report: ...


def check_watchable() -> None:
    """Raise what `watch` would raise, before anybody is told that it watches."""
    try:
        import watchfiles  # noqa: F401
    except ImportError as error:
        raise MissingExtra("watching needs watchfiles; run \"pip install 'quintet[server]'\"") from error


def watch(index: WatchedIndex, stop: threading.Event, on_report: OnReport) -> None:
    """Keep `index` up to date until `stop` is set, and call `on_report` after every run.

    The first run syncs everything. It starts after watching does, so no change is missed. The documents of a
    root that disappears stay in the index; the root is watched again when it comes back.
    """
    check_watchable()
    while not stop.is_set():
        folders = _root_folders(index)
        if folders:
            _follow(index, folders, stop, on_report)
        else:
            stop.wait(CHECK_MS / 1000)


def _follow(
    index: WatchedIndex, folders: dict[str, object], stop: threading.Event, on_report: OnReport
) -> None:
    """Index changes until the roots differ from `folders`."""
    pending: set[str] = set()
    everything = True
    for changed in _changes(index, folders, stop):
        pending |= changed
        if everything or pending:
            if not _sync(index, None if everything else pending, on_report):
                continue  # another process is writing: try again with the changes that come meanwhile
            everything = False
            pending.clear()
        if _root_folders(index) != folders:
            return


def _sync(index: WatchedIndex, changed: Iterable[str] | None, on_report: OnReport) -> bool:
    try:
        paths = None if changed is None else paths_to_sync(changed, index.roots())
        if paths != []:
            # Not to be resolved again: a path that has become a link since could lead anywhere.
            given = None if paths is None else [GivenPath(None, Path(path)) for path in paths]
            on_report(index.sync(given))
    except QuintetError as error:
        log.warning("a change could not be indexed: %s", error.code)
        return error.code != "busy_writer"
    return True


def _changes(index: WatchedIndex, folders: Iterable[str], stop: threading.Event) -> Iterator[set[str]]:
    """The paths that changed, set by set. An empty set comes whenever nothing has changed for a while."""
    import watchfiles

    index_folder = index.folder.resolve()
    watcher = watchfiles.watch(
        *folders,
        watch_filter=lambda change, path: _is_relevant(Path(path), index_folder),
        debounce=DEBOUNCE_MS,
        step=QUIET_MS,
        stop_event=stop,
        rust_timeout=CHECK_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
        ignore_permission_denied=True,
    )
    try:
        for changed in watcher:
            yield {path for _, path in changed}
    except FileNotFoundError:  # a root disappeared before it could be watched
        return


def _is_relevant(path: Path, index_folder: Path) -> bool:
    return not path.is_relative_to(index_folder) and NEVER.isdisjoint(path.parts)


def _root_folders(index: WatchedIndex) -> dict[str, object]:
    """The folders to watch, each with the device and inode that tell it from a replacement."""
    folders: dict[str, object] = {}
    try:
        roots = index.roots()
    except NotFound:  # the index was deleted; a new one may be made in its place
        return folders
    for root in roots:
        try:
            facts = Path(root.location).stat()
        except OSError:
            continue
        folders[root.location] = (facts.st_dev, facts.st_ino)
    return folders


def paths_to_sync(changed: Iterable[str], roots: Sequence[Root]) -> list[str] | None:
    """The existing files and folders to sync for these changes. None means everything."""
    paths = sorted(set(changed))
    if len(paths) > MANY:
        return None
    targets: set[str] = set()
    for path in paths:
        for root in roots:
            if not Path(path).is_relative_to(root.location):
                continue
            if root.only is None:
                targets.add(_nearest_existing(path, root.location))
            elif path_in_root(Path(path), root) in root.only:
                if os.path.realpath(path) != path or not Path(path).is_file():
                    return None  # its folder is not indexed, so the folder cannot be synced instead
                targets.add(path)
    return sorted(targets)


def _nearest_existing(path: str, location: str) -> str:
    """The changed path, or the closest folder above it that exists; a sync of that notices what is gone.

    A link counts as missing: its target may be anywhere.
    """
    nearest = Path(path)
    if nearest.name in IGNORE_FILES:  # its rules apply to the whole folder
        nearest = nearest.parent
    while str(nearest) != location and not (nearest.exists() and os.path.realpath(nearest) == str(nearest)):
        nearest = nearest.parent
    return str(nearest)
