"""Follow the disk: what changes below the roots is indexed soon after, and only that."""

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from quintet.errors import MissingExtra, NotFound, QuintetError
from quintet.indexing.ignore import NEVER
from quintet.indexing.roots import path_in_root
from quintet.indexing.run import Report
from quintet.indexing.walk import IGNORE_FILES
from quintet.ports.reading import Root

DEBOUNCE_MS = 1_600  # the longest that changes are gathered before they are acted upon
QUIET_MS = 100  # gathering ends once nothing has changed for so long
LOOK_MS = 500  # how often it is checked that the roots are still the same folders
MANY = 200  # changes at once, as after a branch switch: walking everything is cheaper than each of them

OnReport = Callable[[Report], None]
Changes = Iterator[set[str]]

log = logging.getLogger(__name__)


class WatchedIndex(Protocol):
    """What is followed: an index, or a server's door to one."""

    @property
    def folder(self) -> Path: ...

    def roots(self) -> list[Root]: ...

    def sync(self, paths: Sequence[str] | None = None) -> Report: ...


def watch(index: WatchedIndex, stop: threading.Event, on_report: OnReport) -> None:
    """Keep `index` up to date until `stop` is set; `on_report` hears of every run.

    The first run brings everything up to date, once changes are being listened for: nothing falls in
    between. A root that goes away is kept in the index, and followed again when it is back.
    """
    while not stop.is_set():
        places = _places(index)
        if places:
            _follow(index, places, stop, on_report)
        else:
            stop.wait(LOOK_MS / 1000)


def _follow(
    index: WatchedIndex, places: dict[str, object], stop: threading.Event, on_report: OnReport
) -> None:
    """Until the roots are others than `places`."""
    pending: set[str] = set()
    everything = True
    for changed in _changes(index, places, stop):
        pending |= changed
        if everything or pending:
            if not _synced(index, None if everything else pending, on_report):
                continue  # somebody else is writing: the same again, with what has come until then
            everything = False
            pending.clear()
        if _places(index) != places:
            return


def _synced(index: WatchedIndex, changed: Iterable[str] | None, on_report: OnReport) -> bool:
    try:
        wanted = None if changed is None else paths_to_sync(changed, index.roots())
        if wanted != []:
            on_report(index.sync(wanted))
    except QuintetError as error:
        log.warning("a change could not be indexed: %s", error.code)
        return error.code != "busy_writer"
    return True


def _changes(index: WatchedIndex, places: Iterable[str], stop: threading.Event) -> Changes:
    """What changed, set by set; an empty one whenever nothing did for a while."""
    try:
        import watchfiles
    except ImportError as error:
        raise MissingExtra("watching needs watchfiles; run \"pip install 'quintet[server]'\"") from error
    own = index.folder.resolve()
    listening = watchfiles.watch(
        *places,
        watch_filter=lambda change, path: _matters(Path(path), own),
        debounce=DEBOUNCE_MS,
        step=QUIET_MS,
        stop_event=stop,
        rust_timeout=LOOK_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
        ignore_permission_denied=True,
    )
    try:
        for changed in listening:
            yield {path for _, path in changed}
    except FileNotFoundError:  # a root went away before it could be listened to
        return


def _matters(path: Path, own: Path) -> bool:
    return not path.is_relative_to(own) and NEVER.isdisjoint(path.parts)


def _places(index: WatchedIndex) -> dict[str, object]:
    """The folders to follow, each with what tells it from another that takes its place."""
    found: dict[str, object] = {}
    try:
        roots = index.roots()
    except NotFound:  # the index was deleted; another may be made in its place
        return found
    for root in roots:
        try:
            facts = Path(root.location).stat()
        except OSError:
            continue
        found[root.location] = (facts.st_dev, facts.st_ino)
    return found


def paths_to_sync(changed: Iterable[str], roots: Sequence[Root]) -> list[str] | None:
    """What to sync for these changes: files and folders that exist. None means everything."""
    paths = sorted(set(changed))
    if len(paths) > MANY:
        return None
    wanted: set[str] = set()
    for path in paths:
        for root in roots:
            if not Path(path).is_relative_to(root.location):
                continue
            if root.only is None:
                wanted.add(_nearest(path, root.location))
            elif path_in_root(Path(path), root) in root.only:
                if os.path.realpath(path) != path or not Path(path).is_file():
                    return None  # its folder is not indexed, so it cannot stand for the file
                wanted.add(path)
    return sorted(wanted)


def _nearest(path: str, location: str) -> str:
    """The changed thing, or the closest folder above it that is there: what is gone is missed in that.

    Links are not followed: a sync of one would look at what it points to, which may lie anywhere.
    """
    at = Path(path)
    if at.name in IGNORE_FILES:  # what it says holds for all of its folder
        at = at.parent
    while str(at) != location and not (at.exists() and os.path.realpath(at) == str(at)):
        at = at.parent
    return str(at)
