"""One requirement of a specification, in our own words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """`tests` are pytest nodes, `path::name`; `bench` measures what they cannot, `page` has the figures.

    `short_of` quotes the page if the figures fall short of the specification.
    """

    id: str
    says: str
    tests: tuple[str, ...] = ()
    bench: str = ""
    page: str = ""
    short_of: str = ""


def proved(id: str, says: str, *tests: str) -> Requirement:
    """Tests prove it."""
    return Requirement(id, says, tests)


def measured(id: str, says: str, bench: str, page: str, *tests: str) -> Requirement:
    """`bench` measures it, `page` has the figures. Tests check that the recorded ones stay in bounds."""
    return Requirement(id, says, tests, bench, page)


def short_of(id: str, says: str, finding: str, page: str, *tests: str, bench: str = "") -> Requirement:
    """It is not reached; `finding` quotes the page that says so. `bench` measured it, or tests show it."""
    return Requirement(id, says, tests, bench, page, finding)
