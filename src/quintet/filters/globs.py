"""Path globs that match in linear time, however hostile the pattern.

`*` and `?` stay within one folder, `**` crosses folders, `**/` may match no folder at all, `{a,b}` matches
either. Each star matches as little as it can before the text up to the next star, and never backtracks (an
atomic group): for globs the first place that fits is as good as any other.
"""

import re
from functools import lru_cache
from itertools import product

from quintet.errors import UsageError

MAX_ALTERNATIVES = 256
MAX_CHARS = 1000


@lru_cache(maxsize=256)
def compiled_glob(pattern: str) -> "re.Pattern[str]":
    if len(pattern) > MAX_CHARS:
        raise _invalid(pattern, f"is longer than {MAX_CHARS} characters")
    return re.compile("|".join(f"(?:{_translate(choice)})" for choice in _alternatives(pattern)), re.DOTALL)


def prefixes(pattern: str) -> list[str]:
    """The prefixes that a matching path can have, one for each choice of braces.

    >>> prefixes("{docs,src/app}/**/*.md")
    ['docs/', 'src/app/']
    """
    return list(dict.fromkeys(re.split(r"[*?]", choice, maxsplit=1)[0] for choice in _alternatives(pattern)))


def below(pattern: str, folder: str) -> list[str]:
    """What the pattern asks for below a folder that it names in full, one for each choice of braces.

    >>> below("{docs,src}/**/*.md", "docs"), below("doc*/a.md", "docs")
    (['**/*.md'], [])
    """
    start = f"{folder}/"
    return [choice.removeprefix(start) for choice in _alternatives(pattern) if choice.startswith(start)]


def _alternatives(pattern: str) -> list[str]:
    """The patterns without braces that this one stands for. An unclosed brace is a literal."""
    opened = pattern.find("{")
    closed = _closing(pattern, opened)
    if closed < 0:
        return [pattern]
    heads, middles = [pattern[:opened]], _split(pattern[opened + 1 : closed])
    tails = _alternatives(pattern[closed + 1 :])
    inner = [choice for middle in middles for choice in _alternatives(middle)]
    if len(inner) * len(tails) > MAX_ALTERNATIVES:
        raise _invalid(pattern, f"expands to more than {MAX_ALTERNATIVES} alternatives")
    return ["".join(parts) for parts in product(heads, inner, tails)]


def _closing(pattern: str, opened: int) -> int:
    depth = 0
    for at in range(max(opened, 0), len(pattern)):
        depth += {"{": 1, "}": -1}.get(pattern[at], 0)
        if depth == 0 and opened >= 0:
            return at
        if depth > 20:
            raise _invalid(pattern, "nests braces more than 20 deep")
    return -1


def _split(inside: str) -> list[str]:
    """Split at the commas outside inner braces."""
    parts, depth = [""], 0
    for char in inside:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _translate(pattern: str) -> str:
    """`**/` and `**` cut the pattern into runs; each run is sought from where the one before it ended."""
    runs = re.split(r"(\*\*/|\*\*)", pattern)
    out = _run(runs[0], last=len(runs) == 1)
    for at in range(1, len(runs), 2):
        skip = r"(?:[^/]*/)*?" if runs[at] == "**/" else ".*?"
        out += f"(?>{skip}{_run(runs[at + 1], last=at + 2 == len(runs))})"
    return out


def _run(run: str, *, last: bool) -> str:
    """Text with single stars. The last run has to reach the end of the path."""
    first, *rest = run.split("*")
    end = r"\Z" if last else ""
    out = _literal(first) + ("" if rest else end)
    for number, piece in enumerate(rest, start=1):
        out += f"(?>[^/]*?{_literal(piece)}{end if number == len(rest) else ''})"
    return out


def _literal(text: str) -> str:
    return "".join("[^/]" if char == "?" else re.escape(char) for char in text)


def _invalid(pattern: str, why: str) -> UsageError:
    shown = pattern if len(pattern) <= 60 else pattern[:57] + "..."
    return UsageError(f"the glob {shown!r} {why}; write a simpler one", code="invalid_filter")
