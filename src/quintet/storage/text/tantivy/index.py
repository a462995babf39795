"""Full text through tantivy: BM25 as tantivy computes it, in float32 and with field lengths in 256 steps.

The setting `text_index` chooses it. Queries that need FTS5's scores go to the exact index instead.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import apsw
import numpy as np

from quintet.model.results import Hit
from quintet.model.text_query import TextQuery
from quintet.ports.reading import Rows, TextIndex
from quintet.storage.text.analysis import nearest, plain
from quintet.storage.text.tantivy.cache import TantivyCache, TantivyView
from quintet.storage.text.tantivy.fields import PLACES, Analyser
from quintet.storage.text.tantivy.files import translate_tantivy_errors
from quintet.storage.text.tantivy.query import TantivyClause, wanted

if TYPE_CHECKING:
    from tantivy import Query

FEW = 100  # a filter that passes fewer than one row in 100 is looked up row by row
DEEPER = 8  # factor for the next limit when a tie reaches beyond the last hit


class TantivyTextIndex:
    """The full text of one snapshot. Ties go by path, sequence and chunk id, so the order is total."""

    def __init__(self, connection: apsw.Connection, views: TantivyCache, exact: TextIndex) -> None:
        self._connection = connection
        self._views = views
        self._exact = exact
        self._analyser = Analyser(connection)

    @cached_property
    def _view(self) -> TantivyView:
        """Kept: another thread may move on to the next generation while this snapshot is in use."""
        return self._views.view(self._connection)

    def tokens(self, text: str) -> list[str]:
        return self._analyser.words(plain(text))

    def stems(self, words: Sequence[str]) -> list[str]:
        return self._exact.stems(words)

    def respelt(self, terms: Sequence[str]) -> dict[str, str]:
        words = {term: tokens[0] for term in terms if len(tokens := self.tokens(term)) == 1}
        unknown = {term: word for term, word in words.items() if not self._count("stems", self._stem(word))}
        found = {term: nearest(word, self._count_chunks) for term, word in unknown.items()}
        return {term: word for term, word in found.items() if word is not None}

    def _stem(self, word: str) -> str:
        return next(iter(self._analyser.stems(word)), word)

    def _count_chunks(self, words: Sequence[bytes]) -> list[int]:
        return [self._count("text", word.decode()) for word in words]

    def _count(self, field: str, token: str) -> int:
        with translate_tantivy_errors(self._view.place):
            return self._view.count(field, token)

    def search(self, query: TextQuery, depth: int, within: Rows | None = None) -> list[Hit]:
        """The best `depth` chunks, by the sum of what their fields score."""
        if query.needs_fts5:
            return self._exact.search(query, depth, within)
        asked = self._asked(query)
        if asked is None or depth < 1 or (within is not None and not len(within)):
            return []
        with translate_tantivy_errors(self._view.place):
            best = self._best(asked, depth, within)
        return self._in_order(best)[:depth]

    def scores(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, float]:
        if query.needs_fts5:
            return self._exact.scores(query, chunk_ids)
        asked, rows = self._asked(query), self._rows(chunk_ids)
        if asked is None or not rows:
            return {}
        with translate_tantivy_errors(self._view.place):
            hits = self._view.hits(self._view.builder.within(asked, list(rows)), len(rows))
        scores = {rows[row]: score for row, score in hits}
        return {chunk_id: scores[chunk_id] for chunk_id in chunk_ids if chunk_id in scores}

    def _asked(self, query: TextQuery) -> "Query | None":
        """The query for tantivy; None if nothing in it can be looked up."""
        clauses = wanted(query, self._analyser)
        return self._view.builder.query(clauses, query) if clauses.scored else None

    def _best(self, query: "Query", depth: int, within: Rows | None) -> list[tuple[int, float]]:
        """The best `depth` rows, and all that tie with the last of them."""
        if within is not None:
            best = self._sifted(query, depth, within)
            if best is not None:
                return best
            query = self._view.builder.within(query, within.tolist())
        limit = depth + 1
        while True:
            hits = self._view.hits(query, limit)
            best = _cut(hits, depth)
            if best is not None or len(hits) < limit:
                return hits if best is None else best
            limit *= DEEPER

    def _sifted(self, query: "Query", depth: int, within: Rows) -> list[tuple[int, float]] | None:
        """The best rows that pass the filter, taken from the best of all; None if that takes too many."""
        if len(within) * FEW < self._view.chunks:
            return None
        limit = 2 * (depth + 1) * self._view.chunks // len(within)
        hits = self._view.hits(query, limit)
        rows = np.array([row for row, _ in hits], np.int64)
        places = np.searchsorted(within, rows).clip(max=len(within) - 1)
        allowed = [hit for hit, is_in in zip(hits, within[places] == rows, strict=True) if is_in]
        return _cut(allowed, depth) or (allowed if len(hits) < limit else None)

    def _in_order(self, hits: Sequence[tuple[int, float]]) -> list[Hit]:
        if not hits:
            return []
        rows = np.array([row for row, _ in hits], dtype=np.int64)
        places = {
            row: (path, sequence, chunk_id)
            for row, path, sequence, chunk_id in self._connection.execute(
                "SELECT c.row, d.path, c.sequence, c.id FROM chunks c JOIN documents d ON d.row = c.document "
                "WHERE c.row IN (SELECT value FROM carray(?))",
                (apsw.carray(rows),),
            )
        }
        ordered = sorted(hits, key=lambda hit: (-hit[1], places[hit[0]]))
        return [Hit(places[row][2], score, -score) for row, score in ordered]

    def _rows(self, chunk_ids: Sequence[str]) -> dict[int, str]:
        marks = ", ".join("?" * len(chunk_ids))
        rows = self._connection.execute(f"SELECT row, id FROM chunks WHERE id IN ({marks})", chunk_ids)
        return dict(rows)

    def matched_fields(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, list[str]]:
        """The fields in which each chunk matches. Its text is analysed again."""
        if query.needs_fts5:
            return self._exact.matched_fields(query, chunk_ids)
        clauses = wanted(query, self._analyser).scored
        matched: dict[str, list[str]] = {chunk_id: [] for chunk_id in chunk_ids}
        marks = ", ".join("?" * len(matched))
        rows = self._connection.execute(
            "SELECT c.id, x.content, c.heading_path, d.title FROM chunks c JOIN contents x ON x.row = c.row "
            f"JOIN documents d ON d.row = c.document WHERE c.id IN ({marks})",
            list(matched),
        )
        for chunk_id, *texts in rows:
            for place, text in zip(PLACES, texts, strict=True):
                fields = dict(self._analyser.fields_of(place, text))
                if any(_holds(fields.get(clause.field, ()), clause) for clause in clauses):
                    matched[chunk_id].append(place)
        return matched


def _cut(hits: list[tuple[int, float]], depth: int) -> list[tuple[int, float]] | None:
    """The best `depth` hits with all ties; None if there may be more ties beyond these hits."""
    if len(hits) <= depth or hits[-1][1] == hits[depth - 1][1]:
        return None
    return [hit for hit in hits if hit[1] >= hits[depth - 1][1]]


def _holds(tokens: Sequence[str], clause: TantivyClause) -> bool:
    first, length = clause.tokens[0], len(clause.tokens)
    return any(
        token == first and tuple(tokens[at : at + length]) == clause.tokens for at, token in enumerate(tokens)
    )
