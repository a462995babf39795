"""One requirement of a specification, in our own words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """`tests` are pytest nodes, `path::name`; `bench` measures what they cannot, `page` has the figures.

    `says` keeps the strength of what is printed. `short_of` quotes the page if that is not reached, and
    `differs` quotes readings.md if it is met in another way; the tests then prove the reading.
    """

    id: str
    says: str
    tests: tuple[str, ...] = ()
    bench: str = ""
    page: str = ""
    short_of: str = ""
    differs: str = ""


def proved(id: str, says: str, *tests: str) -> Requirement:
    """Tests prove it."""
    return Requirement(id, says, tests)


def measured(id: str, says: str, bench: str, page: str, *tests: str) -> Requirement:
    """`bench` measures it, `page` has the figures. Tests check that the recorded ones stay in bounds."""
    return Requirement(id, says, tests, bench, page)


def short_of(id: str, says: str, finding: str, page: str, *tests: str, bench: str = "") -> Requirement:
    """It is not reached; `finding` quotes the page that says so. `bench` measured it, or tests show it."""
    return Requirement(id, says, tests, bench, page, finding)


def differs(id: str, says: str, reading: str, *tests: str) -> Requirement:
    """It is met in another way than printed; `reading` begins the line of readings.md that says how."""
    return Requirement(id, says, tests, differs=reading)
