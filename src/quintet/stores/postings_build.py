"""Segments from texts: words are numbered, counted and put in order by numpy, a bounded lot at a time."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import NamedTuple

import numpy as np

from quintet.stores.postings import FIELDS, Array, Int32, Int64, Segment, Table, Terms

WIDTH = len(FIELDS)
FIELD_BITS = 2
AT_ONCE = 2_000_000  # tokens of one lot: 150 MB while it is put in order
NUMBERED = 5_000  # tokens that are numbered in one call
LONGEST = 32_768  # bytes of a token that FTS5 keeps
FEW = 1 << 22  # possible triples of counts for which a table of all of them pays


class Text(NamedTuple):
    """A chunk: its row, the id of its document, and its fields as each table reads them."""

    row: int
    document: bytes
    text: Sequence[str]
    parts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Words:
    """How text becomes terms, and terms become stems."""

    tokens: Callable[[str], list[str]]
    stems: Callable[[Sequence[bytes]], list[bytes]]


class _Numbers(dict[str, int]):
    """Numbers words in the order they come."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class _Tokens(NamedTuple):
    """Tokens in the order of the text: the number of each one's term, and its chunk and field as one."""

    terms: Int32
    places: Int32


class _Reader:
    """Takes the tokens of one table down."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._numbers = _Numbers()
        self._waiting: list[str] = []
        self._numbered: list[Int32] = []
        self._lengths = array("i")
        self.size = 0

    def add(self, fields: Sequence[str]) -> None:
        before = len(self._waiting)
        for text in fields:
            if not text:
                self._lengths.append(0)
                continue
            tokens = self._words.tokens(text)
            if len(text) * 4 > LONGEST:
                tokens = list(map(cut, tokens))
            self._waiting += tokens
            self._lengths.append(len(tokens))
        self.size += len(self._waiting) - before
        if len(self._waiting) > NUMBERED:
            self._number()

    def _number(self) -> None:
        numbers = map(self._numbers.__getitem__, self._waiting)
        self._numbered.append(np.fromiter(numbers, np.int32, len(self._waiting)))
        self._waiting = []

    def lengths(self) -> Int32:
        """The tokens of each chunk."""
        by_field = np.array(self._lengths, np.int32).reshape(-1, WIDTH)
        return np.asarray(by_field.sum(axis=1, dtype=np.int32))

    def read(self) -> tuple[list[bytes], _Tokens]:
        """The words, sorted, and every token by its place among them."""
        self._number()
        words = [encoded(word) for word in self._numbers]
        order = sorted(range(len(words)), key=words.__getitem__)
        ranks = np.empty(len(words), np.int32)
        ranks[order] = np.arange(len(words))
        fields = np.arange(len(self._lengths), dtype=np.int32)
        places = ((fields // WIDTH) << FIELD_BITS) | (fields % WIDTH)
        tokens = _Tokens(ranks[np.concatenate(self._numbered)], np.repeat(places, self._lengths))
        return [words[at] for at in order], tokens


def segments(texts: Iterable[Text], words: Words) -> Iterator[Segment]:
    """Segments of these chunks, which come by row; each is of a bounded number of tokens, but for one that a
    single chunk exceeds."""
    left = iter(texts)
    for first in left:
        yield _segment(chain([first], left), words)


def _segment(texts: Iterator[Text], words: Words) -> Segment:
    """Of as many of these chunks as make a lot."""
    rows, documents = array("q"), list[bytes]()
    text, parts = _Reader(words), _Reader(words)
    for one in texts:
        rows.append(one.row)
        documents.append(one.document)
        text.add(one.text)
        parts.add(one.parts)
        if text.size + parts.size >= AT_ONCE:
            break
    ids, owners = np.unique(np.array(documents, "S16"), return_inverse=True)
    return Segment(
        np.array(rows, np.int64),
        ids,
        owners.astype(np.int32),
        text.lengths(),
        parts.lengths(),
        *_tables(*text.read(), *parts.read(), words),
    )


def _tables(
    text: list[bytes], in_text: _Tokens, parts: list[bytes], in_parts: _Tokens, words: Words
) -> tuple[Table, Table, Table, Int64, Int32]:
    """Both tables, both together by stem, and the terms of `text` that have each stem."""
    by_term = words.stems(text), words.stems(parts)
    stems = sorted({stem for some in by_term for stem in some})
    numbers = {stem: at for at, stem in enumerate(stems)}
    of_text, of_parts = (np.fromiter(map(numbers.__getitem__, some), np.int32, len(some)) for some in by_term)
    both = _Tokens(
        np.concatenate([of_text[in_text.terms], of_parts[in_parts.terms]]),
        np.concatenate([in_text.places, in_parts.places]),
    )
    return _table(text, in_text), _table(parts, in_parts), _table(stems, both), *by_stem(of_text, len(stems))


def by_stem(stems: Int32, count: int) -> tuple[Int64, Int32]:
    """Terms in the order of their stems, and where those of each stem begin."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(stems, minlength=count), out=starts[1:])
    return starts, np.argsort(stems, kind="stable").astype(np.int32)


def _table(words: Sequence[bytes], tokens: _Tokens) -> Table:
    """`words` are sorted, and every one of them is among the tokens."""
    chunk_bits = (int(tokens.places.max(initial=0)) >> FIELD_BITS).bit_length()
    keys = tokens.terms.astype(np.int64)
    keys <<= chunk_bits + FIELD_BITS
    keys |= tokens.places
    keys.sort()
    begins = _begins(keys)
    times = np.diff(begins, append=len(keys))
    keys = keys[begins]
    fields = keys & ((1 << FIELD_BITS) - 1)
    keys >>= FIELD_BITS
    begins = _begins(keys)
    keys = keys[begins]
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.bincount(keys >> chunk_bits, minlength=len(words)), out=starts[1:])
    chunks = (keys & ((1 << chunk_bits) - 1)).astype(np.int32)
    return Table(Terms.of(words), starts, chunks, *_coded_fields(fields, times, begins))


def _begins(keys: Int64) -> Int64:
    """Where another key begins."""
    is_new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_new[1:])
    return np.flatnonzero(is_new)


def _coded_fields(fields: Int64, times: Int64, begins: Int64) -> tuple[Array, Int32]:
    """`times` is how often a term is in each field that has it; a posting begins at each of `begins`."""
    sizes = [int(times[fields == field].max(initial=0)) + 1 for field in range(WIDTH)]
    values = times * np.array([sizes[1] * sizes[2], sizes[2], 1])[fields]
    return _coded(np.add.reduceat(values, begins) if len(begins) else values, sizes)


def coded(counts: Int32 | Int64) -> tuple[Array, Int32]:
    """A small number for each triple of counts, and the triples."""
    sizes = (counts.max(axis=0, initial=0).astype(np.int64) + 1).tolist()
    wide = counts.astype(np.int64)
    return _coded((wide[:, 0] * sizes[1] + wide[:, 1]) * sizes[2] + wide[:, 2], sizes)


def _coded(packed: Int64, sizes: Sequence[int]) -> tuple[Array, Int32]:
    """`packed` holds each triple as one number, whose digits go up to these sizes."""
    if prod(sizes) < FEW:
        used = np.zeros(prod(sizes), np.bool_)
        used[packed] = True
        values = np.flatnonzero(used)
        codes = (np.cumsum(used) - 1).astype(code_kind(len(values)))[packed]
    else:
        values, codes = np.unique(packed, return_inverse=True)
    rest, third = np.divmod(values, sizes[2])
    triples = np.stack([*np.divmod(rest, sizes[1]), third], axis=1)
    return codes.astype(code_kind(len(values)), copy=False), np.ascontiguousarray(triples, np.int32)


def code_kind(triples: int) -> np.dtype[np.unsignedinteger]:
    """The smallest kind of number that tells so many triples apart."""
    return np.dtype(np.uint8 if triples <= 1 << 8 else np.uint16 if triples <= 1 << 16 else np.uint32)


def encoded(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")


def cut(token: str) -> str:
    """As much of a token as FTS5 keeps, which may end inside a character."""
    if len(token) * 4 <= LONGEST:
        return token
    return token.encode()[:LONGEST].decode("utf-8", "surrogateescape")
