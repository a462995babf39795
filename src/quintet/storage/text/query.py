"""From a text query to what each table is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from quintet.model.text_query import TextQuery
from quintet.storage.text.analysis import CJK_RUN, identifier_parts, pair_phrase, plain, quoted, runs

TABLES = ("text", "parts", "cjk")
Condition = dict[str, str]  # an expression for each of some tables: one of them has to match


@dataclass(frozen=True, slots=True)
class Lookup:
    """`either` are phrases by table, of which any will do; `words` are texts whose words will do with any
    ending. A row must match one of each `required` as well, and where `a_term` is given, that or one of the
    words. `whole` is an expression for `text` alone.
    """

    either: Mapping[str, Sequence[str]] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    required: tuple[Condition, ...] = ()
    a_term: Condition | None = None
    whole: str | None = None

    def __bool__(self) -> bool:
        return bool(self.either or self.words or self.whole is not None)

    @property
    def scored(self) -> dict[str, str]:
        """The MATCH expression of each table."""
        if self.whole is not None:
            return {"text": self.whole}
        return {table: " OR ".join(found) for table, found in self.either.items()}


@lru_cache(maxsize=64)
def lookup(query: TextQuery) -> Lookup:
    """What a query asks of which table."""
    if query.expression is not None:
        # The space in front keeps `*` from starting one of FTS5's own commands (`*reads`).
        return Lookup(whole=" " + query.expression.replace("\0", " "))
    words = tuple(_words(query)) if query.stems else ()
    if query.stems:
        terms = _merged([{"cjk": _pairs(term)} for term in query.terms])
    else:
        terms = _merged([_tables(term, query.parts) for term in query.terms])
    phrases = _merged([_tables(phrase, query.parts) for phrase in query.phrases])
    either = _merged([terms, phrases])
    if not query.phrases_required or not phrases:
        return Lookup(either, words)
    required = [one for phrase in query.phrases for one in _conditions(phrase, query.parts)]
    a_term = {table: " OR ".join(found) for table, found in terms.items()} if terms or words else None
    if len(either) == 1:  # FTS5 would count a word once more that is a required phrase too
        either = {table: [*terms.get(table, ()), *phrases[table]] for table in phrases}
    return Lookup(either, words, tuple(required), a_term)


def _words(query: TextQuery) -> list[str]:
    """Every term without its CJK, and its parts behind it."""
    found = []
    for term in query.terms:
        found.append(CJK_RUN.sub(" ", plain(term)))
        if query.parts:
            found.append(identifier_parts(term))
    return [words for words in found if words.strip()]


def _conditions(phrase: str, with_parts: bool) -> list[Condition]:
    """What has to match for a phrase to be there: its words in one table or the other, and all its CJK."""
    tables = _tables(phrase, False)
    conditions = [{"cjk": one} for one in tables["cjk"]]
    if words := " AND ".join(tables["text"]):
        parts = quoted(identifier_parts(phrase)) if with_parts and identifier_parts(phrase) else None
        where = {"text": f"({words}) OR {parts}" if parts else words}
        conditions.insert(0, where | {"parts": parts or words} if with_parts else where)
    return conditions


def _merged(several: Sequence[Mapping[str, Sequence[str]]]) -> dict[str, Sequence[str]]:
    """Expressions by table, each once, without the tables that have none."""
    found = {table: [one for tables in several for one in tables.get(table, ())] for table in TABLES}
    return {table: list(dict.fromkeys(ones)) for table, ones in found.items() if ones}


def _pairs(term: str) -> list[str]:
    return [pair_phrase(run) for run in runs(term)]


def _tables(term: str, with_parts: bool) -> dict[str, list[str]]:
    """Where one term is looked up: CJK by pairs, the rest as words, camelCase by its parts too."""
    words = [quoted(rest.strip()) for rest in CJK_RUN.split(plain(term)) if rest.strip()]
    tables = {"text": words, "cjk": _pairs(term)}
    if with_parts:
        parts = identifier_parts(term)
        tables["parts"] = [quoted(parts)] if parts else words
        tables["text"] = [*words, quoted(parts)] if parts else words
    return tables
