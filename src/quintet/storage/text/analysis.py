"""How text becomes terms: word breaks around CJK, CJK pairs, the parts of identifiers, tokens and stems."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase
from typing import Any

import apsw
import numpy as np

# Han, kana, bopomofo, hangul and their extensions: scripts written without spaces between words.
CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00016fe0-\U00018dff\U0001aff0-\U0001b2ff"
    "\U00020000-\U0003347f"
)
CJK_RUN = re.compile(f"[{CJK}]+")
HUMP = re.compile(r"(?<=[A-Za-z0-9])[a-z0-9][A-Z]|[A-Z]{2}[a-z]")  # where small letters and capitals meet
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
DIGITS = b"0123456789"
# Capitals as A, small letters and digits as a, all else as a space: bytes are faster to search than patterns.
CAPITAL, SMALL, SPACE = b"Aa "
KINDS = bytes(
    CAPITAL if 65 <= at <= 90 else SMALL if at in DIGITS or 97 <= at <= 122 else SPACE for at in range(256)
)
MANY = 50  # texts from which on searching all at once is faster
AT_ONCE = 250_000  # characters of them at a time
SHORT = 60  # characters of a text or word that is likely to repeat: a title, a heading, an identifier
KNOWN_TEXTS, KNOWN_WORDS = 4_096, 16_384  # cached, 10 MB at most
STEMMED_AT_ONCE = 10_000  # tokens
LONGEST = 32_768  # bytes of a token that FTS5 keeps
SHORTEST_WORD, LONGEST_WORD = 4, 32  # letters of a word that may be misspelt
RUN_END = "zzcjk"  # a token that keeps a phrase of pairs from reaching over into the next run


def plain(text: str) -> str:
    """NFC, without NUL, and with spaces around CJK."""
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    composed = composed.replace("\0", " ")
    if composed.isascii() or not CJK_RUN.search(composed):
        return composed
    return CJK_RUN.sub(lambda run: f" {run[0]} ", composed)


def runs(text: str) -> list[str]:
    """The CJK runs of `text`."""
    return [] if text.isascii() else CJK_RUN.findall(unicodedata.normalize("NFC", text))


def pairs(text: str) -> str:
    """Every pair of neighbouring CJK characters, each run closed by its last character.

    >>> pairs("検索 of 索引")
    '検索 索 zzcjk 索引 引'
    """
    if text.isascii():
        return ""
    return f" {RUN_END} ".join(" ".join(_pairs(run)) for run in runs(text))


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run))]


def pair_phrase(run: str) -> str:
    """The FTS5 expression that finds `run` as a substring: its pairs in order; one character as a prefix."""
    if len(run) == 1:
        return f'"{run}"*'
    return '"' + " ".join(_pairs(run)[:-1]) + '"'


def identifier_parts(text: str) -> str:
    """The parts of camelCase words. The tokenizer splits other identifiers itself.

    >>> identifier_parts("call getUserName on HTTPServer")
    'get User Name HTTP Server'
    """
    return _known_parts(text) if len(text) <= SHORT else _parts(text)


def _parts(text: str) -> str:
    letters = text.encode(errors="replace")
    kinds = letters.translate(KINDS) + b" "
    rise, fall = kinds.find(b"aA"), kinds.find(b"AAa")  # every camelCase word has one of these
    parts: list[str] = []
    while rise >= 0 or fall >= 0:
        at = rise if fall < 0 else fall if rise < 0 else min(rise, fall)
        begin, end = kinds.rfind(b" ", 0, at) + 1, kinds.find(b" ", at)
        if word_parts := _parts_of(letters[begin:end]):
            parts.append(word_parts)
        rise = kinds.find(b"aA", end) if 0 <= rise < end else rise
        fall = kinds.find(b"AAa", end) if 0 <= fall < end else fall
    return " ".join(parts)


@lru_cache(maxsize=KNOWN_TEXTS)
def path_words(path: str) -> str:
    """The words of a path, and the parts of its camelCase words.

    >>> path_words("src/lang/EqualsBuilder.java")
    'src/lang/EqualsBuilder.java Equals Builder'
    """
    return f"{plain(path)} {_parts(path)}".rstrip()


def parts_of_each(texts: Sequence[str]) -> list[str]:
    """The identifier parts of each text. Many texts are searched at once."""
    if len(texts) < MANY:
        return list(map(identifier_parts, texts))
    by_text: dict[int, list[str]] = {}
    first = size = 0
    for at, text in enumerate(texts, start=1):
        size += len(text)
        if size > AT_ONCE or at == len(texts):
            for number, parts in _humps(texts[first:at]):
                by_text.setdefault(first + number, []).append(parts)
            first, size = at, 0
    return [" ".join(by_text.get(number, ())) for number in range(len(texts))]


def _humps(texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The parts of every camelCase word, with the number of its text."""
    encoded = [text.encode(errors="replace") for text in texts]
    letters = b" ".join(encoded) + b"  "
    kinds = letters.translate(KINDS)
    array = np.frombuffer(kinds, np.uint8)
    capital, small = array == CAPITAL, array == SMALL
    humps = np.flatnonzero(capital[1:-1] & (small[:-2] | (capital[:-2] & small[2:])))
    ends = np.cumsum(list(map(len, encoded))) + np.arange(len(encoded))
    end = 0
    for at, number in zip(humps.tolist(), np.searchsorted(ends, humps).tolist(), strict=True):
        if at >= end:
            begin, end = kinds.rfind(b" ", 0, at) + 1, kinds.find(b" ", at)
            if parts := _parts_of(letters[begin:end]):
                yield number, parts


def _parts_of(word: bytes) -> str:
    return _known_word(word) if len(word) <= SHORT else _parts_of_word(word)


def _parts_of_word(word: bytes) -> str:
    letters = word.lstrip(DIGITS).decode("ascii")
    return " ".join(PART.findall(letters)) if HUMP.search(letters) else ""


_known_parts = lru_cache(maxsize=KNOWN_TEXTS)(_parts)
_known_word = lru_cache(maxsize=KNOWN_WORDS)(_parts_of_word)


def quoted(term: str) -> str:
    """A term as an FTS5 string: matched as the phrase of its tokens, whatever characters it holds."""
    return '"' + term.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Turns text into tokens, and tokens into stems."""

    tokens: Callable[[str], list[str]]
    stems: Callable[[Sequence[bytes]], list[bytes]]


def tokenizer(connection: apsw.Connection) -> Tokenizer:
    """SQLite's own: the tokenizer of the text tables, and the Porter stemmer over its tokens."""
    unicode = connection.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
    porter = connection.fts5_tokenizer("porter", ["ascii"])  # ascii takes a token as it is

    def tokens(text: str) -> list[str]:
        return list(_tokens(unicode, text.encode()))

    def stems(tokens: Sequence[bytes]) -> list[bytes]:
        stemmed: list[str] = []
        for at in range(0, len(tokens), STEMMED_AT_ONCE):
            stemmed += _tokens(porter, b" ".join(tokens[at : at + STEMMED_AT_ONCE]))
        return [stem.encode() for stem in stemmed]

    return Tokenizer(tokens, stems)


_known_stems: dict[str, str] = {}  # words of paths and names, which repeat from query to query


def stems_of(words: Sequence[str], tokenizer: Tokenizer) -> list[str]:
    """The stem of each word."""
    missing = [word for word in dict.fromkeys(words) if word not in _known_stems]
    if missing:
        if len(_known_stems) > KNOWN_WORDS:
            _known_stems.clear()
        stems = tokenizer.stems([encoded(word) for word in missing])
        _known_stems.update(zip(missing, (stem.decode() for stem in stems), strict=True))
    return [_known_stems[word] for word in words]


def _tokens(fts5_tokenizer: apsw.FTS5Tokenizer, text: bytes) -> Any:
    return fts5_tokenizer(
        text, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )


def encoded(token: str) -> bytes:
    return token.encode("utf-8", "surrogateescape")


def cut(token: str) -> str:
    """As much of a token as FTS5 keeps, which may end inside a character."""
    if len(token) * 4 <= LONGEST:
        return token
    return token.encode()[:LONGEST].decode("utf-8", "surrogateescape")


def nearest(word: str, count_chunks: Callable[[Sequence[bytes]], list[int]]) -> str | None:
    """The nearest word of the index: one letter is added, left out, changed, or swapped with the next.
    Of several, the one that most chunks hold, then the first by alphabet; None if there is none.

    `count_chunks` says how many chunks hold each word.
    """
    if not (word.isascii() and word.isalpha() and SHORTEST_WORD <= len(word) <= LONGEST_WORD):
        return None
    others = sorted(_misspellings(word))
    counts = count_chunks([other.encode() for other in others])
    count, _, best = min((-count, other, other) for count, other in zip(counts, others, strict=True))
    return best if count else None


def _misspellings(word: str) -> set[str]:
    """
    >>> sorted(_misspellings("ab"))[:4], len(_misspellings("ab"))
    (['a', 'aa', 'aab', 'aba'], 129)
    """
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    left_out = {head + tail[1:] for head, tail in cuts if tail}
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    changed = {head + letter + tail[1:] for head, tail in cuts if tail for letter in ascii_lowercase}
    added = {head + letter + tail for head, tail in cuts for letter in ascii_lowercase}
    return (left_out | swapped | changed | added) - {word}
