"""Keeps the postings of the tables `text` and `parts` up to date with the database, in memory and on disk.

A segment belongs to one state: a generation, and the tag that its transaction drew. From any state that the
database remembers, the table `changes` leads to the present one.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import apsw
import numpy as np
import numpy.typing as npt

from quintet.storage.sqlite.catalog import CHANGED, State, led_here, state_of
from quintet.storage.sqlite.checksums import CATALOG, check_tables
from quintet.storage.text.analysis import tokenizer
from quintet.storage.text.chunk_reader import TEXTS, texts
from quintet.storage.text.postings.build import segments
from quintet.storage.text.postings.file import Spill, read, read_state, write
from quintet.storage.text.postings.merge import SegmentPart, SegmentStream, flow, flow_of, merged
from quintet.storage.text.postings.score import PostingsView
from quintet.storage.text.postings.segment import LONG, Bool, Segment, arrays

KEPT = 4  # views, so that readers of older snapshots find theirs
SMALL = 500  # chunks below which no file is written
IN_MEMORY = 50_000  # changed chunks up to which analysis stays in memory; beyond, the file is rewritten
BESIDE = 10_000  # changed chunks from which a process of its own pays
MANY = 2_000  # changed chunks after which a writer rewrites the file

Parts = Sequence[tuple[Segment, Bool | None]]


class PostingsCache:
    """Keeps the newest views. Safe to use from many threads; a search waits only for the view it needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._views: tuple[PostingsView, ...] = ()
        self._seen: tuple[int, int, int] | None = None  # identity of the file that was last read

    def view(self, connection: apsw.Connection) -> PostingsView:
        state = state_of(connection)
        view = self._kept(state)
        if view is not None:
            return view
        with self._lock:
            view = self._kept(state)
            return view if view is not None else self._made(connection, state)

    def _kept(self, state: State) -> PostingsView | None:
        return next((view for view in self._views if view.state == state), None)

    def _made(self, connection: apsw.Connection, state: State) -> PostingsView:
        earlier = self._from_file(connection, state) or self._earlier(connection, state)
        view = earlier
        if earlier is not None and earlier.state != state:
            changed, most = _changed(connection, earlier.state), max(MANY, _chunks(connection) // 2)
            view = _advanced(connection, earlier, state) if changed <= min(most, IN_MEMORY) else None
        if view is None:
            view = self._analysed(connection, state)
        self._keep(view)
        return view

    def _analysed(self, connection: apsw.Connection, state: State) -> PostingsView:
        """Analyse all text into the file; into memory only if the file cannot be written."""
        if _chunks(connection) >= SMALL:
            with suppress(OSError):
                with _waiting(self.folder, _everything(connection)) as whole:
                    write(self._file(state), state, whole)
                if (view := self._written(state)) is not None:
                    return view
        return PostingsView(state, [(merged([(segment, None) for segment in _everything(connection)]), None)])

    def _written(self, state: State) -> PostingsView | None:
        """The view of the file that was just written."""
        self._seen = _identity(self._file(state))
        stored = read(self._file(state))
        return None if stored is None or stored[0] != state else PostingsView(state, [(stored[1], None)])

    def _keep(self, view: PostingsView) -> None:
        others = [other for other in self._views if other.state != view.state]
        newest = sorted([*others, view], key=lambda other: other.state.generation)
        self._views = tuple(newest[-KEPT:])

    def _earlier(self, connection: apsw.Connection, state: State) -> PostingsView | None:
        usable = [view for view in self._views if led_here(connection, view.state, state)]
        return usable[-1] if usable else None

    def _from_file(self, connection: apsw.Connection, state: State) -> PostingsView | None:
        """The view of the file, if the file changed since the last look and is of an earlier state."""
        file = self._file(state)
        seen = _identity(file)
        if seen is None or seen == self._seen:
            return None
        stored = read(file)
        self._seen = seen
        if stored is None or not led_here(connection, stored[0], state):
            return None
        return PostingsView(stored[0], [(stored[1], None)])

    def _file(self, state: State) -> Path:
        return self.folder / f"text-{state.index_id}.postings"

    def much_to_do(self, connection: apsw.Connection) -> bool:
        """Whether compaction will take a while."""
        state = state_of(connection)
        on_disk = read_state(self._file(state))
        if on_disk is None or not led_here(connection, on_disk, state):
            return _chunks(connection) >= BESIDE
        return _changed(connection, on_disk) >= BESIDE

    def compact(self, connection: apsw.Connection, made: Sequence[SegmentPart] = ()) -> None:
        """Rewrite the file at the end of a run if much changed. `made` are segments that exist already."""
        state = state_of(connection)
        chunks = _chunks(connection)
        self._remove_others(self._file(state) if chunks >= SMALL else None)
        if chunks < SMALL or _is_current(connection, state, chunks, read_state(self._file(state))):
            return
        if sum(len(part.opened()) for part in made) == chunks:
            write(self._file(state), state, flow(made))
            return
        view = self.view(connection)
        if read_state(self._file(state)) == state:
            return
        with suppress(OSError):  # if the disk cannot be written, the segments stay as they are
            write(self._file(state), state, flow_of(view.segments))
            view = self._written(state) or view
        with self._lock:
            self._keep(view)

    def _remove_others(self, kept: Path | None) -> None:
        """Delete what another index or a killed process left. A reader writing just now loses its file, no
        more."""
        for other in self.folder.glob("text-*.postings*"):
            if other != kept:
                with suppress(OSError):
                    other.unlink()

    def is_right(self, connection: apsw.Connection) -> bool:
        """Whether the postings match the text. All text is analysed again to tell."""
        stored = _digests(flow_of(self.view(connection).segments))
        with suppress(OSError), _waiting(self.folder, _everything(connection)) as expected:
            return stored == _digests(expected)
        return stored == _digests(flow_of([(segment, None) for segment in _everything(connection)]))


@contextmanager
def _waiting(folder: Path, segments: Iterable[Segment]) -> Iterator[SegmentStream]:
    """All these segments as one, spilled to disk on the way."""
    with Spill(folder) as spill:
        yield flow([spill.put(segment) for segment in segments])


def _digests(whole: SegmentStream) -> list[tuple[str, str, tuple[int, ...], str]]:
    """The digest of every array, independent of the pieces it came in."""
    digests = {
        name: sha256() if name in LONG else sha256(values.tobytes()) for name, values in arrays(whole.segment)
    }
    for name, piece in whole.pieces:
        digests[name].update(piece.tobytes())
    return [
        (name, values.dtype.str, values.shape, digests[name].hexdigest())
        for name, values in arrays(whole.segment)
    ]


def _chunks(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM chunks").get)


def _is_current(connection: apsw.Connection, state: State, chunks: int, on_disk: State | None) -> bool:
    """Whether little has changed since the state of the file."""
    if on_disk is None or not led_here(connection, on_disk, state):
        return False
    return _changed(connection, on_disk) <= max(SMALL, min(chunks // 10, MANY))


def _changed(connection: apsw.Connection, since: State) -> int:
    """The number of chunks in added or changed documents, plus the number of removed documents."""
    count = connection.execute(
        "SELECT count(*) FROM changes g LEFT JOIN documents d ON d.id = g.id "
        "LEFT JOIN chunks c ON c.document = d.row WHERE g.generation > ?",
        (since.generation,),
    ).get
    return int(count)


def _identity(file: Path) -> tuple[int, int, int] | None:
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns, about.st_size


def _everything(connection: apsw.Connection) -> Iterator[Segment]:
    check_tables(connection, CATALOG)
    return segments(texts(connection, TEXTS), tokenizer(connection))


def _advanced(connection: apsw.Connection, earlier: PostingsView, state: State) -> PostingsView | None:
    """The view of this state, derived from an earlier one; None if the two do not fit together."""
    since = (earlier.state.generation,)
    changed = [bytes.fromhex(document_id) for (document_id,) in connection.execute(CHANGED, since)]
    parts = [_without(segment, live, changed) for segment, live in earlier.segments]
    if changed:
        changes = texts(connection, f"{TEXTS} WHERE d.id IN ({CHANGED})", since)
        parts += [(new, None) for new in segments(changes, tokenizer(connection))]
    chunks = _chunks(connection)
    if _alive(parts) > chunks:  # names of removed documents were forgotten
        ids = [
            bytes.fromhex(document_id) for (document_id,) in connection.execute("SELECT id FROM documents")
        ]
        here = np.array(ids, "S16")
        parts = [
            _without(segment, live, segment.documents[~np.isin(segment.documents, here)])
            for segment, live in parts
        ]
    if _alive(parts) != chunks:
        return None
    return PostingsView(state, _few(parts))


def _without(
    segment: Segment, live: Bool | None, documents: Sequence[bytes] | npt.NDArray[np.bytes_]
) -> tuple[Segment, Bool | None]:
    gone = segment.of_documents(documents)
    if not gone.any():
        return segment, live
    return segment, ~gone if live is None else live & ~gone


def _alive(parts: Parts) -> int:
    return sum(len(segment) if live is None else int(np.count_nonzero(live)) for segment, live in parts)


def _few(parts: Parts) -> Parts:
    """Merge segments until each is more than twice as large as the next: then there are logarithmically
    few."""
    kept: list[tuple[Segment, Bool | None]] = []
    for part in parts:
        if not _alive([part]):
            continue
        kept.append(part)
        while len(kept) > 1 and _alive(kept[-2:-1]) <= 2 * _alive(kept[-1:]):
            kept[-2:] = [(merged(kept[-2:]), None)]
    return kept
