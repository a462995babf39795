"""Filters as the engine holds them: conditions, and how they combine."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on documents or chunks, e.g. `path` matches `docs/**`."""

    field: str
    value: bool | int | float | str


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
