"""One requirement of a specification, in our own words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """`tests` are pytest nodes, `path::name`. What has none is `planned` for a numbered step."""

    id: str
    says: str
    tests: tuple[str, ...] = ()
    planned: int | None = None


def proved(id: str, says: str, *tests: str) -> Requirement:
    return Requirement(id, says, tests)


def planned(id: str, says: str, step: int) -> Requirement:
    return Requirement(id, says, planned=step)
