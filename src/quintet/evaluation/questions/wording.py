"""PURE. The words of texts: make a question of a text, find it in another text, remove it from there."""

import re
from collections.abc import Iterable

CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[{CJK}]|(?:(?![{CJK}])[^\W_])+")  # in scripts without spaces, every character is a word
SENTENCE_END = re.compile(r"(?<![.\s]\w)[.!?](?=\s)|[。！？]")  # not that of "e.g. this"
MARKUP = re.compile(r"[^\w\s.,'’/-]+")  # quotes and colons would be read as phrases and filters
BEFORE_STOP = re.compile(r" (?=[.,](?:\s|$))")
LONGEST = 300  # characters of a question


def words(text: str) -> list[str]:
    """
    >>> words("Read `a_file`, twice.")
    ['read', 'a', 'file', 'twice']
    """
    return [word.casefold() for word in WORD.findall(text)]


def question(text: str) -> str:
    """A text as somebody might type it: one line, without markup, not too long.

    >>> question("The **first** of\\n`path:line`.")
    'The first of path line.'
    """
    line = BEFORE_STOP.sub("", " ".join(MARKUP.sub(" ", text[: 8 * LONGEST]).split()))
    return line if len(line) <= LONGEST else line[:LONGEST].rpartition(" ")[0]


def first_sentence(text: str) -> str:
    """
    >>> first_sentence("Cuts, e.g. here. Then goes on.")
    'Cuts, e.g. here.'
    """
    line = " ".join(text.split())
    end = SENTENCE_END.search(line)
    return line[: end.end()] if end else line


def contains(text: str, phrase: str) -> bool:
    """Are the words of the phrase in the text, one after the other, whatever separates them?

    >>> contains("# Two\\n# words", "two words"), contains("two more words", "two words")
    (True, False)
    """
    return _joined(words(phrase)) in _joined(words(text))


def remove_phrase(text: str, phrase: str) -> str | None:
    """The text without the first occurrence of the phrase; None if there is none.

    >>> remove_phrase("Here, to be  cut.", "to be cut")
    'Here, .'
    """
    wanted, matches = words(phrase), list(WORD.finditer(text))
    joined = _joined(match[0].casefold() for match in matches)
    at = joined.find(_joined(wanted))
    if at < 0 or not wanted:
        return None
    first = joined.count(" ", 0, at)
    return text[: matches[first].start()] + text[matches[first + len(wanted) - 1].end() :]


def remove_lines(text: str, phrase: str) -> str:
    """The text without the lines that hold the words of the phrase and no others.

    >>> remove_lines("## The end\\n\\nAll is well at the end.", "The end")
    '\\n\\nAll is well at the end.'
    """
    wanted = words(phrase)
    return "\n".join("" if words(line) == wanted else line for line in text.split("\n"))


def _joined(words: Iterable[str]) -> str:
    return f" {' '.join(words)} "
