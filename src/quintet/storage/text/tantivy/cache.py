"""Finds the tantivy index that was built from the state of a snapshot."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from quintet.storage.sqlite.catalog import CHANGED, State, led_here, state_of
from quintet.storage.sqlite.checksums import CATALOG, check_tables
from quintet.storage.sqlite.read_only_disk import is_read_only
from quintet.storage.text.chunk_reader import FILE_PATH
from quintet.storage.text.tantivy.fields import Analyser, engine
from quintet.storage.text.tantivy.files import (
    StoredState,
    TantivyFolder,
    in_memory,
    remove_others,
    translate_tantivy_errors,
)
from quintet.storage.text.tantivy.query import QueryBuilder

if TYPE_CHECKING:
    from tantivy import Document, Index, Query

KEPT = 3  # views, so that readers of older snapshots find theirs
# A replaced chunk counts in tantivy's statistics until its segment is merged. Beyond one in 64, a writer
# rebuilds the index. A search during a run waits for that only beyond one in 8.
REPLACED, REPLACED_BY_SEARCHES = 64, 8

CHUNKS = (
    f"SELECT c.row, d.id, x.content, c.heading_path, d.title, {FILE_PATH} FROM chunks c "
    "JOIN documents d ON d.row = c.document JOIN contents x ON x.row = c.row JOIN roots r ON r.row = d.root"
)


class TantivyView:
    """The tantivy index of one state."""

    def __init__(self, state: State, index: "Index", place: Path) -> None:
        self.state = state
        self.index = index
        self.place = place
        self.builder = QueryBuilder(index.schema)
        self._searcher = index.searcher()
        self.chunks = self._searcher.num_docs

    def count(self, field: str, token: str) -> int:
        """How many chunks hold a token in this field."""
        return int(self._searcher.doc_freq(field, token)) if self.chunks else 0

    def hits(self, query: "Query", limit: int) -> list[tuple[int, float]]:
        """Rows with their scores, best first."""
        if not self.chunks:
            return []
        hits = self._searcher.search(query, min(limit, self.chunks), count=False).hits
        rows = self._searcher.fast_field_values("row", [address for _, address in hits])
        return [(int(row or 0), score) for row, (score, _) in zip(rows, hits, strict=True)]


class TantivyCache:
    """Keeps the newest views. Safe to use from many threads."""

    def __init__(self, folder: Path) -> None:
        engine()  # a missing extra is reported when the index is opened, not by the first search
        self._folder = folder
        self._lock = threading.Lock()
        self._views: tuple[TantivyView, ...] = ()

    def view(self, connection: apsw.Connection) -> TantivyView:
        state = state_of(connection)
        view = self._kept(state)
        if view is not None:
            return view
        with self._lock:
            view = self._kept(state) or self._unchanged(connection, state)
            return self._keep(view or self._from_disk(connection, state, newest=False))

    def renew(self, connection: apsw.Connection) -> None:
        """Bring the index up to date at the end of a run. No later state can be on the disk, unless the
        database was restored, and a rebuild no longer makes searches wait."""
        with self._lock:
            self._keep(self._from_disk(connection, state_of(connection), newest=True))

    def _keep(self, view: TantivyView) -> TantivyView:
        others = [other for other in self._views if other.state != view.state]
        self._views = tuple(sorted([*others, view], key=_generation)[-KEPT:])
        return view

    def _kept(self, state: State) -> TantivyView | None:
        return next((view for view in self._views if view.state == state), None)

    def _unchanged(self, connection: apsw.Connection, state: State) -> TantivyView | None:
        """An earlier view, if only vectors or the graph changed since then."""
        for view in reversed(self._views):
            if led_here(connection, view.state, state):
                same = not _changed(connection, view.state) and view.chunks == _count(connection)
                return TantivyView(state, view.index, view.place) if same else None
        return None

    def _from_disk(self, connection: apsw.Connection, state: State, newest: bool) -> TantivyView:
        """The index on disk, brought to this state. In memory if another process brought it to a later state,
        or if the disk is read-only: tantivy locks every folder it opens."""
        folder = self.folder_of(state)
        with translate_tantivy_errors(folder.path):
            if is_read_only(self._folder):
                return TantivyView(state, in_memory(_documents(connection)), folder.path)
            remove_others(self._folder, keep=folder.path.name)
            with folder.locked():
                opened = folder.opened()
                if opened is None or newest or opened[0].generation <= state.generation:
                    least = REPLACED if newest else REPLACED_BY_SEARCHES
                    index = opened and _updated(connection, folder, opened, state, least)
                    index = index or folder.build(state, _documents(connection))
                    return TantivyView(state, index, folder.path)
            return TantivyView(state, in_memory(_documents(connection)), folder.path)

    def folder_of(self, state: State) -> TantivyFolder:
        return TantivyFolder(self._folder / f"tantivy-{state.index_id}")


def _updated(
    connection: apsw.Connection,
    folder: TantivyFolder,
    opened: "tuple[StoredState, Index]",
    state: State,
    least: int,
) -> "Index | None":
    """The index with the changes since it was written; None if they are unknown, or if more than one chunk in
    `least` was replaced."""
    stored, index = opened
    if not led_here(connection, stored.state, state):
        return None
    chunks, changed, replaced = _count(connection), _changed(connection, stored.state), stored.replaced
    if changed:
        new = connection.execute(
            f"SELECT count(*) FROM chunks c JOIN documents d ON d.row = c.document WHERE d.id IN ({CHANGED})",
            (stored.generation,),
        ).get
        replaced += index.searcher().num_docs - (chunks - int(new))
    if replaced * least > chunks:
        return None
    if changed:
        folder.update(opened, state, changed, replaced, _documents(connection, stored.generation))
    # The numbers differ if names of removed documents were forgotten.
    return index if index.searcher().num_docs == chunks else None


def _documents(connection: apsw.Connection, after: int | None = None) -> Iterator["Document"]:
    """All chunks, or those of the documents that changed after a generation."""
    if after is None:
        check_tables(connection, CATALOG)
    analyser = Analyser(connection)
    where, values = ("", ()) if after is None else (f"WHERE d.id IN ({CHANGED})", (after,))
    for row, document_id, *texts, path in connection.execute(f"{CHUNKS} {where} ORDER BY c.row", values):
        yield analyser.document(row, document_id, texts, path)


def _changed(connection: apsw.Connection, since: State) -> list[str]:
    return [
        document_id for (document_id,) in connection.execute(f"{CHANGED} ORDER BY id", (since.generation,))
    ]


def _count(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM chunks").get)


def _generation(view: TantivyView) -> int:
    return view.state.generation
