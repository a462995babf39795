"""What a lookup found, and how sure it is."""

from collections.abc import Iterable
from typing import NamedTuple

from quintet.codegraph.resolve.project import Thing
from quintet.model.symbols import Confidence

STRENGTH: dict[Confidence, int] = {"exact": 0, "likely": 1, "possible": 2}


class Answer(NamedTuple):
    """`things` are what a name may mean. Without any, `settled` says that it means nothing of this project;
    otherwise it may be guessed by name, with at most this `confidence`."""

    things: tuple[Thing, ...] = ()
    confidence: Confidence = "exact"
    settled: bool = True

    def at_most(self, confidence: Confidence) -> "Answer":
        if STRENGTH[self.confidence] >= STRENGTH[confidence]:
            return self
        return Answer(self.things, confidence, self.settled)


FOREIGN = Answer()
UNKNOWN = Answer((), "likely", False)
DOUBTFUL = Answer((), "possible", False)  # unknown, and something outside the project probably has it


def weaker(one: Confidence, other: Confidence) -> Confidence:
    return one if STRENGTH[one] >= STRENGTH[other] else other


def exactly(things: Iterable[Thing]) -> Answer:
    """Each of several is only possible; none at all is nothing of this project."""
    found = tuple(dict.fromkeys(things))
    return Answer(found, "exact" if len(found) < 2 else "possible")


def either(answers: Iterable[Answer]) -> Answer:
    """A name bound more than once: each meaning is only possible, unless all are the same."""
    given = list(answers)
    if len(given) > 1:
        given = list(dict.fromkeys(given))
    if len(given) == 1:
        return given[0]
    things = tuple(dict.fromkeys(thing for answer in given for thing in answer.things))
    if not things:
        return DOUBTFUL if any(not answer.settled for answer in given) else FOREIGN
    all_found = all(answer.things for answer in given)
    if len(things) == 1 and all_found:
        return Answer(things, max((a.confidence for a in given), key=STRENGTH.__getitem__))
    return Answer(things, "possible")
