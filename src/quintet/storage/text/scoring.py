"""What each part of a query adds to a score: words and phrases from postings, CJK from FTS5."""

from collections.abc import Iterator, Sequence

import apsw
import numpy as np

from quintet.model.text_query import TextQuery
from quintet.storage.text.chunk_reader import texts_at
from quintet.storage.text.fts5 import counted, matching, ranked, weights
from quintet.storage.text.postings.score import EQUAL, FieldWeights, Postings, PostingsView, fts5_idf
from quintet.storage.text.postings.search import Clause, ScoredChunks, Term
from quintet.storage.text.postings.segment import FIELDS, Bool, Int64
from quintet.storage.text.postings.tokens import LONGEST, Tokenizer, cut, encoded
from quintet.storage.text.query import Condition, lookup

READ = 1_000  # words of text that are read in the time that FTS5 takes for a phrase


class Scoring:
    """One query against one view."""

    def __init__(
        self, connection: apsw.Connection, words: Tokenizer, view: PostingsView, query: TextQuery
    ) -> None:
        self._connection = connection
        self._view = view
        self._query = query
        self._wanted = lookup(query)
        self._words = words
        self._weighing = {table: FieldWeights(weights(query, table)) for table in ("text", "parts")}

    def clauses(self) -> list[Clause]:
        """In FTS5's order, which is that of the query, table after table."""
        if self._wanted.whole is not None:
            return [self._ranked("text", self._wanted.whole)]
        statistics = self._view.statistics["stems"]
        stems = [Term(one, "text", statistics, self._weighing["text"]) for one in self.stemmed() if one]
        return [*stems, *self._phrases("text"), *self._phrases("parts"), *self._cjk()]

    def _cjk(self) -> list[ScoredChunks]:
        """As FTS5 scores it among the chunks that hold any; in a query by stems, as rare as it is among all:
        beside words a run of characters would count for nothing where few chunks hold such."""
        if "cjk" not in self._wanted.either:
            return []
        if not self._query.stems:
            return [self._ranked("cjk", self._wanted.scored["cjk"])]
        found = [self._ranked("cjk", phrase) for phrase in self._wanted.either["cjk"]]
        return [
            ScoredChunks(one.numbers, one.values * self._rarer(len(one.numbers)), one.table) for one in found
        ]

    def _rarer(self, matching: int) -> float:
        if self._view.cjk_rows is None:
            self._view.cjk_rows = int(self._connection.execute("SELECT count(*) FROM cjk_docsize").get)
        return self._view.statistics["stems"].idf(matching) / fts5_idf(self._view.cjk_rows, matching)

    def stemmed(self) -> list[list[Postings]]:
        """The postings of every stem of the query, in the order it names them."""
        tokens = [token for text in self._wanted.words for token in self._words.tokens(text)]
        if not tokens:
            return []
        stems = list(dict.fromkeys(self._words.stems([encoded(cut(token)) for token in tokens])))
        return self._view.postings("stems", stems) if self._query.parts else self._view.families(stems)

    def _phrases(self, table: str) -> list[Clause]:
        clauses: list[Clause] = []
        for phrase, tokens, where in self._looked_up(table):
            where = self._holding(table, phrase, tokens) if where is None else where
            if where:
                clauses.append(Term(where, table, self._view.statistics[table], self._weighing[table]))
        return clauses

    def _looked_up(self, table: str) -> Iterator[tuple[str, list[str], list[Postings] | None]]:
        """The phrases that are looked up in a table, with their tokens, and the postings of single words."""
        phrases = self._wanted.either.get(table, ())
        tokens = [self._words.tokens(phrase) for phrase in phrases]
        single = [encoded(cut(found[0])) for found in tokens if len(found) == 1]
        postings = iter(self._view.postings(table, single) if single else ())
        for phrase, found in zip(phrases, tokens, strict=True):
            if found:
                yield phrase, found, None if len(found) > 1 else next(postings)

    def fields(self) -> tuple[list[Postings], dict[str, str]]:
        """What tells in which fields the query was found: the postings of its words, and of the rest, which
        only FTS5 can look up, the MATCH expression of each table."""
        if self._wanted.whole is not None:
            return [], self._wanted.scored
        words = [one for several in self.stemmed() for one in several]
        phrases: dict[str, Sequence[str]] = {"cjk": self._wanted.either.get("cjk", ())}
        for table in self._weighing:
            found = list(self._looked_up(table))
            words += [one for _, _, where in found for one in where or ()]
            phrases[table] = [phrase for phrase, _, where in found if where is None]
        return words, {table: " OR ".join(several) for table, several in phrases.items() if several}

    def _holding(self, table: str, phrase: str, tokens: Sequence[str]) -> list[Postings]:
        """The postings of a phrase, as if it were one term."""
        by_field = self._weighing[table].weights != EQUAL
        name = f"{table} by field" if by_field else table, phrase
        known = self._view.phrases.get(name)
        if known is None:
            rows, counts = self._counted(table, phrase, list(map(cut, tokens)), by_field=by_field)
            known = np.column_stack([self._view.numbers(rows), counts]).ravel()
            self._view.phrases.put(name, known)
        by_chunk = known.reshape(-1, 1 + len(FIELDS))
        return self._view.of_counts(by_chunk[:, 0], by_chunk[:, 1:], name)

    def _counted(
        self, table: str, phrase: str, tokens: Sequence[str], *, by_field: bool
    ) -> tuple[Int64, Int64]:
        """Which rows have a phrase, and how often. Where words stand only FTS5 knows, or the text, which is
        faster to read where few chunks have them all."""
        numbers = self._view.holding_all(table, [encoded(token) for token in tokens])
        if numbers is None or self._view.tokens[numbers].sum() > READ:
            return counted(self._connection, table, phrase, by_field=by_field)
        rows = self._view.rows[numbers]
        texts = texts_at(self._connection, rows) if len(rows) else ()
        found = {
            one.row: [self._times(tokens, field) for field in (one.text if table == "text" else one.parts)]
            for one in texts
        }
        found = {row: counts for row, counts in found.items() if any(counts)}
        counts = np.array(list(found.values()), np.int64).reshape(-1, len(FIELDS))
        return np.array(list(found), np.int64), counts

    def _times(self, phrase: Sequence[str], text: str) -> int:
        tokens = self._words.tokens(text) if text else []
        if len(text) * 4 > LONGEST:
            tokens = list(map(cut, tokens))
        size = len(phrase)
        starts = (at for at, token in enumerate(tokens) if token == phrase[0])
        return sum(tokens[at : at + size] == phrase for at in starts)

    def _ranked(self, table: str, expression: str) -> ScoredChunks:
        rows, scores = ranked(self._connection, table, expression, self._query)
        numbers = self._view.numbers(rows)
        order = np.argsort(numbers)
        return ScoredChunks(numbers[order], scores[order], table)

    def allowed(self) -> Bool | None:
        """Which chunks match all that is required."""
        if not self._wanted.required:
            return None
        allowed = np.ones(self._view.size, np.bool_)
        for alternatives in self._wanted.required:
            allowed &= self._matching(alternatives, ())
        if self._wanted.a_term is not None:
            allowed &= self._matching(self._wanted.a_term, self.stemmed())
        return allowed

    def _matching(self, alternatives: Condition, words: Sequence[Sequence[Postings]]) -> Bool:
        here = np.zeros(self._view.size, np.bool_)
        for table, expression in alternatives.items():
            here[self._view.numbers(matching(self._connection, table, expression))] = True
        for one in (one for several in words for one in several):
            here[one.chunks + one.portion.first] = True
        return here
