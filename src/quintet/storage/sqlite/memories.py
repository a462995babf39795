"""Memories by their id and by time."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from quintet.model.filters import Filter
from quintet.model.memories import ROOT, Memo, memo_from
from quintet.storage.sqlite import filters
from quintet.storage.sqlite.checksums import CheckedRows

STORED = "SELECT d.row, d.metadata FROM documents d JOIN roots r ON r.row = d.root"


class SqliteMemos:
    """The memories of one snapshot."""

    def __init__(self, connection: apsw.Connection, checked: CheckedRows) -> None:
        self._connection = connection
        self._checked = checked

    def get(self, ids: Iterable[str]) -> dict[str, Memo]:
        """Those of `ids` that are there."""
        memos = {}
        for id in dict.fromkeys(ids):
            for stored in self._connection.execute(f"{STORED} WHERE r.name = ? AND d.path = ?", (ROOT, id)):
                memos[id] = self._memo(*stored)
        return memos

    def all(self, filter: Filter) -> Iterator[Memo]:
        """Oldest first, then by id."""
        return self._ordered(filter, "", (), "ASC", -1)

    def before(self, filter: Filter, created_ms: int, id: str, count: int) -> list[Memo]:
        """The last `count` before that moment, oldest first."""
        place = (created_ms * 1_000_000, id)
        return list(self._ordered(filter, "(d.modified_ns, d.path) < (?, ?)", place, "DESC", count))[::-1]

    def after(self, filter: Filter, created_ms: int, id: str, count: int) -> list[Memo]:
        """The first `count` behind that moment, oldest first."""
        place = (created_ms * 1_000_000, id)
        return list(self._ordered(filter, "(d.modified_ns, d.path) > (?, ?)", place, "ASC", count))

    def _ordered(
        self, filter: Filter, where: str, values: tuple[int | str, ...], direction: str, count: int
    ) -> Iterator[Memo]:
        conditions, given = ["r.name = ?"], [ROOT, *values]
        if where:
            conditions.append(where)
        rows = filters.select(self._connection, filter) if filter.conditions else None
        if rows is not None and not len(rows):
            return
        if rows is not None:
            chosen = "SELECT document FROM chunks WHERE row IN (SELECT value FROM carray(?))"
            conditions.append(f"d.row IN ({chosen})")
        sql = (
            f"{STORED} WHERE {' AND '.join(conditions)} "
            f"ORDER BY d.modified_ns {direction}, d.path {direction} LIMIT {count:d}"
        )
        arguments = given if rows is None else [*given, apsw.carray(rows)]
        for stored in self._connection.execute(sql, arguments):
            yield self._memo(*stored)

    def _memo(self, row: Any, metadata: Any) -> Memo:
        self._checked.check_documents(self._connection, (row,))
        return memo_from(json.loads(metadata))
