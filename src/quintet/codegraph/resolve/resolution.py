"""What a name resolves to, and how certain that is."""

from collections.abc import Iterable
from typing import NamedTuple

from quintet.codegraph.resolve.project import Thing
from quintet.model.symbols import Confidence

STRENGTH: dict[Confidence, int] = {"exact": 0, "likely": 1, "possible": 2}


class Resolution(NamedTuple):
    """`things` are what a name may mean. Without any, `settled` says that the name means nothing in this
    project; otherwise it may be guessed by name, with at most this `confidence`."""

    things: tuple[Thing, ...] = ()
    confidence: Confidence = "exact"
    settled: bool = True

    def at_most(self, confidence: Confidence) -> "Resolution":
        if STRENGTH[self.confidence] >= STRENGTH[confidence]:
            return self
        return Resolution(self.things, confidence, self.settled)


FOREIGN = Resolution()
UNKNOWN = Resolution((), "likely", False)
DOUBTFUL = Resolution((), "possible", False)  # unknown, and something outside the project probably has it


def weaker(first: Confidence, second: Confidence) -> Confidence:
    return first if STRENGTH[first] >= STRENGTH[second] else second


def exactly(things: Iterable[Thing]) -> Resolution:
    """One thing is exact; each of several is only possible; without any, the name is foreign to the
    project."""
    distinct = tuple(dict.fromkeys(things))
    return Resolution(distinct, "exact" if len(distinct) < 2 else "possible")


def either(answers: Iterable[Resolution]) -> Resolution:
    """The meanings of a name that is bound more than once: each is only possible, unless all are the same."""
    distinct = list(answers)
    if len(distinct) > 1:
        distinct = list(dict.fromkeys(distinct))
    if len(distinct) == 1:
        return distinct[0]
    things = tuple(dict.fromkeys(thing for answer in distinct for thing in answer.things))
    if not things:
        return DOUBTFUL if any(not answer.settled for answer in distinct) else FOREIGN
    all_found = all(answer.things for answer in distinct)
    if len(things) == 1 and all_found:
        return Resolution(things, max((a.confidence for a in distinct), key=STRENGTH.__getitem__))
    return Resolution(things, "possible")
