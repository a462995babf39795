"""BM25 over postings: the same number as FTS5's `bm25()`, to the last bit.

Source: fts5_aux.c of SQLite. The order of operations is the same, since sums of floats depend on it.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log

import numpy as np
import numpy.typing as npt

from quintet.storage.sqlite.catalog import State
from quintet.storage.text.postings.build import coded
from quintet.storage.text.postings.segment import FIELDS, Array, Bool, Int32, Int64, Segment

K1 = 1.2
B = 0.75
SHORT = 1024  # weights with so few binary digits can be multiplied: no sum is ever rounded
KEPT = 4_000_000  # postings whose scores are cached: 32 MB
ENTRY = 64  # the cost of a cache entry beside its array and its key
KEPT_OF_PHRASES = 1_000_000  # numbers cached for phrases: 8 MB
RARE = 1 << 14  # postings of the rarest word up to which lists are intersected
LEAST_IDF = 1e-6  # what FTS5 takes for a phrase in more than half of the rows
EQUAL = (1.0, 1.0, 1.0)
CONTENT = (1.0, 0.0, 0.0)
Float64 = npt.NDArray[np.float64]
Weights = tuple[float, float, float]


class Statistics:
    """What BM25 needs to know of a whole table: the number of rows, and the effect of each chunk's length."""

    def __init__(self, tokens: Int64, rows: int, *, gentle: bool = False) -> None:
        """`tokens` is the length of each chunk, 0 for removed chunks. With `gentle`, a term in most chunks
        still counts, as in Lucene: in a small index nearly every word is in half of the chunks."""
        self.rows = rows
        self._gentle = gentle
        self.norms: Float64 = np.zeros(len(tokens))
        total = int(tokens.sum())
        if total:
            average = total / rows
            self.norms = K1 * (1 - B + B * tokens.astype(np.float64) / average)

    def idf(self, matching: int) -> float:
        if self._gentle:
            return log(1.0 + _odds(self.rows, matching))
        return fts5_idf(self.rows, matching)


def weighed(triples: Int32, weights: Weights) -> Float64:
    """The weighted count for each triple of counts. FTS5 adds a field's weight once for each occurrence,
    which equals a product only for short binary fractions."""
    if all((weight * SHORT).is_integer() for weight in weights):
        return np.asarray(triples.astype(np.float64) @ np.array(weights))
    return np.array([_added_up(counts, weights) for counts in triples.tolist()], np.float64)


def _added_up(counts: Sequence[int], weights: Weights) -> float:
    each = np.repeat(weights, counts)
    return float(np.cumsum(each)[-1]) if len(each) else 0.0


def fts5_idf(rows: int, matching: int) -> float:
    return max(log(_odds(rows, matching)), LEAST_IDF)


def _odds(rows: int, matching: int) -> float:
    return (rows - matching + 0.5) / (matching + 0.5)


class FieldWeights:
    """The field weights of a query, and the weighted counts they give for the triples of each table. With
    `content_only`, the other fields do not even match."""

    def __init__(self, weights: Weights, *, content_only: bool = False) -> None:
        self.weights = CONTENT if content_only else weights
        self.content_only = content_only
        self._made: dict[int, tuple[Int32, Float64]] = {}

    def of(self, triples: Int32) -> Float64:
        if id(triples) not in self._made:
            self._made[id(triples)] = triples, weighed(triples, self.weights)
        return self._made[id(triples)][1]


def worth(idf: float | Float64, counts: Float64, norms: Float64) -> Float64:
    """What a term adds to a score, by how often it occurs."""
    worth = counts * (K1 + 1.0)
    worth /= counts + norms
    worth *= idf
    return worth


@dataclass(frozen=True, slots=True)
class Portion:
    """A segment inside a view: the number of its first chunk, and which chunks still exist."""

    segment: Segment
    first: int
    live: Bool | None


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of a term in one portion: local chunk numbers, ascending, and codes of count triples.
    `name` identifies the term in the view; several terms together have none."""

    portion: Portion
    chunks: Int32
    codes: Array
    triples: Int32
    name: tuple[int, str, int | str] | None = None

    @property
    def alive(self) -> int:
        live = self.portion.live
        return len(self.chunks) if live is None else int(np.count_nonzero(live[self.chunks]))

    @property
    def in_content(self) -> int:
        """How many chunks that still exist have the term in their content."""
        held = (self.triples[:, 0] > 0)[self.codes]
        live = self.portion.live
        return int(np.count_nonzero(held if live is None else held & live[self.chunks]))

    def holding(self, numbers: Int64, field: int) -> Bool:
        """Which of these chunks, by number in the view, have the term in that field."""
        local = (numbers - self.portion.first).astype(np.int32)
        places = np.searchsorted(self.chunks, local).clip(max=len(self.chunks) - 1)
        return np.asarray((self.chunks[places] == local) & (self.triples[self.codes[places], field] > 0))


class ArrayCache:
    """A cache of arrays by key, the least recently used going first: what common terms add to scores, and
    where phrases are. Safe to use from many threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, tuple[Array, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Array | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: Hashable, values: Array) -> None:
        cost = len(values) + ENTRY + len(repr(key))
        with self._lock:
            if key in self._values or cost > self._most:
                return
            self._values[key] = values, cost
            self._size += cost
            while self._size > self._most:
                _, (_, freed) = self._values.popitem(last=False)
                self._size -= freed


class PostingsView:
    """The segments that one state of the index searches. Chunks are numbered across all of them."""

    def __init__(self, state: State, segments: Sequence[tuple[Segment, Bool | None]]) -> None:
        self.state = state
        self.segments = tuple(part for part in segments if len(part[0]))
        portions, size = [], 0
        for segment, live in self.segments:
            portions.append(Portion(segment, size, live))
            size += len(segment)
        self.portions = tuple(portions)
        self.size = size
        self.alive = self._alive()
        self.live = size if self.alive is None else int(np.count_nonzero(self.alive))
        self.rows = _joined([part.segment.rows for part in portions])
        text = self._tokens([part.segment.text_tokens for part in portions])
        parts = self._tokens([part.segment.parts_tokens for part in portions])
        self.tokens = text
        in_text = Statistics(text, self.live)
        in_parts = Statistics(parts, int(np.count_nonzero(parts)))
        self.kept, self.phrases = ArrayCache(KEPT), ArrayCache(KEPT_OF_PHRASES)
        by_stem = Statistics(text, self.live, gentle=True)
        self.statistics = {"text": in_text, "parts": in_parts, "stems": by_stem}
        self.cjk_rows: int | None = None  # counted by the first query with CJK

    @cached_property
    def content_statistics(self) -> Statistics:
        """Those of a table that holds nothing but the content of each chunk."""
        tokens = self._tokens([part.segment.content_tokens for part in self.portions])
        return Statistics(tokens, self.live)

    def _alive(self) -> Bool | None:
        if all(portion.live is None for portion in self.portions):
            return None
        masks = [np.ones(len(p.segment), np.bool_) if p.live is None else p.live for p in self.portions]
        return np.concatenate(masks)

    def _tokens(self, counts: Sequence[Int32]) -> Int64:
        tokens = _joined(counts)
        return tokens if self.alive is None else tokens * self.alive

    def postings(self, name: str, words: Sequence[bytes]) -> list[list[Postings]]:
        """The postings of each word, portion by portion."""
        by_word: list[list[Postings]] = [[] for _ in words]
        for portion in self.portions:
            table = portion.segment.table(name)
            for at, term in enumerate(table.terms.find(words)):
                if term >= 0:
                    by_word[at].append(_postings(portion, name, term))
        return by_word

    def families(self, stems: Sequence[bytes]) -> list[list[Postings]]:
        """For each stem, the postings of all terms of `text` that have it, as if they were one term."""
        by_stem: list[list[Postings]] = [[] for _ in stems]
        for portion in self.portions:
            segment = portion.segment
            for at, stem in enumerate(segment.stems.terms.find(stems)):
                terms = segment.family(stem) if stem >= 0 else []
                if terms:
                    by_stem[at].append(_united([_postings(portion, "text", term) for term in terms]))
        return by_stem

    def holding_all(self, name: str, words: Sequence[bytes]) -> Int64 | None:
        """The numbers of the chunks that hold all of these words; None if even the rarest is too frequent."""
        by_word = self.postings(name, list(dict.fromkeys(words)))
        numbers_by_portion = []
        for portion in self.portions:
            lists = [
                postings.chunks
                for word_postings in by_word
                for postings in word_postings
                if postings.portion is portion
            ]
            if len(lists) == len(by_word):
                if min(map(len, lists)) > RARE:
                    return None
                numbers_by_portion.append(_common(lists) + np.int64(portion.first))
        numbers = _joined(numbers_by_portion)
        return numbers if self.alive is None else numbers[self.alive[numbers]]

    def of_counts(self, numbers: Int64, counts: Int64, name: tuple[str, str]) -> list[Postings]:
        """Postings made of counts from elsewhere, for chunks by number."""
        postings: list[Postings] = []
        order = np.argsort(numbers)
        numbers, counts = numbers[order], counts[order]
        for portion in self.portions:
            at, to = np.searchsorted(numbers, [portion.first, portion.first + len(portion.segment)])
            if at < to:
                local = (numbers[at:to] - portion.first).astype(np.int32)
                postings.append(Postings(portion, local, *coded(counts[at:to]), (portion.first, *name)))
        return postings

    def numbers(self, rows: Int64) -> Int64:
        """The numbers of the chunks at these rows; -1 for a row that is not here."""
        numbers = np.full(len(rows), -1, np.int64)
        for portion in self.portions:
            places = portion.segment.rows.searchsorted(rows)
            here = portion.segment.rows.take(places, mode="clip") == rows
            if portion.live is not None:
                here &= portion.live.take(places, mode="clip")
            numbers[here] = places[here] + portion.first
        return numbers


def _postings(portion: Portion, name: str, term: int) -> Postings:
    table = portion.segment.table(name)
    at, to = int(table.starts[term]), int(table.starts[term + 1])
    return Postings(
        portion, table.chunks[at:to], table.codes[at:to], table.triples, (portion.first, name, term)
    )


def _common(lists: Sequence[Int32]) -> Int32:
    """The intersection of these ascending lists."""
    shortest, *others = sorted(lists, key=len)
    for other in others:
        places = np.minimum(np.searchsorted(other, shortest), len(other) - 1)
        shortest = shortest[other[places] == shortest]
    return shortest


def _united(term_postings: Sequence[Postings]) -> Postings:
    """The postings of several terms in one portion, added up."""
    if len(term_postings) == 1:
        return replace(term_postings[0], name=None)
    chunks, at = np.unique(
        np.concatenate([postings.chunks for postings in term_postings]), return_inverse=True
    )
    counts = np.zeros((len(chunks), len(FIELDS)), np.int32)
    np.add.at(counts, at, np.concatenate([postings.triples[postings.codes] for postings in term_postings]))
    return Postings(term_postings[0].portion, chunks, *coded(counts))


def _joined(arrays: Sequence[Array]) -> Int64:
    return np.concatenate([np.empty(0, np.int64), *arrays])
