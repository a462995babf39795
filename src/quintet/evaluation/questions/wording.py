"""PURE. Texts as the words they hold: what is asked, whether it stands in another text, how it is cut out."""

import re
from collections.abc import Iterator

CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[{CJK}]|(?:(?![{CJK}])[^\W_])+")  # where words are not parted, every letter is one
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
    """A text as somebody might type it: one line without markup, not endless.

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


def stands_in(phrase: str, text: str) -> bool:
    """Are the words of the phrase there, one after the other, whatever is between them?

    >>> stands_in("two words", "# Two\\n# words"), stands_in("two words", "two more words")
    (True, False)
    """
    return _row(words(phrase)) in _row(words(text))


def without(phrase: str, text: str) -> str | None:
    """The text without the first place where the phrase stands; None if it does not.

    >>> without("to be cut", "Here, to be  cut.")
    'Here, .'
    """
    wanted, found = words(phrase), list(WORD.finditer(text))
    row = _row(one[0].casefold() for one in found)
    at = row.find(_row(wanted))
    if at < 0 or not wanted:
        return None
    first = row.count(" ", 0, at)
    return text[: found[first].start()] + text[found[first + len(wanted) - 1].end() :]


def without_lines(phrase: str, text: str) -> str:
    """The text without the lines that hold the words of the phrase and no others.

    >>> without_lines("The end", "## The end\\n\\nAll is well at the end.")
    '\\n\\nAll is well at the end.'
    """
    wanted = words(phrase)
    return "\n".join("" if words(line) == wanted else line for line in text.split("\n"))


def _row(them: Iterator[str] | list[str]) -> str:
    return f" {' '.join(them)} "
