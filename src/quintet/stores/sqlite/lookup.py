"""From a text query to the MATCH expressions of the tables that have to be asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from quintet.model import TextQuery
from quintet.stores.sqlite.analyse import CJK_RUN, identifier_parts, pair_phrase, plain, quoted, runs

TABLES = ("text", "parts", "cjk")


@dataclass(frozen=True, slots=True)
class Lookup:
    """What each table is asked for, and what a row must match besides: any one of each `required`.

    `either` lists what is OR-ed, for tables that are asked for nothing else.
    """

    scored: dict[str, str]
    required: tuple[dict[str, str], ...] = ()
    either: Mapping[str, Sequence[str]] = field(default_factory=dict)


def lookup(query: TextQuery) -> Lookup:
    """The MATCH expressions of a query, table by table."""
    if query.expression is not None:
        # The space in front keeps `*` from starting one of FTS5's own commands (`*reads`).
        return Lookup({"text": " " + query.expression.replace("\0", " ")})
    words = _merged([_tables(term, query.parts) for term in query.terms])
    phrases = _merged([_tables(phrase, query.parts) for phrase in query.phrases])
    either = _merged([words, phrases])
    if not query.phrases_required or not phrases:
        return Lookup({table: " OR ".join(found) for table, found in either.items()}, either=either)
    if len(either) == 1:
        ((table, required),) = phrases.items()
        any_word = [f"({' OR '.join(words[table])})"] if words else []
        return Lookup({table: " AND ".join([*any_word, *required])})
    # A phrase in one table and a word in another: bm25 adds up either way, and rows are held to all of it.
    conditions = [{table: one} for table, found in phrases.items() for one in found]
    if words:
        conditions.insert(0, {table: " OR ".join(found) for table, found in words.items()})
    scored = {table: " OR ".join(found) for table, found in either.items()}
    return Lookup(scored, tuple(conditions))


def _merged(several: Sequence[dict[str, list[str]]]) -> dict[str, list[str]]:
    """Expressions by table, each once, without the tables that have none."""
    found = {table: [one for tables in several for one in tables.get(table, ())] for table in TABLES}
    return {table: list(dict.fromkeys(ones)) for table, ones in found.items() if ones}


def _tables(term: str, with_parts: bool) -> dict[str, list[str]]:
    """Where one term is looked up: CJK by pairs, the rest as words, camelCase by its parts too."""
    words = [quoted(rest.strip()) for rest in CJK_RUN.split(plain(term)) if rest.strip()]
    tables = {"text": words, "cjk": [pair_phrase(run) for run in runs(term)]}
    if with_parts:
        parts = identifier_parts(term)
        tables["parts"] = [quoted(parts)] if parts else words
        tables["text"] = [*words, quoted(parts)] if parts else words
    return tables
