"""`--filter` as the engine takes it."""

import re
from collections.abc import Sequence

SINGLE = re.compile(r'\s*([^\s():"<>]+):([^\s"].*\s.*)', re.DOTALL)
OPERATOR = re.compile(r'\s(?:(?:AND|OR|NOT)(?=[\s()]|$)|-?\(*[A-Za-z][^\s():"]*(?::|\s*[<>]=?\s*)\S|-$)')


def join_filters(texts: Sequence[str]) -> str:
    """All `--filter` options as one filter, each of which must match."""
    parts = [quote_single(text) for text in texts]
    return parts[0] if len(parts) == 1 else " ".join(f"({part})" for part in parts)


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
