"""`--filter` as the engine takes it."""

import json
import re
from collections.abc import Sequence

from quintet.errors import UsageError

EXACT = "knowledge"  # spec 003 takes exact matches, one for a name
ALONE = re.compile(r'\s*([^\s():"]+):([^\s"].*\s.*)', re.DOTALL)
MORE = re.compile(r'\s(?:(?:AND|OR|NOT)(?=[\s()]|$)|-?\(*[A-Za-z][^\s():"]*:\S|-$)')


def given_filters(texts: Sequence[str], contract: str) -> object:
    """What all options say together."""
    if contract == EXACT:
        return _exact(texts)
    parts: list[object] = [quoted_if_alone(text) for text in texts]
    return parts[0] if len(parts) == 1 else {"and": parts}


def quoted_if_alone(text: str) -> str:
    """A single `name:value` may hold spaces without being quoted: the shell has quoted it once already.

    >>> quoted_if_alone("title:two words"), quoted_if_alone("path:a OR path:b")
    ('title:"two words"', 'path:a OR path:b')
    """
    from quintet.filters.grammar import render
    from quintet.model.filters import Condition

    found = ALONE.fullmatch(text.rstrip())
    if found is None or MORE.search(found[2]) or found[2].count("(") != found[2].count(")"):
        return text
    return render(Condition(found[1], found[2]))


def _exact(texts: Sequence[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for text in texts:
        name, separator, value = text.partition(":")
        name = name.strip()
        if not separator or not name:
            message = f"--filter is {text!r}; it must be name:value, e.g. title:Guide"
            raise UsageError(message, code="invalid_filter")
        if name in found:
            raise UsageError(f"filter {name} was given twice; give it once", code="invalid_filter")
        found[name] = _value(name, value)
    return found


def _value(name: str, value: str) -> object:
    """As the kind the field wants where it can be read so; the engine refuses the rest by name."""
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


def json_or_text(value: str) -> object:
    """JSON where it parses, else the text itself.

    >>> [json_or_text(one) for one in ("20", '{"a": 1}', "plain", "")]
    [20, {'a': 1}, 'plain', '']
    """
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
