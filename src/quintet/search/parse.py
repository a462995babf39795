"""From what a person typed to a safe lexical query."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from quintet.contracts import Plan
from quintet.errors import UsageError
from quintet.model import Note, TextQuery

QUOTED = re.compile(r'"([^"]*)"')
SURROGATE = re.compile("[\ud800-\udfff]")

# Lucene's English list: small, old, and the one most engines mean by "stop words".
LUCENE = """
    a an and are as at be but by for if in into is it no not of on or such
    that the their then there these they this to was will with
"""
STOP_WORDS = frozenset(LUCENE.split())


@dataclass(frozen=True, slots=True)
class Parsed:
    query: TextQuery | None  # None: nothing in it can be looked up
    notes: tuple[Note, ...]


def clean(query: object, longest: int) -> str:
    """The query as text that can be stored, sent and echoed; blank or overlong text is refused."""
    if not isinstance(query, str):
        raise UsageError(f"the query is a {type(query).__name__}; it must be text", code="bad_query")
    if not query.replace("\0", " ").strip():
        raise UsageError("the query is blank; ask with at least one word", code="bad_query")
    if len(query) > longest:
        raise UsageError(
            f"the query has {len(query)} characters; at most {longest} are taken: shorten it",
            code="bad_query",
        )
    return SURROGATE.sub("\ufffd", query)


def parse(plan: Plan, tokens: Callable[[str], list[str]], max_terms: int) -> Parsed:
    """Terms split at white space, quoted phrases kept; only what holds a token of the index counts."""
    reading = plan.reading
    if plan.syntax == "fts5":
        return Parsed(TextQuery(expression=plan.query, field_weights=reading.field_weights), ())
    phrases = _distinct(QUOTED.findall(plan.query), tokens)
    words = _distinct(QUOTED.sub(" ", plan.query).split(), tokens)
    if not reading.stop_words:
        # Only stop words left, and no phrase: then they are what was asked for.
        words = [word for word in words if not _stops(word, tokens)] or ([] if phrases else words)
    if not words and not phrases:
        return Parsed(None, (_note("no_searchable_terms", "the query holds no word that text can match"),))
    kept_phrases, kept_words = phrases[:max_terms], words[: max(0, max_terms - len(phrases))]
    notes = []
    if len(phrases) + len(words) > max_terms:
        count = len(phrases) + len(words)
        notes.append(_note("terms_capped", f"of {count} terms the first {max_terms} were looked up"))
    query = TextQuery(
        tuple(kept_words),
        tuple(kept_phrases),
        phrases_required=reading.phrases_required,
        parts=reading.parts,
        field_weights=reading.field_weights,
    )
    return Parsed(query, tuple(notes))


def _distinct(terms: list[str], tokens: Callable[[str], list[str]]) -> list[str]:
    """Terms that hold a token, each once: two spellings of the same tokens are one term."""
    found: dict[tuple[str, ...], str] = {}
    for term in terms:
        key = tuple(tokens(term))
        if key:
            found.setdefault(key, term)
    return list(found.values())


def _stops(word: str, tokens: Callable[[str], list[str]]) -> bool:
    return all(token in STOP_WORDS for token in tokens(word))


def _note(code: str, message: str) -> Note:
    return {"code": code, "message": message}
