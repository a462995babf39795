r"""The filter language: `path:docs/**/*.md lang:python -tag:draft (after:2026-01-01 OR title:"two words")`.

    either    = all { "OR" all }
    all       = one { [ "AND" ] one }
    one       = ( "NOT" | "-" ) one | "(" either ")" | name ":" value
    value     = '"' text with \" and \\ '"' | text up to white space or the bracket that closes a group

Operators are written in capitals. NOT binds tightest, then AND, then OR.
"""

import re
from collections.abc import Callable, Sequence

from quintet.errors import UsageError
from quintet.model.filters import AllOf, AnyOf, Condition, Expression, Not

LONGEST = 4_000  # characters
DEEPEST = 32
OPERATOR = re.compile(r"(?:AND|OR|NOT)(?=[\s()]|$)")
WORD = re.compile(r'[^\s():"]*')
QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
ESCAPED = re.compile(r'\\(["\\])')
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
SHOWN = 60  # characters of the filter that an error shows

Read = Callable[[str, str], Condition]


def parse(text: str, read: Read) -> Expression:
    """What `text` asks for. `read` makes a condition of a name and a value, or refuses them."""
    if len(text) > LONGEST:
        raise UsageError(
            f"the filter has {len(text)} characters; at most {LONGEST} are taken: shorten it",
            code="invalid_filter",
            details={"position": LONGEST},
        )
    return _Parser(text, read).whole()


class _Parser:
    def __init__(self, text: str, read: Read) -> None:
        self._text = text
        self._read = read
        self._at = 0

    def whole(self) -> Expression:
        found = self._either(0)
        if self._next() == ")":
            raise self._refused("this bracket closes nothing; take it out")
        return found

    def _next(self) -> str:
        """The next character that is not white space, which is skipped; empty at the end."""
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _operator(self) -> str:
        self._next()
        found = OPERATOR.match(self._text, self._at)
        return found[0] if found else ""

    def _take(self, operator: str) -> bool:
        if self._operator() != operator:
            return False
        self._at += len(operator)
        return True

    def _either(self, depth: int) -> Expression:
        parts = [self._all(depth)]
        while self._take("OR"):
            parts.append(self._all(depth))
        return any_of(parts)

    def _all(self, depth: int) -> Expression:
        parts = [self._one(depth)]
        while self._next() not in ("", ")") and self._operator() != "OR":
            self._take("AND")
            parts.append(self._one(depth))
        return all_of(parts)

    def _one(self, depth: int) -> Expression:
        char = self._next()
        if depth > DEEPEST:
            raise self._refused(f"this is more than {DEEPEST} levels deep; write it flatter")
        if self._take("NOT"):
            return Not(self._one(depth + 1))
        if char == "-":
            self._at += 1
            return Not(self._one(depth + 1))
        if char == "(":
            return self._group(depth)
        return self._condition()

    def _group(self, depth: int) -> Expression:
        opened = self._at
        self._at += 1
        found = self._either(depth + 1)
        if self._next() != ")":
            raise self._refused("this bracket is never closed; close it", opened)
        self._at += 1
        return found

    def _condition(self) -> Condition:
        start = self._at
        found = WORD.match(self._text, start)
        name = found[0] if found else ""
        self._at = start + len(name)
        if not name or self._text[self._at : self._at + 1] != ":":
            raise self._refused(_no_condition(name or self._text[start : start + 1]), start)
        self._at += 1
        value = self._quoted() if self._text[self._at : self._at + 1] == '"' else self._bare(name)
        try:
            return self._read(name, value)
        except UsageError as error:
            raise self._refused(error.message, start) from error

    def _quoted(self) -> str:
        found = QUOTED.match(self._text, self._at)
        if found is None:
            raise self._refused('this quote is never closed; within quotes write \\" and \\\\')
        self._at = found.end()
        after = self._text[self._at : self._at + 1]
        if after and after != ")" and not after.isspace():
            raise self._refused("a quoted value ends here; put a space behind it")
        return ESCAPED.sub(r"\1", found[1])

    def _bare(self, name: str) -> str:
        """Up to white space. A bracket that was opened within the value closes within it."""
        start, opened = self._at, 0
        while self._at < len(self._text) and not self._text[self._at].isspace():
            opened += {"(": 1, ")": -1}.get(self._text[self._at], 0)
            if opened < 0:
                break
            self._at += 1
        if self._at == start:
            raise self._refused(f"{name} has no value; write it right behind the colon")
        return self._text[start : self._at]

    def _refused(self, why: str, at: int | None = None) -> UsageError:
        position = self._at if at is None else at
        return UsageError(
            f"{why} (position {position} of the filter)\n{pointed_at(self._text, position)}",
            code="invalid_filter",
            details={"position": position},
        )


def pointed_at(text: str, position: int) -> str:
    """The text around a position, and a caret below it."""
    start = max(0, min(position - SHOWN // 2, len(text) - SHOWN))
    line = UNPRINTABLE.sub(" ", text[start : start + SHOWN])
    return f"  {line}\n  {' ' * (position - start)}^"


def _no_condition(word: str) -> str:
    if not word:
        return "a condition is missing here; write name:value, e.g. path:docs/**"
    if word.upper() in ("AND", "OR", "NOT"):
        return f"{word} must be in capitals and between conditions; write name:value around it"
    return f"{word[:40]!r} is not a condition; write name:value, and quotes around a value with spaces"


def all_of(parts: Sequence[Expression]) -> Expression:
    """All of them, without brackets that say nothing."""
    flat = [one for part in parts for one in (part.parts if isinstance(part, AllOf) else (part,))]
    return flat[0] if len(flat) == 1 else AllOf(tuple(flat))


def any_of(parts: Sequence[Expression]) -> Expression:
    flat = [one for part in parts for one in (part.parts if isinstance(part, AnyOf) else (part,))]
    return flat[0] if len(flat) == 1 else AnyOf(tuple(flat))


def render(expression: Expression) -> str:
    """An expression in the language it was read from."""
    match expression:
        case Condition(name, value):
            return f"{name}:{_value(value)}"
        case Not(of):
            return "-" + _grouped(of)
        case AllOf(parts):
            return " ".join(_grouped(part) for part in parts)
    return " OR ".join(_grouped(part) for part in expression.parts)


def _grouped(part: Expression) -> str:
    return f"({render(part)})" if isinstance(part, (AllOf, AnyOf)) else render(part)


def _value(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return str(value)
    plain = value and not value.startswith('"') and not any(char.isspace() or char in "()" for char in value)
    if plain:
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
