r"""The filter language: `path:docs/**/*.md lang:python -tag:draft (after:2026-01-01 OR meta.price<20)`.

    any_of    = all_of { "OR" all_of }
    all_of    = term { [ "AND" ] term }
    term      = ( "NOT" | "-" ) term | "(" any_of ")" | name ":" value | name order value
    order     = "<" | "<=" | ">" | ">=", with or without white space around it
    value     = '"' text with \" and \\ '"' | text up to white space or the bracket that closes a group

Operators are written in capitals. NOT binds tightest, then AND, then OR.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from quintet.errors import UsageError
from quintet.model.filters import AllOf, AnyOf, Comparison, Condition, Expression, Not

MAX_CHARS = 4_000  # characters
MAX_DEPTH = 32
OPERATOR = re.compile(r"(?:AND|OR|NOT)(?=[\s()]|$)")
WORD = re.compile(r'[^\s():"<>]*')
SIGN = re.compile(r"(:)|\s*(<=|>=|<|>)\s*")
COMPARISONS: Mapping[str, Comparison] = {":": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
ESCAPED = re.compile(r'\\(["\\])')
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
SHOWN = 60  # characters of the filter that an error shows

ReadCondition = Callable[[str, str, Comparison], Condition]


def parse(text: str, read: ReadCondition) -> Expression:
    """Parse `text`. `read` turns a name, a value and a comparison into a condition, or raises UsageError."""
    if len(text) > MAX_CHARS:
        raise UsageError(
            f"the filter has {len(text)} characters; at most {MAX_CHARS} are allowed: shorten it",
            code="invalid_filter",
            details={"position": MAX_CHARS},
        )
    return _Parser(text, read).whole()


class _Parser:
    def __init__(self, text: str, read: ReadCondition) -> None:
        self._text = text
        self._read = read
        self._at = 0

    def whole(self) -> Expression:
        expression = self._any_of(0)
        if self._next() == ")":
            raise self._invalid("this closing bracket has no opening one; remove it")
        return expression

    def _next(self) -> str:
        """The next character that is not white space, which is skipped; empty at the end."""
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _operator(self) -> str:
        self._next()
        match = OPERATOR.match(self._text, self._at)
        return match[0] if match else ""

    def _take(self, operator: str) -> bool:
        if self._operator() != operator:
            return False
        self._at += len(operator)
        return True

    def _any_of(self, depth: int) -> Expression:
        parts = [self._all_of(depth)]
        while self._take("OR"):
            parts.append(self._all_of(depth))
        return any_of(parts)

    def _all_of(self, depth: int) -> Expression:
        parts = [self._term(depth)]
        while self._next() not in ("", ")") and self._operator() != "OR":
            self._take("AND")
            parts.append(self._term(depth))
        return all_of(parts)

    def _term(self, depth: int) -> Expression:
        char = self._next()
        if depth > MAX_DEPTH:
            raise self._invalid(f"this is more than {MAX_DEPTH} levels deep; write it flatter")
        if self._take("NOT"):
            return Not(self._term(depth + 1))
        if char == "-":
            self._at += 1
            return Not(self._term(depth + 1))
        if char == "(":
            return self._group(depth)
        return self._condition()

    def _group(self, depth: int) -> Expression:
        opened = self._at
        self._at += 1
        expression = self._any_of(depth + 1)
        if self._next() != ")":
            raise self._invalid("this bracket is never closed; close it", opened)
        self._at += 1
        return expression

    def _condition(self) -> Condition:
        start = self._at
        match = WORD.match(self._text, start)
        name = match[0] if match else ""
        self._at = start + len(name)
        sign = SIGN.match(self._text, self._at)
        if not name or sign is None:
            raise self._invalid(_not_a_condition(name or self._text[start : start + 1]), start)
        self._at = sign.end()
        mark = sign[1] or sign[2]
        value = self._quoted() if self._text[self._at : self._at + 1] == '"' else self._bare(name, mark)
        try:
            return self._read(name, value, COMPARISONS[mark])
        except UsageError as error:
            raise self._invalid(error.message, start) from error

    def _quoted(self) -> str:
        match = QUOTED.match(self._text, self._at)
        if match is None:
            raise self._invalid('this quote is never closed; within quotes write \\" and \\\\')
        self._at = match.end()
        after = self._text[self._at : self._at + 1]
        if after and after != ")" and not after.isspace():
            raise self._invalid("a quoted value ends here; put a space after it")
        return ESCAPED.sub(r"\1", match[1])

    def _bare(self, name: str, mark: str) -> str:
        """Up to white space. A bracket that was opened within the value closes within it."""
        start, opened = self._at, 0
        while self._at < len(self._text) and not self._text[self._at].isspace():
            opened += {"(": 1, ")": -1}.get(self._text[self._at], 0)
            if opened < 0:
                break
            self._at += 1
        if self._at == start:
            after = "directly after the colon" if mark == ":" else f"after {mark}"
            raise self._invalid(f"{name} has no value; write it {after}")
        return self._text[start : self._at]

    def _invalid(self, why: str, at: int | None = None) -> UsageError:
        position = self._at if at is None else at
        return UsageError(
            f"{why} (position {position} of the filter)\n{point_at(self._text, position)}",
            code="invalid_filter",
            details={"position": position},
        )


def point_at(text: str, position: int) -> str:
    """The text around a position, and a caret below it."""
    start = max(0, min(position - SHOWN // 2, len(text) - SHOWN))
    line = UNPRINTABLE.sub(" ", text[start : start + SHOWN])
    return f"  {line}\n  {' ' * (position - start)}^"


def _not_a_condition(word: str) -> str:
    if not word:
        return "a condition is missing here; write name:value, e.g. path:docs/**"
    if word.upper() in ("AND", "OR", "NOT"):
        return f"{word} must be in capitals and between conditions; write name:value around it"
    return f"{word[:40]!r} is not a condition; write name:value, and quotes around a value with spaces"


def all_of(parts: Sequence[Expression]) -> Expression:
    """A conjunction without needless nesting."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, AllOf) else (part,))]
    return flat[0] if len(flat) == 1 else AllOf(tuple(flat))


def any_of(parts: Sequence[Expression]) -> Expression:
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, AnyOf) else (part,))]
    return flat[0] if len(flat) == 1 else AnyOf(tuple(flat))


def render(expression: Expression) -> str:
    """The expression as text of the filter language."""
    match expression:
        case Condition(name, value, comparison):
            return f"{name}{':' if comparison == '=' else comparison}{_value(value)}"
        case Not(of):
            return "-" + _bracketed(of)
        case AllOf(parts):
            return " ".join(_bracketed(part) for part in parts)
    return " OR ".join(_bracketed(part) for part in expression.parts)


def _bracketed(part: Expression) -> str:
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
