"""Text from files beside our own words, so that neither can be taken for the other.

A passage stands between two fences of backticks, longer than any run of backticks in it, and is labelled. A
name from a file stands on one line, in quotation marks if it could be read as more than a name.
"""

import json
import re
from collections.abc import Iterable

SHORTEST = 3  # backticks, as in Markdown
BACKTICKS = re.compile("`{3,}")
BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
PLAIN = re.compile(r"[^\s\"'`()\[\]<>]+")


def fence_for(texts: Iterable[str]) -> str:
    """A fence that none of these texts contains.

    >>> fence_for(["plain", "a ```` b"])
    '`````'
    """
    runs = (len(run) for text in texts for run in BACKTICKS.findall(text))
    return "`" * max(SHORTEST, 1 + max(runs, default=0))


def fenced(text: str, fence: str, label: str = "passage") -> str:
    r"""
    >>> fenced("one\ntwo\n", "```")
    '```passage\none\ntwo\n```'
    """
    inside = text.strip("\n")
    return f"{fence}{label}\n{inside}\n{fence}"


def one_line(text: str) -> str:
    r"""The text without line breaks and control characters.

    >>> one_line("a\r\nb\x1b[1m")
    'a b [1m'
    """
    return BREAKS.sub(" ", text)


def quoted(text: str) -> str:
    r"""The text on one line, in quotation marks that it cannot close.

    >>> print(quoted('say "hi"\nnow'))
    "say \"hi\" now"
    """
    return json.dumps(one_line(text), ensure_ascii=False)


def name(text: str) -> str:
    """A path or an identifier, quoted unless it is a plain word.

    >>> print(name("docs/a.md:3-9"), name("a.md (score 1)"))
    docs/a.md:3-9 "a.md (score 1)"
    """
    return text if not text or PLAIN.fullmatch(text) else quoted(text)
