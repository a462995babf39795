"""PURE. A question is held out when its words stand nowhere in what it should find, as that is searched."""

from collections.abc import Sequence
from dataclasses import replace

from quintet.evaluation.questions.selection import Question
from quintet.evaluation.questions.wording import stands_in, without, without_lines, words
from quintet.model.documents import Passage

STEP = " > "  # between the headings of a path


def searched_text(passage: Passage) -> str:
    return "\n".join((passage.document.title, passage.chunk.heading_path, passage.chunk.content))


def is_held_out(question: Question, target: Sequence[Passage]) -> bool:
    """Do the words of the question stand in none of these passages, and are there any others?"""
    stands = any(stands_in(question.text, searched_text(one)) for one in target)
    return not stands and any(words(one.chunk.content) for one in target)


def with_question_cut(question: Question, target: Sequence[Passage]) -> list[Passage] | None:
    """The passages that should be found, without the question's text; None if it would still stand there.

    A docstring's sentence goes from the first chunk that holds it; a heading from its own lines, from the
    heading paths below it and from the title.
    """
    if question.kind == "docstring":
        cut = _sentence_cut(question.text, target)
    else:
        cut = [_heading_cut(question.text, one) for one in target]
    return cut if is_held_out(question, cut) else None


def _sentence_cut(sentence: str, target: Sequence[Passage]) -> list[Passage]:
    for at, one in enumerate(target):
        content = without(sentence, one.chunk.content)
        if content is not None:
            return [*target[:at], replace(one, chunk=one.chunk._replace(content=content)), *target[at + 1 :]]
    return []  # it stands elsewhere: with its question left in another chunk, a target is no longer one


def _heading_cut(heading: str, one: Passage) -> Passage:
    title = without(heading, one.document.title)
    document = one.document if title is None else replace(one.document, title=title)
    steps = [step for step in one.chunk.heading_path.split(STEP) if words(step) != words(heading)]
    content = without_lines(heading, one.chunk.content)
    return Passage(one.chunk._replace(heading_path=STEP.join(steps), content=content), document)
