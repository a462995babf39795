"""PURE. Generated questions: which are usable, and in which order they are taken."""

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
class QuestionTarget:
    """What a question should find: any of these chunks of a document; without chunks, the whole document."""

    root: str
    path: str
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A text from the index, or about it, and what it should find. Questions are spread over places, such as
    files. With `whole_files` results count as files, otherwise as chunks."""

    kind: Kind
    text: str
    place: str
    targets: tuple[QuestionTarget, ...]
    whole_files: bool = False

    @property
    def id(self) -> str:
        """Derived from the text, so that runs over two states of an index can be compared."""
        return f"{self.kind}-{digest(*words(self.text))[:12]}"


def is_long_enough(question: Question) -> bool:
    return len(words(question.text)) >= FEWEST_WORDS[question.kind]


def unambiguous(questions: Sequence[Question]) -> list[Question]:
    """Those whose words no other question has. Otherwise two targets would be right."""
    counts = Counter(tuple(words(question.text)) for question in questions)
    return [question for question in questions if counts[tuple(words(question.text))] == 1]


def spread(questions: Sequence[Question], seed: int) -> list[Question]:
    """In the order they are taken: one from every place, then a second from every place, and so on.

    The seed decides the order, in the same way on every machine.
    """
    places: dict[str, list[Question]] = {}
    for question in sorted(questions, key=lambda question: digest(str(seed), question.id)):
        places.setdefault(question.place, []).append(question)
    rounds = zip_longest(*places.values())
    return [question for taken in rounds for question in taken if question is not None]


def in_turn(by_kind: Mapping[Kind, Iterator[Question]], count: int) -> list[Question]:
    """At most `count` questions, equally many of every kind; if one kind runs out, the others fill up."""
    taken: list[Question] = []
    left = dict(by_kind)
    while left and len(taken) < count:
        for kind in tuple(left)[: count - len(taken)]:
            question = next(left[kind], None)
            if question is None:
                del left[kind]
            else:
                taken.append(question)
    return taken
