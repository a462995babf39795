"""From a text query to the clauses that score it: which words and phrases are looked up in which table, and
what each adds to a score. Words and phrases come from postings, CJK and FTS5's own language from FTS5."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import zip_longest
from math import sqrt
from typing import Any

import apsw
import numpy as np

from quintet.model.text_query import TextQuery
from quintet.storage.text.analysis import (
    CJK_RUN,
    LONGEST,
    Tokenizer,
    cut,
    encoded,
    identifier_parts,
    pair_phrase,
    plain,
    quoted,
    runs,
)
from quintet.storage.text.chunk_reader import texts_at
from quintet.storage.text.fts5 import counted, in_content, matching, ranked, ranked_by_content
from quintet.storage.text.postings.score import (
    EQUAL,
    FieldWeights,
    Postings,
    PostingsView,
    Statistics,
    Weights,
    fts5_idf,
)
from quintet.storage.text.postings.search import Clause, ScoredChunks, Term
from quintet.storage.text.postings.segment import FIELDS, Bool, Int64

TABLES = ("text", "parts", "cjk")
Alternatives = dict[str, str]  # an expression by table, of which one has to match
READ = 1_000  # words of text that are read in the time that FTS5 takes for a phrase
HEAVIEST = 1e6  # larger weights count as this: they would overflow in the end


@dataclass(frozen=True, slots=True)
class Lookup:
    """What to look up, by table. Any phrase of `either` matches, and any word of `words`, whatever its
    ending; `weights` say how much the words count, if not 1. A row must also match each of `required`, and,
    where `a_term` is given, that or one of the words. `whole` is an FTS5 expression for the table `text`.
    """

    either: Mapping[str, Sequence[str]] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    required: tuple[Alternatives, ...] = ()
    a_term: Alternatives | None = None
    whole: str | None = None

    def __bool__(self) -> bool:
        return bool(self.either or self.words or self.whole is not None)

    @property
    def scored(self) -> dict[str, str]:
        """The MATCH expression of each table."""
        if self.whole is not None:
            return {"text": self.whole}
        return {table: " OR ".join(phrases) for table, phrases in self.either.items()}


@lru_cache(maxsize=64)
def lookup(query: TextQuery) -> Lookup:
    """What a query asks of which table."""
    if query.expression is not None:
        # The leading space keeps `*` from starting a command of FTS5 (`*reads`).
        return Lookup(whole=" " + query.expression.replace("\0", " "))
    words, weights = _words(query) if query.stems else ((), ())
    if query.stems:
        terms = _merged([{"cjk": _pairs(term)} for term in query.terms])
    else:
        terms = _merged([_tables(term, query.parts) for term in query.terms])
    phrases = _merged([_tables(phrase, query.parts) for phrase in query.phrases])
    either = _merged([terms, phrases])
    if not query.phrases_required or not phrases:
        return Lookup(either, words, weights)
    required = [alternatives for phrase in query.phrases for alternatives in _conditions(phrase, query.parts)]
    a_term = (
        {table: " OR ".join(expressions) for table, expressions in terms.items()} if terms or words else None
    )
    if len(either) == 1:  # FTS5 counts a word twice that is a required phrase too
        either = {table: [*terms.get(table, ()), *phrases[table]] for table in phrases}
    return Lookup(either, words, weights, tuple(required), a_term)


def _words(query: TextQuery) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Every term without its CJK, followed by its identifier parts; and the weight of each, if not all are
    1."""
    texts = []
    for term, weight in zip_longest(query.terms, query.weights, fillvalue=1.0):
        texts.append((CJK_RUN.sub(" ", plain(str(term))), weight))
        if query.parts:
            texts.append((identifier_parts(str(term)), weight))
    texts = [(words, weight) for words, weight in texts if words.strip()]
    weights = tuple(float(weight) for _, weight in texts)
    return tuple(words for words, _ in texts), weights if query.weights else ()


def _conditions(phrase: str, with_parts: bool) -> list[Alternatives]:
    """What must match for a phrase to be present: its words in either table, and all its CJK."""
    tables = _tables(phrase, False)
    conditions = [{"cjk": pairs_phrase} for pairs_phrase in tables["cjk"]]
    if words := " AND ".join(tables["text"]):
        parts = quoted(identifier_parts(phrase)) if with_parts and identifier_parts(phrase) else None
        where = {"text": f"({words}) OR {parts}" if parts else words}
        conditions.insert(0, where | {"parts": parts or words} if with_parts else where)
    return conditions


def _merged(lookups: Sequence[Mapping[str, Sequence[str]]]) -> dict[str, Sequence[str]]:
    """Expressions by table, each once, without the tables that have none."""
    by_table = {
        table: [expression for tables in lookups for expression in tables.get(table, ())] for table in TABLES
    }
    return {table: list(dict.fromkeys(expressions)) for table, expressions in by_table.items() if expressions}


def _pairs(term: str) -> list[str]:
    return [pair_phrase(run) for run in runs(term)]


def _tables(term: str, with_parts: bool) -> dict[str, list[str]]:
    """The expressions for one term by table: CJK as pairs, the rest as words, camelCase also as its parts."""
    words = [quoted(rest.strip()) for rest in CJK_RUN.split(plain(term)) if rest.strip()]
    tables = {"text": words, "cjk": _pairs(term)}
    if with_parts:
        parts = identifier_parts(term)
        tables["parts"] = [quoted(parts)] if parts else words
        tables["text"] = [*words, quoted(parts)] if parts else words
    return tables


class Scoring:
    """The clauses of one query over one view."""

    def __init__(
        self, connection: apsw.Connection, tokenizer: Tokenizer, view: PostingsView, query: TextQuery
    ) -> None:
        self._connection = connection
        self._view = view
        self._query = query
        self._wanted = lookup(query)
        self._tokenizer = tokenizer
        self._weighing = {
            table: FieldWeights(_weights(query, table), content_only=query.content_only)
            for table in ("text", "parts")
        }

    def clauses(self) -> list[Clause]:
        """The clauses in FTS5's order: that of the query, table after table."""
        if self._wanted.whole is not None:
            return [self._ranked("text", self._wanted.whole)]
        statistics = self._view.statistics["stems"]
        stems = [
            Term(postings, "text", statistics, self._weighing["text"], weight)
            for postings, weight in zip(self.stemmed(), self._stems.values(), strict=True)
            if postings
        ]
        return [*stems, *self._phrases("text"), *self._phrases("parts"), *self._cjk()]

    def _cjk(self) -> list[ScoredChunks]:
        """CJK as FTS5 scores its pairs, but with the idf among all chunks: among the few that hold CJK, most
        hold a common term, and it would count for nothing."""
        found = [self._ranked("cjk", phrase) for phrase in self._wanted.either.get("cjk", ())]
        return [
            ScoredChunks(one.numbers, one.values * self._rarer(len(one.numbers)), one.table) for one in found
        ]

    def _rarer(self, matching: int) -> float:
        if self._view.cjk_rows is None:
            self._view.cjk_rows = int(self._connection.execute("SELECT count(*) FROM cjk_docsize").get)
        among_all = self._view.statistics["stems" if self._query.stems else "text"]
        return among_all.idf(matching) / fts5_idf(self._view.cjk_rows, matching)

    def stemmed(self) -> list[list[Postings]]:
        """The postings of every stem of the query, in its order."""
        stems = list(self._stems)
        if not stems:
            return []
        return self._view.postings("stems", stems) if self._query.parts else self._view.families(stems)

    @cached_property
    def _stems(self) -> dict[bytes, float]:
        """The stems of the query with their weights. Words of one stem count as one word that is repeated:
        the squares of their weights add up."""
        texts = [self._tokenizer.tokens(text) for text in self._wanted.words]
        tokens = [encoded(cut(token)) for words in texts for token in words]
        stems = self._tokenizer.stems(tokens) if tokens else []
        if not self._wanted.weights:
            return dict.fromkeys(stems, 1.0)
        weights = np.repeat(self._wanted.weights, [len(words) for words in texts]).tolist()
        squares: dict[bytes, float] = {}
        for stem, weight in zip(stems, weights, strict=True):
            squares[stem] = squares.get(stem, 0.0) + weight * weight
        return {stem: sqrt(square) for stem, square in squares.items()}

    def _phrases(self, table: str) -> list[Clause]:
        clauses: list[Clause] = []
        for phrase, tokens, where in self._looked_up(table):
            where = self._holding(table, phrase, tokens) if where is None else where
            if where:
                clauses.append(Term(where, table, self._statistics(table), self._weighing[table]))
        return clauses

    def _statistics(self, table: str) -> Statistics:
        return self._view.content_statistics if self._query.content_only else self._view.statistics[table]

    def _looked_up(self, table: str) -> Iterator[tuple[str, list[str], list[Postings] | None]]:
        """The phrases to look up in a table, each with its tokens, and its postings if it is a single
        word."""
        phrases = self._wanted.either.get(table, ())
        tokens = [self._tokenizer.tokens(phrase) for phrase in phrases]
        single = [encoded(cut(phrase_tokens[0])) for phrase_tokens in tokens if len(phrase_tokens) == 1]
        postings = iter(self._view.postings(table, single) if single else ())
        for phrase, phrase_tokens in zip(phrases, tokens, strict=True):
            if phrase_tokens:
                yield phrase, phrase_tokens, None if len(phrase_tokens) > 1 else next(postings)

    def fields(self) -> tuple[list[Postings], dict[str, str]]:
        """What tells which fields matched: the postings of the words, and MATCH expressions by table for what
        only FTS5 can look up."""
        if self._wanted.whole is not None:
            return [], self._wanted.scored
        words = [postings for stem_postings in self.stemmed() for postings in stem_postings]
        phrases: dict[str, Sequence[str]] = {"cjk": self._wanted.either.get("cjk", ())}
        for table in self._weighing:
            lookups = list(self._looked_up(table))
            words += [postings for _, _, where in lookups for postings in where or ()]
            phrases[table] = [phrase for phrase, _, where in lookups if where is None]
        return words, {
            table: " OR ".join(expressions) for table, expressions in phrases.items() if expressions
        }

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
        """The rows that hold a phrase, and how often. Only FTS5 and the text know the positions of words; the
        text is faster to read where few chunks hold all of them."""
        numbers = self._view.holding_all(table, [encoded(token) for token in tokens])
        if numbers is None or self._view.tokens[numbers].sum() > READ:
            return counted(self._connection, table, phrase, by_field=by_field)
        rows = self._view.rows[numbers]
        texts = texts_at(self._connection, rows) if len(rows) else ()
        counts_by_row = {
            chunk.row: [
                self._times(tokens, field) for field in (chunk.text if table == "text" else chunk.parts)
            ]
            for chunk in texts
        }
        counts_by_row = {row: counts for row, counts in counts_by_row.items() if any(counts)}
        counts = np.array(list(counts_by_row.values()), np.int64).reshape(-1, len(FIELDS))
        return np.array(list(counts_by_row), np.int64), counts

    def _times(self, phrase: Sequence[str], text: str) -> int:
        tokens = self._tokenizer.tokens(text) if text else []
        if len(text) * 4 > LONGEST:
            tokens = list(map(cut, tokens))
        size = len(phrase)
        starts = (at for at, token in enumerate(tokens) if token == phrase[0])
        return sum(tokens[at : at + size] == phrase for at in starts)

    def _ranked(self, table: str, expression: str) -> ScoredChunks:
        if self._query.content_only:
            rows, scores = ranked_by_content(self._connection, table, expression)
        else:
            weights = weight_literals(self._query) if _weighs(self._query, table) else ""
            rows, scores = ranked(self._connection, table, expression, weights)
        numbers = self._view.numbers(rows)
        order = np.argsort(numbers)
        return ScoredChunks(numbers[order], scores[order], table)

    def allowed(self) -> Bool | None:
        """Which chunks match everything that is required; None if nothing is."""
        if not self._wanted.required:
            return None
        allowed = np.ones(self._view.size, np.bool_)
        for alternatives in self._wanted.required:
            allowed &= self._matching(alternatives, ())
        if self._wanted.a_term is not None:
            allowed &= self._matching(self._wanted.a_term, self.stemmed())
        return allowed

    def _matching(self, alternatives: Alternatives, words: Sequence[Sequence[Postings]]) -> Bool:
        here = np.zeros(self._view.size, np.bool_)
        for table, expression in alternatives.items():
            asked = in_content(expression) if self._query.content_only else expression
            here[self._view.numbers(matching(self._connection, table, asked))] = True
        for postings in (postings for word_postings in words for postings in word_postings):
            here[postings.chunks + postings.portion.first] = True
        return here


def weight_literals(query: TextQuery) -> str:
    """The field weights as SQL literals; FTS5 knows no exponents."""
    given = dict(query.field_weights)
    return ", ".join(f"{min(given.get(field, 1.0), HEAVIEST):.15f}" for field in FIELDS)


def _weights(query: TextQuery, table: str) -> Weights:
    """The field weights of a query in this table, as SQLite parses them."""
    return _parsed(weight_literals(query)) if _weighs(query, table) else EQUAL


def _weighs(query: TextQuery, table: str) -> bool:
    return bool(query.field_weights) and (table == "text" or not query.stems)


@lru_cache(maxsize=64)
def _parsed(literals: str) -> Weights:
    connection = apsw.Connection(":memory:")
    rows: Any = connection.execute(f"SELECT {literals}").fetchall()
    connection.close()
    ((content, heading_path, title),) = rows
    return content, heading_path, title
