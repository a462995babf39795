"""What a query is: a name, a path, a traceback, an error message, a pasted issue, a phrase, a question, or
plain words."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from quintet.contracts.stop_words import STOP_WORDS
from quintet.model.roles import Role

IntentKind = Literal["symbol", "path", "traceback", "error", "issue", "phrase", "question", "words"]


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MAX_WORDS = 64  # that are compared with paths and names
MAX_NAMES = 50  # identifiers of a long text
ISSUE_WORDS = 60  # a longer query was pasted
MAX_TITLE = 200  # characters
MAX_DIGITS = 9  # of a line number
LITERALS = 4  # names and parts of a message that are looked up word for word
PASTED: tuple[IntentKind, ...] = ("traceback", "issue")

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_IDENTIFIER = r"[A-Za-z_$][\w$]*"
_QUALIFIED = re.compile(rf"{_IDENTIFIER}(?:(?:\.|::|->|\#){_IDENTIFIER})*")
_JOINT = re.compile(r"\.|::|->|#")
_ENDING = r"\.[A-Za-z][A-Za-z0-9+]{0,5}"
_PATH = re.compile(
    rf"(?<![\w/.@+-])(?:[\w.@+-]+/)*[\w.@+-]*\w{_ENDING}(?=$|[\s:,;)\"'`\]])(?::(\d+)|\", line (\d+))?"
)
_FRAME = re.compile(
    r"^[ \t]*(?:File \"|at [\w$.<>]+ ?\(|#\d+\s)|^goroutine \d|Traceback \(most recent call|panicked at",
    re.MULTILINE,
)
_FAILURE = re.compile(
    r"\b\w*(?:Error|Exception|Warning)\b|\b(?:error|fatal|panic|failed)\b ?:"
    r"|^(?i:cannot|can't|could not|couldn't|unable to|failed to|no such)\b|(?<!\w)'[^']+'(?!\w)",
    re.ASCII,
)
_VALUE = re.compile(r"[^\w\s.!?-]|\d+")  # messages are fixed texts around values, which marks set apart
# Somebody wants to do or to know something; "how it works" and "where" ask for code.
_QUESTION = re.compile(
    r"^(?:how to|can|could|should|may|is there|is it possible|what|which|when|why|who)\b"
    r"|\b(?:I|my|we|our|you|your)\b(?!/)",
    re.IGNORECASE,
)
_CODE_LIKE = re.compile(r"[a-z0-9][A-Z]|_|\.|::|->|#|[A-Z]{2}[a-z]")
_VERSION = re.compile(r"\bv(\d{1,3})\b", re.IGNORECASE)
_FILE_ENDINGS = words(
    "py pyi js mjs cjs jsx ts tsx mts go rs java c h cc cpp hpp cxx cs rb php sh kt swift scala md rst txt"
    " json yaml yml toml html css sql xml lua ex exs hs zig"
)
_ASKS_FOR: Mapping[Role, frozenset[str]] = {
    "test": words("test tests spec specs fixture fixtures mock mocks"),
    "example": words("example examples sample samples demo benchmark benchmarks bench"),
    "docs": words("docs documentation readme guide tutorial"),
    "changelog": words("changelog changes history release released version"),
    "vendored": words("vendor vendored"),
    "generated": words("generated"),
    "superseded": words("deprecated legacy obsolete"),
}


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier that the query names, and what it says the identifier is inside of."""

    name: str
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryIntent:
    """A query as it was read. `words` are split at punctuation and inside identifiers, in lower case, without
    stop words. `lines` has a line for each of `paths`, or 0. `roles` and `versions` are what the query asks
    for, and `literals` what a passage should hold word for word."""

    kind: IntentKind
    words: tuple[str, ...]
    names: tuple[Name, ...] = ()
    paths: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    roles: tuple[Role, ...] = ()
    versions: tuple[int, ...] = ()
    literals: tuple[str, ...] = ()


def read_intent(query: str) -> QueryIntent:
    text = query.strip()
    kind = _kind(text)
    asked = words_of(text)
    paths = dict(islice(_paths(text).items(), MAX_NAMES))
    names = tuple(islice(dict.fromkeys(_names(text, kind)), MAX_NAMES))
    return QueryIntent(
        kind,
        asked,
        names,
        tuple(paths),
        tuple(paths.values()),
        tuple(role for role, names in _ASKS_FOR.items() if not names.isdisjoint(asked)),
        tuple(map(int, islice(_VERSION.findall(text), MAX_NAMES))),
        tuple(islice(dict.fromkeys(_literals(text, kind, names)), LITERALS)),
    )


def is_pasted(query: str) -> bool:
    """Whether nobody typed this as a query: a traceback, or a text of many lines or words."""
    return _kind(query.strip()) in PASTED


def title_of(query: str) -> str:
    """The first line of pasted text, unless the next line goes on with the same sentence."""
    first, _, rest = query.strip().partition("\n")
    return first if rest and len(first) <= MAX_TITLE and not rest[:1].islower() else ""


def looks_like_code(word: str) -> bool:
    return _CODE_LIKE.search(word.rstrip(".,:;!?")) is not None


def words_of(text: str) -> tuple[str, ...]:
    """The words of a query that count, each once. A query of nothing but stop words asks for them.

    >>> words_of("How is HTTPAdapter closed?")
    ('http', 'adapter', 'closed')
    """
    all_words = [word.lower() for word in WORD.findall(text)]
    counted = [word for word in all_words if word not in STOP_WORDS["english"]] or all_words
    return tuple(islice(dict.fromkeys(counted), MAX_WORDS))


def _kind(text: str) -> IntentKind:
    if _FRAME.search(text):
        return "traceback"
    if len(text) > 2 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        return "phrase"
    if len(text.split()) > ISSUE_WORDS or text.count("\n") > 2:
        return "issue"
    return _kind_of_line(text)


def _kind_of_line(text: str) -> IntentKind:
    if any(text.startswith(path) and len(text.split()) == 1 for path in _paths(text)):
        return "path"
    bare = text.strip("`").removesuffix("()")
    if _QUALIFIED.fullmatch(bare) and _CODE_LIKE.search(bare):
        return "symbol"
    if _FAILURE.search(text) and len(text.split()) > 1:
        return "error"
    return "question" if _QUESTION.search(text) else "words"


def _names(text: str, kind: IntentKind) -> list[Name]:
    """Identifiers that look like code. A query of one word names that word, whatever it looks like. The class
    of an error is not what its message asks for."""
    single = len(text.split()) == 1
    names = []
    for match in _QUALIFIED.finditer(text):
        *inside, name = _JOINT.split(match[0])
        if kind == "error" and _FAILURE.fullmatch(name):
            continue
        after = text[match.end() : match.end() + 1]
        quoted = after == "`" and text[match.start() - 1 : match.start()] == "`"
        if single or quoted or after == "(" or _CODE_LIKE.search(match[0]) or name[:1].isupper():
            names.append(Name(name, tuple(inside)))
    return names


def _paths(text: str) -> dict[str, int]:
    """File names and paths, with the line number that follows, or 0."""
    paths: dict[str, int] = {}
    for match in _PATH.finditer(text):
        path = match[0].partition(":")[0].partition('"')[0]
        if path.rpartition(".")[2].lower() in _FILE_ENDINGS:
            paths.setdefault(path, int((match[1] or match[2] or "0")[:MAX_DIGITS]))
    return paths


def _literals(text: str, kind: IntentKind, names: Iterable[Name]) -> Iterator[str]:
    """What a passage should hold word for word: names of code, and the fixed parts of an error message."""
    if kind in PASTED or kind == "path":
        return
    parts = [part.strip(" .!?-") for part in _VALUE.split(text)] if kind == "error" else []
    said = [part for part in parts if " " in part]
    yield from said or (name.name for name in names if looks_like_code(".".join((*name.inside, name.name))))
