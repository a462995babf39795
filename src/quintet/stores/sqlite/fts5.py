"""Full text through SQLite's FTS5: BM25 is FTS5's own `bm25()`, the same number in every contract."""

from collections.abc import Sequence

import apsw
import numpy as np

from quintet.errors import UsageError
from quintet.model import Hit, TextQuery
from quintet.ports import Rows
from quintet.stores.sqlite.analyse import plain
from quintet.stores.sqlite.lookup import Lookup, lookup

FIELDS = ("content", "heading_path", "title")
FLAGS = apsw.FTS5_TOKENIZE_QUERY
HEAVIEST = 1e6  # a weight beyond it changes no order, and in the end makes infinities


class Fts5TextIndex:
    """One snapshot's full text. Equal scores go by path, sequence and chunk id, so the order is total."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._tokenizer = connection.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])

    def tokens(self, text: str) -> list[str]:
        found = self._tokenizer(plain(text).encode(), FLAGS, None, include_offsets=False)
        return [str(token) for group in found for token in group]

    def search(self, query: TextQuery, depth: int, within: Rows | None = None) -> list[Hit]:
        """The best `depth` chunks. A score is the sum of bm25 over the tables that were asked."""
        wanted = lookup(query)
        if not wanted.scored or (within is not None and not len(within)):
            return []
        try:
            best = self._best(query, wanted, depth + 1, within)
            if len(best) > depth and best[depth][1] == best[depth - 1][1]:
                # A tie reaches over the cut: only the whole tie, put in order, tells who stays.
                best = self._at_least(query, wanted, best[depth][1], within)
        except apsw.SQLError as error:
            raise self._bad_query(query, error) from error
        return self._in_order(best)[:depth]

    def _best(
        self, query: TextQuery, wanted: Lookup, count: int, within: Rows | None
    ) -> list[tuple[int, float]]:
        sql, values = _scores(query, wanted, within)
        return list(self._connection.execute(f"{sql} ORDER BY score LIMIT {count:d}", values))

    def _at_least(
        self, query: TextQuery, wanted: Lookup, score: float, within: Rows | None
    ) -> list[tuple[int, float]]:
        sql, values = _scores(query, wanted, within)
        everything = self._connection.execute(f"SELECT * FROM ({sql}) WHERE score <= ?", (*values, score))
        return list(everything)

    def _in_order(self, found: Sequence[tuple[int, float]]) -> list[Hit]:
        if not found:
            return []
        rows = np.array([row for row, _ in found], dtype=np.int64)
        places = {
            row: (path, sequence, chunk_id)
            for row, path, sequence, chunk_id in self._connection.execute(
                "SELECT c.row, d.path, c.sequence, c.id FROM chunks c JOIN documents d ON d.row = c.document "
                "WHERE c.row IN (SELECT value FROM carray(?))",
                (apsw.carray(rows),),
            )
        }
        ordered = sorted(found, key=lambda one: (one[1], places[one[0]]))
        return [Hit(places[row][2], -score, score) for row, score in ordered]

    def matched_fields(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, list[str]]:
        """Which columns of `text` each chunk was found in."""
        expression = lookup(query).scored.get("text")
        matched: dict[str, list[str]] = {chunk_id: [] for chunk_id in chunk_ids}
        if not expression or not chunk_ids:
            return matched
        marks = ", ".join("?" * len(chunk_ids))
        rows = dict(self._connection.execute(f"SELECT row, id FROM chunks WHERE id IN ({marks})", chunk_ids))
        within = apsw.carray(np.array(sorted(rows), dtype=np.int64))
        for field in FIELDS:
            found = self._connection.execute(
                "SELECT rowid FROM text WHERE text MATCH ? AND rowid IN (SELECT value FROM carray(?))",
                (f"{{{field}}} : ({expression})", within),
            )
            for (row,) in found:
                matched[rows[row]].append(field)
        return matched

    @staticmethod
    def _bad_query(query: TextQuery, error: apsw.SQLError) -> UsageError:
        message = " ".join(str(error).split())
        text = query.expression or ""
        near = message.rpartition('near "')[2].removesuffix('"') if 'near "' in message else None
        at = len(text) if not near else max(0, text.rfind(near))
        return UsageError(
            f"the query is not valid FTS5 at position {at}: {message}; correct it or use syntax 'plain'",
            code="bad_query",
            details={"position": at},
        )


def _scores(query: TextQuery, wanted: Lookup, within: Rows | None) -> tuple[str, list[object]]:
    """One SELECT of (row, score): bm25 of the one table, or the sum over several."""
    values: list[object] = []
    selects = []
    for table, expression in wanted.scored.items():
        sql = f"SELECT rowid AS row, rank AS score FROM {table} WHERE {table} MATCH ?"
        values.append(expression)
        if table == "text" and query.field_weights:
            sql += " AND rank MATCH ?"
            values.append(f"bm25({_weights(query)})")
        for alternatives in wanted.required:
            either = [f"+rowid IN (SELECT rowid FROM {one} WHERE {one} MATCH ?)" for one in alternatives]
            sql += f" AND ({' OR '.join(either)})"
            values.extend(alternatives.values())
        if within is not None:
            # The plus keeps SQLite from looking up every allowed row in the full-text index.
            sql += " AND +rowid IN (SELECT value FROM carray(?))"
            values.append(apsw.carray(within))
        selects.append(sql)
    if len(selects) == 1:
        return selects[0], values
    return f"SELECT row, sum(score) AS score FROM ({' UNION ALL '.join(selects)}) GROUP BY row", values


def _weights(query: TextQuery) -> str:
    given = dict(query.field_weights)
    # FTS5 reads no exponents.
    return ", ".join(f"{min(given.get(field, 1.0), HEAVIEST):.15f}" for field in FIELDS)
