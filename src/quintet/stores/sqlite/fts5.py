"""Full text through SQLite's FTS5: BM25 is FTS5's own `bm25()`, the same number in every contract."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import apsw
import numpy as np

from quintet.errors import UsageError
from quintet.model import Hit, TextQuery, steady
from quintet.ports import Rows
from quintet.stores.sqlite.analyse import plain
from quintet.stores.sqlite.lookup import Lookup, lookup
from quintet.stores.sqlite.prune import bound, decisive

FIELDS = ("content", "heading_path", "title")
FLAGS = apsw.FTS5_TOKENIZE_QUERY
LOOKED_AT = 50  # places of a token that are tried to find the one FTS5 meant
BESIDE = 20_000  # rows of the smaller tables that are worth merging one by one
HEAVIEST = 1e6  # larger weights count as this: in the end they would make infinities
SLACK = 1 - 1e-11  # of a bm25, which is negative: all that rounds to the same twelve digits


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with its expressions and the rows it is held to."""

    query: TextQuery
    wanted: Lookup
    within: Rows | None

    @property
    def first(self) -> str:
        return next(iter(self.wanted.scored))

    @property
    def others(self) -> list[str]:
        return [table for table in self.wanted.scored if table != self.first]

    def select(
        self, table: str, phrases: Sequence[str] = (), beside: Rows | None = None
    ) -> tuple[str, list[object]]:
        """A SELECT of (row, bm25) of one table. `phrases` narrows it to rows that match one of them;
        rows `beside` are kept in any case, and marked in a third column."""
        # The plus keeps SQLite from looking up every such row in the full-text index.
        marked = "+rowid IN (SELECT value FROM carray(?))"
        columns, values = "rowid, rank", list[object]()
        if beside is not None:
            columns += f", {marked} AS beside"
            values.append(apsw.carray(beside))
        sql = f"SELECT {columns} FROM {table} WHERE {table} MATCH ?"
        values.append(self.wanted.scored[table])
        if table == "text" and self.query.field_weights:
            sql += " AND rank MATCH ?"
            values.append(f"bm25({_weights(self.query)})")
        for alternatives in self.wanted.required:
            sql += f" AND ({' OR '.join(_matching(one) for one in alternatives)})"
            values.extend(alternatives.values())
        if phrases:
            sql += f" AND ({_matching(table)}" + (f" OR {marked})" if beside is not None else ")")
            values += [" OR ".join(phrases), *([apsw.carray(beside)] if beside is not None else [])]
        if self.within is not None:
            sql += f" AND {marked}"
            values.append(apsw.carray(self.within))
        return sql, values


def _matching(table: str) -> str:
    return f"+rowid IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)"


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
            return self._in_order(self._best(Asked(query, wanted, within), depth))[:depth]
        except apsw.SQLError as error:
            raise self._bad_query(query, error) from error

    def _best(self, asked: Asked, depth: int) -> list[tuple[int, float]]:
        """At least the best `depth` rows, and all that tie with the last of them."""
        beside = self._beside(asked)
        if beside is None:
            best = self._everything(asked)
        else:
            best = _merged(self._first(asked, depth + 1, _rows(beside)), beside)
        best = sorted(best, key=lambda one: one[1])
        if len(best) <= depth or steady(best[depth][1]) > steady(best[depth - 1][1]):
            return best[:depth]
        # A tie reaches over the cut: only the whole tie, put in order, tells who stays.
        last = best[depth][1]
        if beside is not None:
            best = _merged(self._reaching(asked, last * SLACK, _rows(beside)), beside)
        return [one for one in best if steady(one[1]) <= steady(last)]

    def _first(self, asked: Asked, count: int, beside: Rows | None) -> dict[int, float]:
        """The best of the table that holds the words, and all its rows that others matched too."""
        # The plus keeps FTS5 from sorting by itself, which takes twice as long.
        ordered = f"ORDER BY +rank LIMIT {count:d}"
        if beside is not None:
            ordered = f"ORDER BY beside DESC, +rank LIMIT {count + len(beside):d}"
        bounds = self._bounds(asked)
        score = max(bounds.values(), default=0.0) / 2  # a guess; a wrong one costs a second try
        for _ in range(2):
            phrases = decisive(bounds, score)
            if len(phrases) == len(bounds):
                break
            found = self._scores(asked, phrases, beside, ordered)
            if len(found) < count:
                break
            reached = -sorted(found.values())[count - 1]
            if reached >= score:
                return found
            score = reached
        return self._scores(asked, (), beside, ordered)

    def _scores(
        self, asked: Asked, phrases: Sequence[str], beside: Rows | None, ordered: str
    ) -> dict[int, float]:
        sql, values = asked.select(asked.first, phrases, beside)
        return {row: score for row, score, *_ in self._connection.execute(f"{sql} {ordered}", values)}

    def _reaching(self, asked: Asked, score: float, beside: Rows | None) -> dict[int, float]:
        """All rows of that table that are as good as `score` there, or that others matched too."""
        sql, values = asked.select(asked.first, decisive(self._bounds(asked), -score), beside)
        kept = "rank <= ?" if beside is None else "(rank <= ? OR beside)"
        found = self._connection.execute(f"SELECT * FROM ({sql}) WHERE {kept}", (*values, score))
        return {row: score for row, score, *_ in found}

    def _bounds(self, asked: Asked) -> dict[str, float]:
        phrases = asked.wanted.either.get(asked.first, ())
        rows = self._connection.execute("SELECT coalesce(max(row), 0) FROM chunks").get
        counting = f"SELECT count(*) FROM {asked.first} WHERE {asked.first} MATCH ?"
        return {phrase: bound(self._connection.execute(counting, (phrase,)).get, rows) for phrase in phrases}

    def _beside(self, asked: Asked) -> dict[int, list[float]] | None:
        """Every row of the other tables, which are expected to match little; None if they match more."""
        beside: dict[int, list[float]] = {}
        for table in asked.others:
            sql, values = asked.select(table)
            for row, score in self._connection.execute(f"{sql} LIMIT {BESIDE + 1:d}", values):
                beside.setdefault(row, []).append(score)
        return beside if len(beside) <= BESIDE else None

    def _everything(self, asked: Asked) -> list[tuple[int, float]]:
        scores: dict[int, list[float]] = {}
        for table in asked.wanted.scored:
            for row, score in self._connection.execute(*asked.select(table)):
                scores.setdefault(row, []).append(score)
        return [(row, fsum(several)) for row, several in scores.items()]

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
        ordered = sorted(found, key=lambda one: (steady(one[1]), places[one[0]]))
        return [Hit(places[row][2], -score, score) for row, score in ordered]

    def matched_fields(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, list[str]]:
        """Which fields each chunk was found in, in whichever table."""
        matched: dict[str, list[str]] = {chunk_id: [] for chunk_id in chunk_ids}
        if not chunk_ids:
            return matched
        marks = ", ".join("?" * len(chunk_ids))
        rows = dict(self._connection.execute(f"SELECT row, id FROM chunks WHERE id IN ({marks})", chunk_ids))
        within = apsw.carray(np.array(sorted(rows), dtype=np.int64))
        for field in FIELDS:
            found: set[int] = set()
            for table, expression in lookup(query).scored.items():
                answer = self._connection.execute(
                    f"SELECT rowid FROM {table} WHERE {table} MATCH ? "
                    "AND +rowid IN (SELECT value FROM carray(?))",  # without the plus, a seek for each row
                    (f"{{{field}}} : ({expression})", within),
                )
                found.update(row for (row,) in answer)
            for row in sorted(found):
                matched[rows[row]].append(field)
        return matched

    def _bad_query(self, query: TextQuery, error: apsw.SQLError) -> UsageError:
        text = query.expression or ""
        message = " ".join(str(error).split())
        at = self._position(text, message)
        shown = message.replace('near ""', "at the end")
        return UsageError(
            f"the query is not valid FTS5 at position {at}: {shown}; correct it or use syntax 'plain'",
            code="bad_query",
            details={"position": at},
        )

    def _position(self, text: str, message: str) -> int:
        """Where FTS5 stumbled: it names only what it stumbled over."""
        if column := re.search("no such column: (.*)", message):
            used = re.search(re.escape(column[1]) + r"\s*[:}]", text) or re.search(re.escape(column[1]), text)
            return used.start() if used else 0
        if message == "unterminated string":
            return text.rfind('"')
        near = re.search('near "(.*)"', message)
        if near is None or not near[1]:
            return len(text)
        places = [found.start() for found in re.finditer(re.escape(near[1]), text)][:LOOKED_AT]
        return next((at for at in places if self._stumbles(text[: at + len(near[1])], message)), len(text))

    def _stumbles(self, beginning: str, message: str) -> bool:
        """Does the query fail in the same way when it ends here?"""
        try:
            self._connection.execute(
                "SELECT 1 FROM text WHERE text MATCH ? LIMIT 1", (" " + beginning,)
            ).fetchall()
        except apsw.SQLError as error:
            return " ".join(str(error).split()) == message
        return False


def _rows(beside: dict[int, list[float]]) -> Rows | None:
    return np.array(sorted(beside), np.int64) if beside else None


def _merged(first: dict[int, float], beside: dict[int, list[float]]) -> list[tuple[int, float]]:
    """The best of the first table together with all rows of the others.

    bm25 is never positive, so a row that only the first table matched cannot pass one of that table's best
    by way of the others: those best and all rows of the others hold the answer.
    """
    merged = dict(first)
    for row, scores in beside.items():
        merged[row] = fsum([first[row], *scores] if row in first else scores)
    return list(merged.items())


def _weights(query: TextQuery) -> str:
    given = dict(query.field_weights)
    # FTS5 reads no exponents.
    return ", ".join(f"{min(given.get(field, 1.0), HEAVIEST):.15f}" for field in FIELDS)
