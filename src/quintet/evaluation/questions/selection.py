"""PURE. Questions that an index gives about itself: which are of use, in which order they are taken."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from quintet.evaluation.questions.wording import words
from quintet.model.documents import digest

Kind = Literal["docstring", "heading", "commit", "memory"]
KINDS: tuple[Kind, ...] = ("docstring", "heading", "commit", "memory")
FEWEST_WORDS: Mapping[Kind, int] = {"docstring": 4, "heading": 2, "commit": 4, "memory": 4}


@dataclass(frozen=True, slots=True)
class Target:
    """What a question should find: these chunks of a document, any of them; without chunks, all of it."""

    root: str
    path: str
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A text of the index, or about it, and what it belongs to. `place` is where it was found: questions are
    spread over places. With `whole_files` results count as files, otherwise as chunks."""

    kind: Kind
    text: str
    place: str
    targets: tuple[Target, ...]
    whole_files: bool = False

    @property
    def id(self) -> str:
        """Hangs on the text, so that runs over two states of an index can be set against one another."""
        return f"{self.kind}-{digest(*words(self.text))[:12]}"


def long_enough(question: Question) -> bool:
    return len(words(question.text)) >= FEWEST_WORDS[question.kind]


def unambiguous(questions: Sequence[Question]) -> list[Question]:
    """Those that are the only ones with their words: which of two targets was meant, nobody can tell."""
    seen = Counter(tuple(words(one.text)) for one in questions)
    return [one for one in questions if seen[tuple(words(one.text))] == 1]


def spread(questions: Sequence[Question], seed: int) -> list[Question]:
    """In the order they are taken: one of every place, then a second of every place that has one, and so on.

    The seed decides which comes first, the same way everywhere.
    """
    places: dict[str, list[Question]] = {}
    for one in sorted(questions, key=lambda one: digest(str(seed), one.id)):
        places.setdefault(one.place, []).append(one)
    rounds = zip_longest(*places.values())
    return [one for taken in rounds for one in taken if one is not None]


def in_turn(by_kind: Mapping[Kind, Iterator[Question]], count: int) -> list[Question]:
    """So many in all, of every kind as many; what one kind lacks, the others give."""
    taken: list[Question] = []
    left = dict(by_kind)
    while left and len(taken) < count:
        for kind in tuple(left)[: count - len(taken)]:
            one = next(left[kind], None)
            if one is None:
                del left[kind]
            else:
                taken.append(one)
    return taken
