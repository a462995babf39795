"""Questions for FTS5 alone: which rows match an expression, how often, with which `bm25()`, and where an
expression is wrong."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any
from weakref import WeakSet

import apsw
import numpy as np

from quintet.errors import UsageError
from quintet.model.text_query import TextQuery
from quintet.ports.reading import Rows
from quintet.storage.text.postings.score import K1, B, Float64, fts5_idf
from quintet.storage.text.postings.segment import FIELDS, Int64

LOOKED_AT = 50  # occurrences of a token that are tried, to find the one FTS5 meant
TIMES, COUNTS, CONTENT_BM25 = "quintet_times", "quintet_counts", "quintet_content_bm25"

_extended: WeakSet[apsw.Connection] = WeakSet()  # connections with our functions; FTS5 cannot unregister one


def _extend(connection: apsw.Connection) -> None:
    if connection not in _extended:
        connection.register_fts5_function(TIMES, lambda row, *_: row.inst_count)
        connection.register_fts5_function(COUNTS, _counts)
        connection.register_fts5_function(CONTENT_BM25, _content_bm25)
        _extended.add(connection)


def ranked(
    connection: apsw.Connection, table: str, expression: str, weights: str = ""
) -> tuple[Rows, Float64]:
    """Every row that matches, and its negated bm25. `weights` are the fields', as SQL literals."""
    sql, values = f"SELECT rowid, rank FROM {table} WHERE {table} MATCH ?", [expression]
    if weights:
        sql += " AND rank MATCH ?"
        values.append(f"bm25({weights})")
    matches: Any = connection.execute(sql, values).fetchall()
    rows = np.fromiter((row for row, _ in matches), np.int64, len(matches))
    return rows, np.fromiter((-rank for _, rank in matches), np.float64, len(matches))


def ranked_by_content(connection: apsw.Connection, table: str, expression: str) -> tuple[Rows, Float64]:
    """Every row whose content matches, and its negated bm25 in a table that holds nothing but the content."""
    _extend(connection)
    check(connection, table, expression)  # an error then names the position in what was asked
    matches: Any = connection.execute(
        f"SELECT rowid, {CONTENT_BM25}({table}) FROM {table} WHERE {table} MATCH ?", (in_content(expression),)
    ).fetchall()
    rows = np.fromiter((row for row, _ in matches), np.int64, len(matches))
    return rows, np.fromiter((score for _, score in matches), np.float64, len(matches))


def check(connection: apsw.Connection, table: str, expression: str) -> None:
    """Raise an error if the expression is not valid by itself."""
    connection.execute(f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT 1", (expression,)).fetchall()


def in_content(expression: str) -> str:
    return f"{{content}} : ({expression})"


def _content_bm25(row: apsw.FTS5ExtensionApi, *_: Any) -> float:
    """FTS5's bm25() with the lengths of the content alone; its own takes those of all columns."""
    if row.aux_data is None:
        average = row.column_total_size(0) / row.row_count
        row.aux_data = average, [_idf(row, phrase) for phrase in range(row.phrase_count)]
    average, idfs = row.aux_data
    norm = K1 * (1 - B + B * row.column_size(0) / average)
    score = 0.0
    for phrase, idf in enumerate(idfs):
        frequency = float(len(row.phrase_column_offsets(phrase, 0)))
        score += idf * ((frequency * (K1 + 1.0)) / (frequency + norm))
    return score


def _idf(row: apsw.FTS5ExtensionApi, phrase: int) -> float:
    matches: list[None] = []
    row.query_phrase(phrase, lambda _, counted: counted.append(None), matches)
    return fts5_idf(row.row_count, len(matches))


def counted(connection: apsw.Connection, table: str, phrase: str, *, by_field: bool) -> tuple[Rows, Int64]:
    """Every row that matches a phrase, and how often it occurs in each field. Without `by_field`, all
    occurrences count for the first field. FTS5's bm25() would read everything twice, and every row's
    length."""
    _extend(connection)
    sql = f"SELECT rowid, {COUNTS if by_field else TIMES}({table}) FROM {table} WHERE {table} MATCH ?"
    matches: Any = connection.execute(sql, (phrase,)).fetchall()
    if by_field:
        counts = [tuple(map(int, by_field_counts.split())) for _, by_field_counts in matches]
        rows = np.fromiter((row for row, _ in matches), np.int64, len(matches))
        return rows, np.array(counts, np.int64).reshape(-1, len(FIELDS))
    both = np.fromiter(chain.from_iterable(matches), np.int64, 2 * len(matches)).reshape(-1, 2)
    return both[:, 0], both[:, 1:] * np.array([1, 0, 0])


def _counts(row: apsw.FTS5ExtensionApi, *_: Any) -> str:
    return " ".join(str(len(places)) for places in row.phrase_locations(0))


def matching(connection: apsw.Connection, table: str, expression: str) -> Rows:
    matches = connection.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (expression,)).fetchall()
    return np.fromiter((row for (row,) in matches), np.int64, len(matches))


def matching_of(connection: apsw.Connection, table: str, expression: str, rows: Rows) -> Sequence[int]:
    """Which of these rows match."""
    matches = connection.execute(
        f"SELECT rowid FROM {table} WHERE {table} MATCH ? "
        "AND +rowid IN (SELECT value FROM carray(?))",  # without the plus, a seek for each row
        (expression, apsw.carray(rows)),
    )
    return [row for (row,) in matches]


def bad_query(connection: apsw.Connection, query: TextQuery, error: apsw.SQLError) -> UsageError:
    text = query.expression or ""
    message = " ".join(str(error).split())
    at = _position(connection, text, message)
    shown = message.replace('near ""', "at the end")
    return UsageError(
        f"the query is not valid FTS5 at position {at}: {shown}; correct it or use syntax 'plain'",
        code="bad_query",
        details={"position": at},
    )


def _position(connection: apsw.Connection, text: str, message: str) -> int:
    """The position of the error. FTS5 only names the token at which it failed."""
    if column := re.search("no such column: (.*)", message):
        used = re.search(re.escape(column[1]) + r"\s*[:}]", text) or re.search(re.escape(column[1]), text)
        return used.start() if used else 0
    if message == "unterminated string":
        return text.rfind('"')
    near = re.search('near "(.*)"', message)
    if near is None or not near[1]:
        return len(text)
    places = [fails.start() for fails in re.finditer(re.escape(near[1]), text)][:LOOKED_AT]
    ends = (at + len(near[1]) for at in places)
    failures = (_fails_at(connection, text[:end], message) for end in ends)
    return next((at for at, fails in zip(places, failures, strict=True) if fails), len(text))


def _fails_at(connection: apsw.Connection, beginning: str, message: str) -> bool:
    """Whether the query fails in the same way when it ends here."""
    try:
        check(connection, "text", " " + beginning)
    except apsw.SQLError as error:
        return " ".join(str(error).split()) == message
    return False
