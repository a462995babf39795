"""Collects tokens by number and place. Numpy splits ASCII, many texts at a time; SQLite splits the rest."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from quintet.storage.text.analysis import LONGEST, Tokenizer, cut, encoded
from quintet.storage.text.postings.segment import FIELDS, Bool, Int32, Int64

UInt64 = npt.NDArray[np.uint64]

WIDTH = len(FIELDS)
FIELD_BITS = 2
FIELD_MASK = (1 << FIELD_BITS) - 1
AT_ONCE = 50_000  # tokens in buffered text: few enough for the processor's cache
SPACE = 32
# What unicode61 does to ASCII: lower case, and everything but letters and digits separates tokens.
FOLDED = bytes(at if at < 128 and chr(at).isalnum() else SPACE for at in range(256)).lower()
HALF, WHOLE = 8, 16  # bytes of a word that are compared as one number, and as two
MASKS = np.array([(1 << 8 * length) - 1 for length in range(HALF + 1)], np.uint64)
SLOT_BITS = 18
SPREAD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)  # odd, and half of their bits set


class TokenPlaces(NamedTuple):
    """For each token, the number of its term, and its chunk and field as one number."""

    terms: Int32
    places: Int32


class Tokens(NamedTuple):
    """All tokens of a table: its words, sorted; where each token is; and how many each chunk has, in all
    fields and in its content."""

    words: list[bytes]
    at: TokenPlaces
    lengths: Int32
    content_lengths: Int32


class _Numbers(dict[bytes, int]):
    """Numbers words in order of appearance."""

    def __missing__(self, word: bytes) -> int:
        self[word] = number = len(self)
        return number


class _TextNumbers(dict[str, int]):
    """The same numbers by text."""

    def __init__(self, numbers: _Numbers) -> None:
        self._numbers = numbers

    def __missing__(self, word: str) -> int:
        self[word] = number = self._numbers[encoded(word)]
        return number


class _Slots:
    """A lossy cache of word numbers, for words of up to 16 bytes: each word has one slot, and the last word
    stored there wins. A miss does not mean that the word is new."""

    def __init__(self) -> None:
        size = 1 << SLOT_BITS
        self._first, self._second = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
        self._numbers = np.zeros(size, np.int32)

    def find(self, first: UInt64, second: UInt64) -> tuple[Int64, Bool, Int32]:
        """The slot of each word, whether the word is in it, and the number in it."""
        slots = ((first * SPREAD[0]) ^ (second * SPREAD[1])) >> np.uint64(64 - SLOT_BITS)
        at = slots.astype(np.int64)
        return at, (self._first[at] == first) & (self._second[at] == second), self._numbers[at]

    def put(self, slots: Int64, first: UInt64, second: UInt64, numbers: Int32) -> None:
        self._first[slots], self._second[slots], self._numbers[slots] = first, second, numbers


class TokenCollector:
    """Collects the tokens of one table."""

    def __init__(self, words: Tokenizer) -> None:
        self._words = words
        self._numbers = _Numbers()
        self._spelt = _TextNumbers(self._numbers)
        self._slots = _Slots()
        self._waiting: list[str] = []  # fields not yet split, chunk after chunk
        self._fields = 0  # split so far
        self._terms: list[Int32] = []
        self._places: list[Int32] = []
        self._size = 0
        self.most = 0  # upper bound of the tokens: at least one character separates two of them

    def add(self, fields: Sequence[str]) -> None:
        """Add the fields of the next chunk."""
        self._waiting += fields
        self.most += (sum(map(len, fields)) + WIDTH) // 2
        if self.most > self._size + AT_ONCE:
            self._number()

    @property
    def size(self) -> int:
        """All tokens so far."""
        self._number()
        return self._size

    def _number(self) -> None:
        fields, self._waiting = self._waiting, []
        numbers = np.arange(self._fields, self._fields + len(fields), dtype=np.int32)
        places = ((numbers // WIDTH) << FIELD_BITS) | (numbers % WIDTH)
        self._fields += len(fields)
        if not "".join(fields).isascii():
            others = [at for at, text in enumerate(fields) if not text.isascii()]
            self._take_down([fields[at] for at in others], places[others])
            for at in others:
                fields[at] = ""
        self._split(fields, places)
        self.most = self._size

    def _take_down(self, texts: Sequence[str], places: Int32) -> None:
        """Split texts that are not ASCII, by SQLite."""
        tokens = [self._tokens(text) for text in texts]
        numbers = list(map(self._spelt.__getitem__, chain.from_iterable(tokens)))
        self._add(np.array(numbers, np.int32), np.repeat(places, list(map(len, tokens))))

    def _tokens(self, text: str) -> list[str]:
        tokens = self._words.tokens(text)
        return list(map(cut, tokens)) if len(text) * 4 > LONGEST else tokens

    def _split(self, texts: Sequence[str], places: Int32) -> None:
        """By ourselves: these are ASCII."""
        letters = b" %b " % " ".join(texts).encode("ascii").translate(FOLDED) + b" " * WHOLE
        inside = np.frombuffer(letters, np.uint8) != SPACE
        edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        starts, ends = edges[::2], edges[1::2]
        begins = np.cumsum([0, *map(len, texts)]) + np.arange(len(texts) + 1)
        counts = np.diff(np.searchsorted(starts, begins, "right"))
        self._add(self._looked_up(letters, starts, ends), np.repeat(places, counts))

    def _add(self, terms: Int32, places: Int32) -> None:
        self._terms.append(terms)
        self._places.append(places)
        self._size += len(terms)

    def _looked_up(self, letters: bytes, starts: Int64, ends: Int64) -> Int32:
        """The number of each word. Most are found without creating a Python object."""
        lengths = ends - starts
        at_each = np.ndarray((len(letters) - HALF + 1,), "<u8", letters, strides=(1,))
        first = at_each[starts] & MASKS[np.minimum(lengths, HALF)]
        second = at_each[starts + HALF] & MASKS[np.clip(lengths - HALF, 0, HALF)]
        slots, is_known, terms = self._slots.find(first, second)
        is_known &= lengths <= WHOLE
        missed = np.flatnonzero(~is_known)
        stops = np.minimum(ends[missed], starts[missed] + LONGEST)
        words = [letters[at:to] for at, to in zip(starts[missed].tolist(), stops.tolist(), strict=True)]
        terms[missed] = np.fromiter(map(self._numbers.__getitem__, words), np.int32, len(words))
        short = missed[lengths[missed] <= WHOLE]
        self._slots.put(slots[short], first[short], second[short], terms[short])
        return terms

    def read(self) -> Tokens:
        self._number()
        words = sorted(self._numbers)
        ranks = np.empty(len(words), np.int32)
        ranks[list(map(self._numbers.__getitem__, words))] = np.arange(len(words))
        terms, places = _together(self._terms), _together(self._places)
        in_content = places[places & FIELD_MASK == 0]
        return Tokens(
            words, TokenPlaces(ranks[terms], places), self._lengths(places), self._lengths(in_content)
        )

    def _lengths(self, places: Int32) -> Int32:
        lengths = np.bincount(places >> FIELD_BITS, minlength=self._fields // WIDTH)
        return lengths.astype(np.int32)


def _together(arrays: list[Int32]) -> Int32:
    """Concatenate the arrays and release them."""
    joined = np.concatenate([np.empty(0, np.int32), *arrays])
    arrays.clear()
    return joined
