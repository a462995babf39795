"""One requirement of a specification, in our own words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """`tests` are pytest nodes, `path::name`; `bench` measures what they cannot, `page` tells the figures.

    `short_of` is what the page says where the figures are not what the specification asks for.
    """

    id: str
    says: str
    tests: tuple[str, ...] = ()
    bench: str = ""
    page: str = ""
    short_of: str = ""


def proved(id: str, says: str, *tests: str) -> Requirement:
    """It holds, and fails a test when it does not."""
    return Requirement(id, says, tests)


def measured(id: str, says: str, bench: str, page: str, *tests: str) -> Requirement:
    """`bench` measures it, `page` tells the figures. Tests can only hold the recorded ones to a bound."""
    return Requirement(id, says, tests, bench, page)


def short_of(id: str, says: str, finding: str, bench: str, page: str) -> Requirement:
    """It was measured and is not reached; `finding` are the words of the page."""
    return Requirement(id, says, (), bench, page, finding)
