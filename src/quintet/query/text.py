"""From what a person typed to a safe lexical query."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, takewhile

from quintet.contracts import Plan
from quintet.errors import UsageError
from quintet.model.results import Note
from quintet.model.text_query import TextQuery

MAX_PREFIXES = 4  # each gathers every word that begins so
QUOTED = re.compile(r'"([^"]*)"')
SURROGATE = re.compile("[\ud800-\udfff]")
TERM_CHARS = 32  # on average: a whole chunk fits as one phrase, and no phrase takes FTS5 a second

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
        _check_cost(plan.query, tokens, max_terms)
        return Parsed(TextQuery(expression=plan.query, field_weights=reading.field_weights), ())
    tokens = cache(tokens)  # each term is looked at several times
    phrases = _distinct(QUOTED.findall(plan.query), tokens)
    words = _distinct(QUOTED.sub(" ", plan.query).split(), tokens)
    if not reading.stop_words:
        # Only stop words left, and no phrase: then they are what was asked for.
        words = [word for word in words if not _stops(word, tokens)] or ([] if phrases else words)
    if not words and not phrases:
        return Parsed(None, (_note("no_searchable_terms", "the query holds no word that text can match"),))
    asked = phrases + words
    kept = _capped(asked, tokens, max_terms)
    notes = []
    if kept != asked:
        last = "" if kept[-1] == asked[len(kept) - 1] else ", the last of them cut short"
        message = f"of {len(asked)} terms the first {len(kept)} were looked up{last}"
        notes.append(_note("terms_capped", message))
    query = TextQuery(
        tuple(kept[len(phrases) :]),
        tuple(kept[: len(phrases)]),
        phrases_required=reading.phrases_required,
        parts=reading.parts,
        stems=reading.stems,
        field_weights=reading.field_weights,
        exact_bm25=reading.exact_bm25,
    )
    return Parsed(query, tuple(notes))


def _check_cost(expression: str, tokens: Callable[[str], list[str]], max_terms: int) -> None:
    """FTS5's own language can ask for minutes of work in a line; that is refused, not cut."""
    terms, prefixes = len(tokens(expression)), expression.count("*")
    if terms > max_terms or prefixes > MAX_PREFIXES:
        raise UsageError(
            f"the FTS5 expression has {terms} terms and {prefixes} prefixes; "
            f"at most {max_terms} and {MAX_PREFIXES} are taken: shorten it",
            code="bad_query",
        )


def _distinct(terms: list[str], tokens: Callable[[str], list[str]]) -> list[str]:
    """Terms that hold a token, each once: two spellings of the same tokens are one term."""
    found: dict[tuple[str, ...], str] = {}
    for term in terms:
        key = tuple(tokens(term))
        if key:
            found.setdefault(key, term)
    return list(found.values())


def _capped(terms: list[str], tokens: Callable[[str], list[str]], max_terms: int) -> list[str]:
    """As many terms as may be looked up; one that is too long is cut behind one of its tokens."""
    kept: list[str] = []
    left = max_terms * TERM_CHARS
    for term in terms[:max_terms]:
        kept.append(term if len(term) <= left else _cut(tokens(term), left))
        left -= len(term)
        if left <= 0:
            break
    return kept


def _cut(tokens: list[str], longest: int) -> str:
    ends = accumulate(len(token) + 1 for token in tokens)
    fitting = sum(1 for _ in takewhile(lambda end: end <= longest, ends))
    return " ".join(tokens[:fitting]) or tokens[0][:longest]


def _stops(word: str, tokens: Callable[[str], list[str]]) -> bool:
    return all(token in STOP_WORDS for token in tokens(word))


def _note(code: str, message: str) -> Note:
    return {"code": code, "message": message}
