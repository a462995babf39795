"""Full text: scores come from Quintet's own postings and equal FTS5's `bm25()` to the last bit.

FTS5 itself scores CJK and queries in its own language (`syntax=fts5`), says how often a phrase occurs where
reading the text would take longer, and decides which chunks hold a required phrase.
"""

from collections.abc import Sequence
from functools import cached_property

import apsw
import numpy as np

from quintet.model.results import Hit
from quintet.model.text_query import TextQuery
from quintet.ports.reading import Rows
from quintet.ranking import deciding
from quintet.storage.sqlite.catalog import ChunkIds
from quintet.storage.text.analysis import Tokenizer, cut, encoded, nearest, plain, stems_of, tokenizer
from quintet.storage.text.fts5 import bad_query, matching_of
from quintet.storage.text.postings.cache import PostingsCache
from quintet.storage.text.postings.score import Float64, PostingsView
from quintet.storage.text.postings.search import Clause, Ranking
from quintet.storage.text.postings.segment import FIELDS, Bool
from quintet.storage.text.query import Scoring, lookup


class SqliteTextIndex:
    """The full text of one snapshot. Ties go by path, sequence and chunk id, so the order is total."""

    def __init__(self, connection: apsw.Connection, postings: PostingsCache, ids: ChunkIds) -> None:
        self._connection = connection
        self._postings = postings
        self._ids = ids
        self._last: tuple[TextQuery, list[Clause], Bool | None] | None = None

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokenizer(self._connection)

    @cached_property
    def _view(self) -> PostingsView:
        return self._postings.view(self._connection)

    def tokens(self, text: str) -> list[str]:
        return self._tokenizer.tokens(plain(text))

    def stems(self, words: Sequence[str]) -> list[str]:
        return stems_of(words, self._tokenizer)

    def respelt(self, terms: Sequence[str]) -> dict[str, str]:
        words = {term: tokens[0] for term in terms if len(tokens := self.tokens(term)) == 1}
        stems = self._tokenizer.stems([encoded(cut(word)) for word in words.values()]) if words else []
        held = self._view.postings("stems", stems) if words else []
        unknown = {term: word for (term, word), here in zip(words.items(), held, strict=True) if not here}
        found = {term: nearest(word, self._count_chunks) for term, word in unknown.items()}
        return {term: word for term, word in found.items() if word is not None}

    def _count_chunks(self, words: Sequence[bytes]) -> list[int]:
        postings = self._view.postings("text", words)
        return [sum(part.alive for part in word_postings) for word_postings in postings]

    def search(self, query: TextQuery, depth: int, within: Rows | None = None) -> list[Hit]:
        """The best `depth` chunks. A score is the sum of bm25 over the tables looked up."""
        if not lookup(query) or depth < 1 or (within is not None and not len(within)):
            return []
        view = self._view
        clauses, allowed = self._clauses(view, query)
        if within is not None:
            numbers = view.numbers(within)
            mask = np.zeros(view.size, np.bool_)
            mask[numbers[numbers >= 0]] = True
            allowed = mask if allowed is None else allowed & mask
        best, scores = Ranking(view, clauses, allowed, content_only=query.content_only).best(depth)
        return self._in_order(view.rows[best], scores)[:depth]

    def scores(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, float]:
        if not chunk_ids or not lookup(query):
            return {}
        view = self._view
        rows = self._ids.rows(chunk_ids)
        numbers = view.numbers(np.array(list(rows.values()), np.int64))
        order = np.argsort(numbers)
        clauses, allowed = self._clauses(view, query)
        ranking = Ranking(view, clauses, allowed, content_only=query.content_only)
        scores, matched = ranking.exact(numbers[order])
        ids = list(rows)
        results = zip(order.tolist(), scores.tolist(), matched.tolist(), strict=True)
        return {ids[at]: score for at, score, matches in results if matches}

    def _clauses(self, view: PostingsView, query: TextQuery) -> tuple[list[Clause], Bool | None]:
        """The clauses, and a mask of the chunks that may match. Cached: `scores` follows with the same
        query."""
        if self._last is None or self._last[0] != query:
            scoring = Scoring(self._connection, self._tokenizer, view, query)
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
        self._ids.remember({chunk_id: row for row, (_, _, chunk_id) in places.items()})
        exact = scores.tolist()
        hits = [
            (-decides, *places[row], score)
            for row, score, decides in zip(rows.tolist(), exact, deciding(exact), strict=True)
        ]
        return [Hit(chunk_id, score, -score) for _, _, _, chunk_id, score in sorted(hits)]

    def matched_fields(self, query: TextQuery, chunk_ids: Sequence[str]) -> dict[str, list[str]]:
        """The fields in which each chunk matched, in any table."""
        matched: dict[str, list[str]] = {chunk_id: [] for chunk_id in chunk_ids}
        if not chunk_ids:
            return matched
        rows = dict(sorted((row, chunk_id) for chunk_id, row in self._ids.rows(chunk_ids).items()))
        if not rows:
            return matched
        within = np.array(list(rows), np.int64)
        view = self._view
        numbers = view.numbers(within)
        words, rest = Scoring(self._connection, self._tokenizer, view, query).fields()
        for at, field in enumerate(FIELDS[:1] if query.content_only else FIELDS):
            matches: set[int] = set()
            for table, expression in rest.items():
                matches.update(matching_of(self._connection, table, f"{{{field}}} : ({expression})", within))
            for postings in words:
                matches.update(within[postings.holding(numbers, at)].tolist())
            for row in sorted(matches):
                matched[rows[row]].append(field)
        return matched
