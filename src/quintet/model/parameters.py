"""Parameters and their checks: a contract declares a frozen dataclass, and `read` fills it from a request.

A check returns the value in canonical form, or raises `NotAllowed` with what is allowed.
"""

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from math import isfinite
from typing import Any, TypeVar

from quintet.errors import UsageError
from quintet.model.schema import NOT_BLANK, Schema

P = TypeVar("P")

LIMIT_MAX = 1000  # CONTRACTS: top_k, k and final_limit go from 1 to 1,000


class NotAllowed(Exception):  # noqa: N818  (`read` turns it into a UsageError)
    """What a value must be; it completes "it must be ..."."""


@dataclass(frozen=True, slots=True)
class ValueCheck:
    """What a value must be: `accept` checks it, `schema` says the same in JSON Schema."""

    accept: Callable[[object], object]
    schema: Schema


@dataclass(frozen=True, slots=True)
class Rule:
    """How one parameter is checked and described."""

    check: ValueCheck
    help: str
    code: str


def parameter(default: object, check: ValueCheck, help: str, code: str = "invalid_parameter") -> Any:
    """A dataclass field that knows its rule."""
    return field(default=default, metadata={"rule": Rule(check, help, code)})


def rule_of(declared: "Field[Any]") -> Rule:
    rule = declared.metadata["rule"]
    assert isinstance(rule, Rule)
    return rule


def read(contract: str, kind: type[P], given: Mapping[str, object], defaults: Mapping[str, object]) -> P:
    """Fill a parameters class from a request, with `defaults` (from quintet.toml) under it."""
    declared = {parameter.name: parameter for parameter in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, object] = {}
    for source in (defaults, given):
        for name, value in source.items():
            if name not in declared:
                raise UsageError(_unknown(contract, name, list(declared)), details={"parameter": name})
            values[name] = _accept(declared[name], value)
    return kind(**values)


def _accept(declared: "Field[Any]", value: object) -> object:
    rule = rule_of(declared)
    if value is None and declared.default is None:
        return None
    try:
        return rule.check.accept(value)
    except NotAllowed as allowed:
        details: dict[str, object] = {"parameter": declared.name}
        raise UsageError(
            f"{declared.name} is {shown(value)}; it must be {allowed}", code=rule.code, details=details
        ) from None


def _unknown(contract: str, name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"it takes: {', '.join(sorted(known))}"
    return f"contract {contract} has no parameter {name!r}; {hint}"


def shown(value: object) -> str:
    """A value for a message: one line, at most 80 characters."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to spell out a whole number of more than 4300 digits
        text = "a number too long to show"
    except RecursionError:
        text = "a value too deep to show"
    return text if len(text) <= 80 else text[:77] + "..."


def whole(low: int, high: int) -> ValueCheck:
    def accept(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise NotAllowed(f"a whole number from {low} to {high}")
        return value

    return ValueCheck(accept, {"type": "integer", "minimum": low, "maximum": high})


def is_number(value: object) -> bool:
    """A finite number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # an int beyond 1.8e308
        return False


def is_exact(value: object) -> bool:
    """Whether a store keeps every digit: beyond 64 bits it would keep about 16 digits of a whole number."""
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def number(low: float, high: float) -> ValueCheck:
    """A finite number in [low, high]; -inf and inf leave a side open."""
    wanted = "a number" if not isfinite(low) else f"a number from {low:g}"
    wanted += f" to {high:g}" if isfinite(high) else ""

    def accept(value: object) -> object:
        if not is_number(value) or not low <= value <= high:  # type: ignore[operator]
            raise NotAllowed(wanted)
        return float(value)  # type: ignore[arg-type]

    edges = {name: edge for name, edge in (("minimum", low), ("maximum", high)) if isfinite(edge)}
    return ValueCheck(accept, {"type": "number", **edges})


def one_of(*names: str) -> ValueCheck:
    def accept(value: object) -> object:
        if not isinstance(value, str) or value not in names:
            raise NotAllowed("one of " + ", ".join(names))
        return value

    return ValueCheck(accept, {"type": "string", "enum": list(names)})


def text(what: str) -> ValueCheck:
    def accept(value: object) -> object:
        if not isinstance(value, str) or not value.strip():
            raise NotAllowed(what)
        return value

    return ValueCheck(accept, NOT_BLANK)


LIMIT = whole(1, LIMIT_MAX)
SYNTAX = one_of("plain", "fts5")
