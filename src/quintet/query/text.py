"""Turn what a person typed into a safe lexical query."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, takewhile
from math import fsum, sqrt

from quintet.contracts import Plan
from quintet.contracts.intent import is_pasted, looks_like_code, title_of
from quintet.contracts.stop_words import STOP_WORDS
from quintet.errors import UsageError
from quintet.model.parameters import shown
from quintet.model.results import Note
from quintet.model.text_query import TextQuery
from quintet.ports.reading import TextIndex

MAX_PREFIXES = 4  # each matches every word that begins with it
QUOTED = re.compile(r'"([^"]*)"')
SURROGATE = re.compile("[\ud800-\udfff]")
TERM_CHARS = 32  # on average: a whole chunk fits as one phrase, and no phrase takes FTS5 a second


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
        expression = TextQuery(
            expression=plan.query, field_weights=reading.field_weights, content_only=reading.content_only
        )
        return ParsedQuery(expression, ())
    tokens = cache(tokens)  # each term is tokenised several times
    pasted = is_pasted(plan.query)
    phrases = [] if pasted else _distinct(QUOTED.findall(plan.query), tokens)
    words = _distinct((plan.query if pasted else QUOTED.sub(" ", plan.query)).split(), tokens)
    stop_words = STOP_WORDS[reading.stop_words]
    # A query of nothing but stop words asks for them.
    words = [word for word in words if not _is_stop_word(word, tokens, stop_words)] or (
        [] if phrases else words
    )
    if not words and not phrases:
        return ParsedQuery(None, (_note("no_searchable_terms", "the query has no word that text can match"),))
    if pasted:
        words = _telling_first(words, title_of(plan.query), tokens)
    terms = phrases + words
    capped = _cap(terms, tokens, max_terms)
    words = capped[len(phrases) :]
    query = TextQuery(
        tuple(words),
        tuple(capped[: len(phrases)]),
        phrases_required=reading.phrases_required,
        parts=reading.parts,
        stems=reading.stems,
        field_weights=reading.field_weights,
        exact_bm25=reading.exact_bm25,
        content_only=reading.content_only,
        weights=_weights(plan.query, words, tokens, pasted) if reading.repeats else (),
    )
    return ParsedQuery(query, tuple(_notes(plan.query, pasted, terms, capped)))


def look_up(parsed: ParsedQuery, index: TextIndex, *, respell: bool) -> ParsedQuery:
    """The query with the nearest words of the index in place of words that it does not hold; notes say which,
    and which phrases occur nowhere."""
    query, notes = parsed.query, list(parsed.notes)
    assert query is not None
    other = index.respelt(query.terms) if respell else {}
    for term, word in other.items():
        notes.append(_note("respelt", f"{shown(term)} occurs nowhere; searched for {shown(word)} instead"))
    for phrase in query.phrases:
        if not index.search(TextQuery(phrases=(phrase,), content_only=query.content_only), 1):
            message = f"the phrase {shown(phrase)} occurs nowhere in this index"
            notes.append(_note("phrase_not_found", message))
    terms = tuple(other.get(term, term) for term in query.terms)
    return ParsedQuery(replace(query, terms=terms), tuple(notes))


def _notes(query: str, pasted: bool, terms: list[str], capped: list[str]) -> Iterator[Note]:
    if pasted and QUOTED.search(query):
        yield _note("quotes_ignored", "the query is pasted text, so quotation marks in it make no phrases")
    if capped != terms:
        last = "" if capped[-1] == terms[len(capped) - 1] else ", the last of them cut short"
        what = "most telling" if pasted else "first"
        yield _note("terms_capped", f"of {len(terms)} terms the {what} {len(capped)} were looked up{last}")


def _telling_first(words: list[str], title: str, tokens: Callable[[str], list[str]]) -> list[str]:
    """The words of the title, then names of code, then the rest, each in the order of the text."""
    in_title = {token for word in title.split() for token in tokens(word)}
    return sorted(words, key=lambda word: (in_title.isdisjoint(tokens(word)), not looks_like_code(word)))


def _weights(
    query: str, words: list[str], tokens: Callable[[str], list[str]], pasted: bool
) -> tuple[float, ...]:
    """The square root of how often the query has each word. In pasted text the title counts as much as the
    rest. Empty if all words count the same."""
    times = Counter(tuple(tokens(word)) for word in query.split())
    weights = [sqrt(times.get(tuple(tokens(word)), 1)) for word in words]
    if pasted:
        title = {tuple(tokens(word)) for word in title_of(query).split()}
        titled = [tuple(tokens(word)) in title for word in words]
        in_title = fsum(weight for weight, here in zip(weights, titled, strict=True) if here)
        rest = fsum(weights) - in_title
        factor = max(1.0, rest / in_title) if in_title else 1.0
        weights = [weight * factor if here else weight for weight, here in zip(weights, titled, strict=True)]
    return tuple(weights) if any(weight != 1.0 for weight in weights) else ()


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


def _is_stop_word(word: str, tokens: Callable[[str], list[str]], stop_words: frozenset[str]) -> bool:
    return all(token in stop_words for token in tokens(word))


def _note(code: str, message: str) -> Note:
    return {"code": code, "message": message}
