"""`--filter` as the engine takes it."""

import re
from collections.abc import Sequence

from quintet.cli.arguments import json_or_text, name_and_value
from quintet.errors import UsageError

EXACT = "knowledge"  # spec 003 takes exact matches, at most one per field
SINGLE = re.compile(r'\s*([^\s():"]+):([^\s"].*\s.*)', re.DOTALL)
OPERATOR = re.compile(r'\s(?:(?:AND|OR|NOT)(?=[\s()]|$)|-?\(*[A-Za-z][^\s():"]*:\S|-$)')


def parse_filters(texts: Sequence[str], contract: str) -> object:
    """All `--filter` options together, in the form that the contract takes."""
    if contract == EXACT:
        return _exact(texts)
    parts: list[object] = [quote_single(text) for text in texts]
    return parts[0] if len(parts) == 1 else {"and": parts}


def quote_single(text: str) -> str:
    """Quote the value of a single `name:value` that holds spaces: the shell has removed the user's quotes.

    >>> quote_single("title:two words"), quote_single("path:a OR path:b")
    ('title:"two words"', 'path:a OR path:b')
    """
    from quintet.filters.grammar import render
    from quintet.model.filters import Condition

    match = SINGLE.fullmatch(text.rstrip())
    if match is None or OPERATOR.search(match[2]) or match[2].count("(") != match[2].count(")"):
        return text
    return render(Condition(match[1], match[2]))


def _exact(texts: Sequence[str]) -> dict[str, object]:
    conditions: dict[str, object] = {}
    for text in texts:
        message = f"--filter is {text!r}; it must be name:value, e.g. title:Guide"
        name, value = name_and_value(text, ":", message, code="invalid_filter")
        if name in conditions:
            raise UsageError(f"filter {name} was given twice; give it once", code="invalid_filter")
        conditions[name] = _value(name, value)
    return conditions


def _value(name: str, value: str) -> object:
    """Convert to the field's type where the text allows it; the engine rejects the rest by name."""
    from quintet.filters.fields import BOOLEAN, BUILT_IN, INTEGER

    kind = BUILT_IN.get(name)
    if kind is None:  # a property of a schema: a number or true, else text; "5" in quotes is text too
        return json_or_text(value)
    if kind == BOOLEAN:
        return {"true": True, "false": False}.get(value.strip().lower(), value)
    if kind == INTEGER:
        try:
            return int(value)
        except ValueError:
            return value
    return value
