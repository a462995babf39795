"""Full text: BM25 is FTS5's own `bm25()`, the same number in every contract.

Words and phrases are scored from postings, to the last bit as FTS5 would; where words stand together it
tells, and CJK and its own language are left to it.
"""

from collections.abc import Sequence

import apsw
import numpy as np

from quintet.model import Hit, TextQuery, steady
from quintet.ports import Rows
from quintet.stores.postings import FIELDS, Bool
from quintet.stores.postings_score import Float64, View
from quintet.stores.postings_search import Clause, Ranking
from quintet.stores.sqlite.analyse import plain
from quintet.stores.sqlite.fts5_match import bad_query, matching_of
from quintet.stores.sqlite.fts5_scoring import Scoring
from quintet.stores.sqlite.lookup import lookup
from quintet.stores.sqlite.postings_view import PostingsViews, words


class Fts5TextIndex:
    """One snapshot's full text. Equal scores go by path, sequence and chunk id, so the order is total."""

    def __init__(self, connection: apsw.Connection, postings: PostingsViews) -> None:
        self._connection = connection
        self._postings = postings
        self._words = words(connection)
        self._last: tuple[TextQuery, list[Clause], Bool | None] | None = None

    def tokens(self, text: str) -> list[str]:
        return self._words.tokens(plain(text))

    def search(self, query: TextQuery, depth: int, within: Rows | None = None) -> list[Hit]:
        """The best `depth` chunks. A score is the sum of bm25 over the tables that were asked."""
        if not lookup(query) or depth < 1 or (within is not None and not len(within)):
            return []
        view = self._postings.view(self._connection)
        clauses, allowed = self._clauses(view, query)
        if within is not None:
            numbers = view.numbers(within)
            mask = np.zeros(view.size, np.bool_)
            mask[numbers[numbers >= 0]] = True
            allowed = mask if allowed is None else allowed & mask
        best, scores = Ranking(view, clauses, allowed).best(depth)
        return self._in_order(view.rows[best], scores)[:depth]

    def scores(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, float]:
        if not chunk_ids or not lookup(query):
            return {}
        view = self._postings.view(self._connection)
        rows = self._rows(chunk_ids)
        numbers = view.numbers(np.array(list(rows), np.int64))
        by_number = dict(zip(numbers.tolist(), rows.values(), strict=True))
        numbers.sort()
        clauses, allowed = self._clauses(view, query)
        scores, matched = Ranking(view, clauses, allowed).exact(numbers)
        found = zip(numbers.tolist(), scores.tolist(), matched.tolist(), strict=True)
        return {by_number[number]: score for number, score, matches in found if matches}

    def _rows(self, chunk_ids: Sequence[str]) -> dict[int, str]:
        """Chunk ids by row, ascending."""
        found = self._connection.execute(
            "SELECT row, id FROM chunks WHERE id IN (SELECT value FROM carray(?))",
            (apsw.carray(tuple(chunk_ids)),),
        )
        return dict(sorted(found))

    def _clauses(self, view: View, query: TextQuery) -> tuple[list[Clause], Bool | None]:
        """What adds to a score, and who may have one: kept, since the same query asks for scores next."""
        if self._last is None or self._last[0] != query:
            scoring = Scoring(self._connection, view, query)
            try:
                self._last = query, scoring.clauses(), scoring.allowed()
            except apsw.SQLError as error:
                raise bad_query(self._connection, query, error) from error
        return self._last[1:]

    def _in_order(self, rows: Rows, scores: Float64) -> list[Hit]:
        if not len(rows):
            return []
        places = {
            row: (path, sequence, chunk_id)
            for row, path, sequence, chunk_id in self._connection.execute(
                "SELECT c.row, d.path, c.sequence, c.id FROM chunks c JOIN documents d ON d.row = c.document "
                "WHERE c.row IN (SELECT value FROM carray(?))",
                (apsw.carray(np.ascontiguousarray(rows)),),
            )
        }
        found = zip(rows.tolist(), scores.tolist(), strict=True)
        ordered = sorted(found, key=lambda one: (-steady(one[1]), places[one[0]]))
        return [Hit(places[row][2], score, -score) for row, score in ordered]

    def matched_fields(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, list[str]]:
        """Which fields each chunk was found in, in whichever table."""
        matched: dict[str, list[str]] = {chunk_id: [] for chunk_id in chunk_ids}
        if not chunk_ids:
            return matched
        rows = self._rows(chunk_ids)
        within = np.array(list(rows), np.int64)
        view = self._postings.view(self._connection)
        numbers = view.numbers(within)
        stemmed = [one for several in Scoring(self._connection, view, query).stemmed() for one in several]
        for at, field in enumerate(FIELDS):
            found: set[int] = set()
            for table, expression in lookup(query).scored.items():
                found.update(matching_of(self._connection, table, f"{{{field}}} : ({expression})", within))
            for one in stemmed:
                found.update(within[one.holding(numbers, at)].tolist())
            for row in sorted(found):
                matched[rows[row]].append(field)
        return matched
