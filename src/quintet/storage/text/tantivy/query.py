"""Translates a text query for tantivy."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from quintet.model.text_query import TextQuery
from quintet.storage.text.analysis import CJK_RUN, identifier_parts, pairs, plain, runs
from quintet.storage.text.tantivy.fields import PLACES, Analyser, engine, place_field

if TYPE_CHECKING:
    from tantivy import Query, Schema

HEAVIEST = 1e6  # larger weights count as this: they would overflow in the end
K1 = 1.2  # of BM25, in FTS5 and in tantivy
UNWEIGHED = TextQuery()
NO_WEIGHTS: Mapping["TantivyClause", float] = {}
WORDS = ("text", "stems")  # fields that weights apply to in queries by stems too


class TantivyClause(NamedTuple):
    """Consecutive tokens in one field."""

    field: str
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClauseSet:
    """A chunk must match one of `scored`, and one of each `required`. Its score is the sum over `scored`,
    each times its weight, if it has one."""

    scored: tuple[TantivyClause, ...]
    required: tuple[tuple[TantivyClause, ...], ...] = ()
    weights: Mapping[TantivyClause, float] = field(default_factory=dict)


def wanted(query: TextQuery, analyser: Analyser) -> ClauseSet:
    """The clauses of a query, unique and sorted: tantivy adds float32 scores in this order."""
    read = _stemmed if query.stems else _pieces
    words_of = [
        [clause for piece in read(term, query.parts, analyser) for clause in piece] for term in query.terms
    ]
    words = [clause for clauses in words_of for clause in clauses]
    phrases = [piece for phrase in query.phrases for piece in _pieces(phrase, query.parts, analyser)]
    scored = tuple(sorted({*words, *(clause for piece in phrases for clause in piece)}))
    weights = _weights(words_of, query.weights) if query.weights else {}
    if not query.phrases_required or not phrases:
        return ClauseSet(scored, (), weights)
    any_word = [tuple(sorted(set(words)))] if words else []
    return ClauseSet(scored, (*any_word, *map(tuple, phrases)), weights)


def _weights(
    clauses: Sequence[Sequence[TantivyClause]], weights: Sequence[float]
) -> dict[TantivyClause, float]:
    """Words of one stem count as one word that is repeated: the squares of their weights add up."""
    squares: dict[TantivyClause, float] = {}
    for term_clauses, weight in zip(clauses, weights, strict=True):
        for clause in term_clauses:
            squares[clause] = squares.get(clause, 0.0) + weight * weight
    return {clause: sqrt(square) for clause, square in squares.items()}


def _pieces(term: str, with_parts: bool, analyser: Analyser) -> list[list[TantivyClause]]:
    """The pieces of a term, each with the clauses that can find it: words as a phrase, CJK as pairs."""
    pieces = []
    parts = tuple(analyser.words(identifier_parts(term))) if with_parts else ()
    for rest in CJK_RUN.split(plain(term)):
        tokens = tuple(analyser.words(rest))
        if tokens:
            ways = [("text", tokens)]
            if with_parts:
                ways += [("text", parts), ("parts", parts)] if parts else [("parts", tokens)]
            pieces.append([TantivyClause(*way) for way in ways])
    return pieces + _cjk(term, analyser)


def _stemmed(term: str, with_parts: bool, analyser: Analyser) -> list[list[TantivyClause]]:
    """Every token of a term by its stem, also among identifier parts."""
    parts = identifier_parts(term) if with_parts else ""
    stems = dict.fromkeys(analyser.stems(f"{CJK_RUN.sub(' ', plain(term))} {parts}"))
    fields = ("stems", "part_stems") if with_parts else ("stems",)
    return [[TantivyClause(field, (stem,)) for field in fields] for stem in stems] + _cjk(term, analyser)


def _cjk(term: str, analyser: Analyser) -> list[list[TantivyClause]]:
    pieces = []
    for run in runs(term):
        # Drop the last pair, a single character: what follows the run does not matter.
        whole = ("characters", run) if len(run) == 1 else ("cjk", pairs(run).rpartition(" ")[0])
        tokens = tuple(analyser.words(whole[1]))
        if tokens:
            pieces.append([TantivyClause(whole[0], tokens)])
    return pieces


class QueryBuilder:
    """Builds queries of tantivy over one schema."""

    def __init__(self, schema: "Schema") -> None:
        tantivy: Any = engine()
        self._schema = schema
        self._make: type[Query] = tantivy.Query
        self._some, self._must = tantivy.Occur.Should, tantivy.Occur.Must

    def query(self, asked: ClauseSet, query: TextQuery = UNWEIGHED) -> "Query":
        """The query for these clauses, with the field weights of `query`."""
        scored = self._any(asked.scored, query, asked.weights)
        if not asked.required:
            return scored
        return self._all([scored, *(self._silent(self._any(ways)) for ways in asked.required)])

    def within(self, query: "Query", rows: Sequence[int]) -> "Query":
        """The same query, restricted to these rows."""
        return self._all([query, self._silent(self._make.term_set_query(self._schema, "row", rows))])

    def _any(
        self,
        clauses: Iterable[TantivyClause],
        query: TextQuery = UNWEIGHED,
        weights: Mapping[TantivyClause, float] = NO_WEIGHTS,
    ) -> "Query":
        leaves = (
            self._make.boost_query(leaf, weights[clause]) if clause in weights else leaf
            for clause in clauses
            for leaf in self._weighed(clause, query)
        )
        return self._make.boolean_query([(self._some, leaf) for leaf in leaves])

    def _all(self, queries: Iterable["Query"]) -> "Query":
        return self._make.boolean_query([(self._must, query) for query in queries])

    def _silent(self, query: "Query") -> "Query":
        return self._make.const_score_query(query, 0.0)

    def _weighed(self, clause: TantivyClause, query: TextQuery) -> Iterable["Query"]:
        """All places with the smallest weight, and each heavier place with the difference."""
        if not query.field_weights or (query.stems and clause.field not in WORDS):
            return [self._leaf(clause)]
        given = dict(query.field_weights)
        heavy = {place: _gain(given.get(place, 1.0)) for place in PLACES}
        least = min(heavy.values())
        above = [
            (TantivyClause(place_field(clause.field, place), clause.tokens), weight - least)
            for place, weight in heavy.items()
            if weight > least
        ]
        return [
            self._make.boost_query(self._leaf(weighed), boost) for weighed, boost in [(clause, least), *above]
        ]

    def _leaf(self, clause: TantivyClause) -> "Query":
        if len(clause.tokens) == 1:
            return self._make.term_query(self._schema, clause.field, clause.tokens[0], "freq")
        return self._make.phrase_query(self._schema, clause.field, list(clause.tokens))


def _gain(weight: float) -> float:
    """The factor for a word that counts `weight` times instead of once, in a text of average length.

    FTS5 multiplies the count, which BM25 saturates; tantivy can only multiply the score.

    >>> [_gain(0.0), _gain(1.0), _gain(2.0)]
    [0.0, 1.0, 1.375]
    """
    counted = min(weight, HEAVIEST)
    return counted * (K1 + 1) / (counted + K1)
