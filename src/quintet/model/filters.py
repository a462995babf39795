"""Filters as the engine holds them: conditions, and how they combine."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Comparison = Literal["=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on documents or chunks, e.g. `path` matches `docs/**`, or `meta.price` is below 20."""

    field: str
    value: bool | int | float | str
    comparison: Comparison = "="


@dataclass(frozen=True, slots=True)
class Not:
    """True where `of` is not, also where a document lacks the field."""

    of: "Expression"


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple["Expression", ...]


Expression: TypeAlias = Condition | Not | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that must all hold. They are applied before retrieval, on every leg."""

    conditions: tuple[Expression, ...] = ()
