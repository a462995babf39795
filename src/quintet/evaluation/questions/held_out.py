"""PURE. A question is held out if its words occur nowhere in the passages that it should find."""

from collections.abc import Sequence
from dataclasses import replace

from quintet.evaluation.questions.selection import Question
from quintet.evaluation.questions.wording import contains, remove_lines, remove_phrase, words
from quintet.model.documents import Passage

SEPARATOR = " > "  # between the headings of a heading path


def searched_text(passage: Passage) -> str:
    return "\n".join((passage.document.title, passage.chunk.heading_path, passage.chunk.content))


def is_held_out(question: Question, target: Sequence[Passage]) -> bool:
    """Do none of these passages contain the question, and is any text left in them?"""
    if any(contains(searched_text(passage), question.text) for passage in target):
        return False
    return any(words(passage.chunk.content) for passage in target)


def remove_question(question: Question, target: Sequence[Passage]) -> list[Passage] | None:
    """The passages that should be found, without the question's text; None if they would still contain it.

    A docstring's sentence is removed from the first chunk that holds it; a heading from its own lines, from
    the heading paths below it and from the title.
    """
    if question.kind == "docstring":
        passages = _remove_sentence(question.text, target)
    else:
        passages = [_remove_heading(question.text, passage) for passage in target]
    return passages if is_held_out(question, passages) else None


def _remove_sentence(sentence: str, target: Sequence[Passage]) -> list[Passage]:
    for at, passage in enumerate(target):
        content = remove_phrase(passage.chunk.content, sentence)
        if content is not None:
            changed = replace(passage, chunk=passage.chunk._replace(content=content))
            return [*target[:at], changed, *target[at + 1 :]]
    return []  # another chunk holds it, so that chunk would answer the question


def _remove_heading(heading: str, passage: Passage) -> Passage:
    title = remove_phrase(passage.document.title, heading)
    document = passage.document if title is None else replace(passage.document, title=title)
    headings = passage.chunk.heading_path.split(SEPARATOR)
    path = SEPARATOR.join(part for part in headings if words(part) != words(heading))
    content = remove_lines(passage.chunk.content, heading)
    return Passage(passage.chunk._replace(heading_path=path, content=content), document)
