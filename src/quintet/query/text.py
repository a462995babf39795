"""Turn what a person typed into a safe lexical query."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, takewhile

from quintet.contracts import Plan
from quintet.errors import UsageError
from quintet.model.results import Note
from quintet.model.text_query import TextQuery

MAX_PREFIXES = 4  # each matches every word that begins with it
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
class ParsedQuery:
    query: TextQuery | None  # None: no term can be looked up
    notes: tuple[Note, ...]


def clean(query: object, max_chars: int) -> str:
    """The query as text that can be stored, sent and echoed. Blank or overlong text is an error."""
    if not isinstance(query, str):
        raise UsageError(f"the query is a {type(query).__name__}; it must be text", code="bad_query")
    if not query.replace("\0", " ").strip():
        raise UsageError("the query is blank; give at least one word", code="bad_query")
    if len(query) > max_chars:
        raise UsageError(
            f"the query has {len(query)} characters; at most {max_chars} are allowed: shorten it",
            code="bad_query",
        )
    return SURROGATE.sub("\ufffd", query)


def parse(plan: Plan, tokens: Callable[[str], list[str]], max_terms: int) -> ParsedQuery:
    """Split at white space, keep quoted phrases, and drop what holds no token of the index."""
    reading = plan.reading
    if plan.syntax == "fts5":
        _check_cost(plan.query, tokens, max_terms)
        return ParsedQuery(TextQuery(expression=plan.query, field_weights=reading.field_weights), ())
    tokens = cache(tokens)  # each term is tokenised several times
    phrases = _distinct(QUOTED.findall(plan.query), tokens)
    words = _distinct(QUOTED.sub(" ", plan.query).split(), tokens)
    if not reading.stop_words:
        # A query of nothing but stop words asks for them.
        words = [word for word in words if not _is_stop_word(word, tokens)] or ([] if phrases else words)
    if not words and not phrases:
        return ParsedQuery(None, (_note("no_searchable_terms", "the query has no word that text can match"),))
    terms = phrases + words
    capped = _cap(terms, tokens, max_terms)
    notes = []
    if capped != terms:
        last = "" if capped[-1] == terms[len(capped) - 1] else ", the last of them cut short"
        message = f"of {len(terms)} terms the first {len(capped)} were looked up{last}"
        notes.append(_note("terms_capped", message))
    query = TextQuery(
        tuple(capped[len(phrases) :]),
        tuple(capped[: len(phrases)]),
        phrases_required=reading.phrases_required,
        parts=reading.parts,
        stems=reading.stems,
        field_weights=reading.field_weights,
        exact_bm25=reading.exact_bm25,
    )
    return ParsedQuery(query, tuple(notes))


def _check_cost(expression: str, tokens: Callable[[str], list[str]], max_terms: int) -> None:
    """One line of FTS5's own language can take minutes to run. Such a query is an error, not cut."""
    terms, prefixes = len(tokens(expression)), expression.count("*")
    if terms > max_terms or prefixes > MAX_PREFIXES:
        raise UsageError(
            f"the FTS5 expression has {terms} terms and {prefixes} prefixes; "
            f"at most {max_terms} and {MAX_PREFIXES} are allowed: shorten it",
            code="bad_query",
        )


def _distinct(terms: list[str], tokens: Callable[[str], list[str]]) -> list[str]:
    """Terms that hold a token, each once: two spellings of the same tokens are one term."""
    distinct: dict[tuple[str, ...], str] = {}
    for term in terms:
        key = tuple(tokens(term))
        if key:
            distinct.setdefault(key, term)
    return list(distinct.values())


def _cap(terms: list[str], tokens: Callable[[str], list[str]], max_terms: int) -> list[str]:
    """As many terms as may be looked up. A term that is too long is cut after one of its tokens."""
    capped: list[str] = []
    left = max_terms * TERM_CHARS
    for term in terms[:max_terms]:
        capped.append(term if len(term) <= left else _cut(tokens(term), left))
        left -= len(term)
        if left <= 0:
            break
    return capped


def _cut(tokens: list[str], longest: int) -> str:
    ends = accumulate(len(token) + 1 for token in tokens)
    fitting = sum(1 for _ in takewhile(lambda end: end <= longest, ends))
    return " ".join(tokens[:fitting]) or tokens[0][:longest]


def _is_stop_word(word: str, tokens: Callable[[str], list[str]]) -> bool:
    return all(token in STOP_WORDS for token in tokens(word))


def _note(code: str, message: str) -> Note:
    return {"code": code, "message": message}
