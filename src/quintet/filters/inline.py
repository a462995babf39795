"""Conditions written among the words of a query: `retry lang:python -path:vendor/**`.

A word is a condition only if it is `name:value` with a field that exists and a value that fits it. So
`std::string`, `http://host`, `12:30`, `before:each` and anything within quotes stay words. NOT before a
condition belongs to it, and AND or OR between two to both. What was taken is told in a note.
"""

import re

from quintet.errors import UsageError
from quintet.filters.fields import MOST_CONDITIONS, as_filter, count_conditions, written
from quintet.filters.grammar import all_of, parse, render
from quintet.model.filters import AllOf, Expression, Filter
from quintet.model.results import Note

PHRASE = r'"[^"]*"'
VALUE = r'(?:"(?:[^"\\]|\\["\\])*"(?=\s|$)|[^\s":][^\s]*)'
CONDITION = rf"(?:NOT\s+)?-?[A-Za-z][^\s():\"]*:{VALUE}"
WORDS = re.compile(rf"(?P<conditions>(?<!\S){CONDITION}(?:\s+(?:AND|OR)\s+{CONDITION})*)|{PHRASE}")


def split(query: str) -> tuple[str, Filter, tuple[Note, ...]]:
    """The words, the conditions among them, and a note of what was taken.

    >>> split("retry lang:python")[:2]
    ('retry', Filter(conditions=(Condition(field='lang', value='python'),)))
    """
    found: list[Expression] = []

    def taken(match: re.Match[str]) -> str:
        one = _expression(match["conditions"])
        if one is None or count_conditions(AllOf((*found, one))) > MOST_CONDITIONS:
            return match[0]
        found.append(one)
        return " "

    words = " ".join(WORDS.sub(taken, query).split())
    if not found or not words:  # nothing but conditions is no question: then they are its words
        return query, Filter(), ()
    whole = all_of(found)
    message = f"read as filters: {render(whole)}; put quotes around them to search for the words"
    return words, as_filter(whole), ({"code": "filters_read", "message": message},)


def _expression(text: str | None) -> Expression | None:
    try:
        return parse(text, written) if text else None
    except UsageError:
        return None
