"""Conditions written among the words of a query: `retry lang:python -path:vendor/**`.

A word is a condition only if it is `name:value` or `name<value` with a known field and a valid value. So
`std::string`, `http://host`, `12:30`, `before:each`, `i<n` and anything within quotes stay words. NOT before
a condition negates it; AND or OR between two conditions combines them. A note says what was read as a filter.
"""

import re
from collections.abc import Mapping

from quintet.errors import UsageError
from quintet.filters.fields import GENERAL, MAX_CONDITIONS, as_filter, count_conditions, text_conditions
from quintet.filters.grammar import ReadCondition, all_of, parse, render
from quintet.model.filters import AllOf, Expression, Filter
from quintet.model.results import Note

PHRASE = r'"[^"]*"'
MARKS = re.compile("[:<>]")  # one of them is in every condition
VALUE = r'(?:"(?:[^"\\]|\\["\\])*"(?=\s|$)|[^\s":][^\s]*)'
CONDITION = rf"(?:NOT\s+)?-?[A-Za-z][^\s():\"<>]*(?:[:<>]|<=|>=){VALUE}"
WORDS = re.compile(rf"(?P<conditions>(?<!\S){CONDITION}(?:\s+(?:AND|OR)\s+{CONDITION})*)|{PHRASE}")


def split(query: str, fields: Mapping[str, str] = GENERAL) -> tuple[str, Filter, tuple[Note, ...]]:
    """The words, the conditions among them, and a note that names the conditions.

    >>> split("retry lang:python")[:2]
    ('retry', Filter(conditions=(Condition(field='lang', value='python', comparison='='),)))
    """
    expressions: list[Expression] = []
    read = text_conditions(fields)

    def take(match: re.Match[str]) -> str:
        expression = _expression(match["conditions"], read)
        if expression is None or count_conditions(AllOf((*expressions, expression))) > MAX_CONDITIONS:
            return match[0]
        expressions.append(expression)
        return " "

    words = " ".join(WORDS.sub(take, query).split())
    if not expressions or not words:  # a query of conditions alone has no words: search for them instead
        return query, Filter(), ()
    whole = all_of(expressions)
    message = f"read as filters: {render(whole)}; put quotes around them to search for the words"
    return words, as_filter(whole), ({"code": "filters_read", "message": message},)


def _expression(text: str | None, read: ReadCondition) -> Expression | None:
    try:
        return parse(text, read) if text else None
    except UsageError:
        return None
