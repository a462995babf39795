"""Merges segments in bounded memory.

Every chunk is in one segment only, so the postings of a term are those of one segment followed by those of
the next. They are counted first, then put in place, one slice of the vocabulary at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise, repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quintet.storage.text.postings.build import by_stem, code_kind
from quintet.storage.text.postings.segment import (
    LONG,
    TABLES,
    Array,
    Bool,
    Int32,
    Int64,
    Segment,
    Table,
    Terms,
    arrays,
    segment_of,
)
from quintet.storage.text.postings.tokens import WIDTH

AT_ONCE = 1_000_000  # postings of a slice


class SegmentPart(NamedTuple):
    """A segment, and which of its chunks still exist. It is opened for each slice, so that mapped pages need
    not stay in memory."""

    opened: Callable[[], Segment]
    live: Bool | None = None


@dataclass(frozen=True, slots=True)
class SegmentStream:
    """A segment whose longest arrays come in pieces, by name. `segment` only has their sizes and types."""

    segment: Segment
    pieces: Iterable[tuple[str, Array]]

    @staticmethod
    def of(segment: Segment) -> "SegmentStream":
        return SegmentStream(segment, ((name, values) for name, values in arrays(segment) if name in LONG))

    def gathered(self) -> Segment:
        """All of it in memory."""
        named = {
            name: np.empty_like(values) if name in LONG else values for name, values in arrays(self.segment)
        }
        filled = dict.fromkeys(LONG, 0)
        for name, piece in self.pieces:
            named[name][filled[name] : filled[name] + len(piece)] = piece
            filled[name] += len(piece)
        return segment_of(named)


@dataclass(frozen=True, slots=True)
class _Share:
    """What one part contributes to a table: the new numbers of its terms, where the postings of each begin,
    how many of them are alive, and the new code of each old code."""

    opened: Callable[[], Segment]
    name: str
    numbers: Int32
    starts: Array
    counts: Int32
    codes: Array
    chunks: Int32  # the new number of each chunk, -1 for a removed one
    whole: bool

    def between(self, first: int, end: int) -> tuple[slice, Int32, Array]:
        """The slice of its terms among these, and their postings in order."""
        at, to = np.searchsorted(self.numbers, [first, end]).tolist()
        begin, stop = self.starts[at], self.starts[to]
        table = self.opened().table(self.name)
        chunks, codes = self.chunks[table.chunks[begin:stop]], self.codes[table.codes[begin:stop]]
        if not self.whole:
            here = chunks >= 0
            chunks, codes = chunks[here], codes[here]
        return slice(at, to), chunks, codes


class _TableMerge:
    """Merges one table of all parts."""

    def __init__(
        self, name: str, parts: Sequence[SegmentPart], chunks: Sequence[Int32], *, ordered: bool
    ) -> None:
        self.name = name
        self._ordered = ordered
        counted = [_counted(part, part.opened().table(name)) for part in parts]
        words, numbers = _numbered([part.opened().table(name).terms for part in parts], counted)
        self.terms = Terms.of(words)
        codes, self.triples = _recoded([_used(part, name) for part in parts])
        totals = np.zeros(len(words), np.int64)
        self._shares: list[_Share] = []
        for part, new, some, counts, recoded in zip(parts, chunks, numbers, counted, codes, strict=True):
            starts = _short(part.opened().table(name).starts)
            if part.live is not None:
                kept = some >= 0
                some, counts, starts = some[kept], counts[kept], np.append(starts[:-1][kept], starts[-1])
            self._shares.append(
                _Share(part.opened, name, some, starts, counts, recoded, new, part.live is None)
            )
            totals[some] += counts
        self.starts = np.zeros(len(words) + 1, np.int64)
        np.cumsum(totals, out=self.starts[1:])
        self.numbers = numbers

    def outline(self) -> Table:
        """The table without its postings, which would not fit into memory."""
        size = (int(self.starts[-1]),)
        stand_in: Any = np.broadcast_to
        chunks, codes = stand_in(np.int32(0), size), stand_in(code_kind(len(self.triples)).type(0), size)
        return Table(self.terms, self.starts, chunks, codes, self.triples)

    def pieces(self) -> Iterator[tuple[str, Array]]:
        for first, end in pairwise(_bounds(self.starts)):
            chunks, codes = self._placed(first, end)
            yield f"{self.name}.chunks", chunks
            yield f"{self.name}.codes", codes

    def _placed(self, first: int, end: int) -> tuple[Int32, Array]:
        """The postings of these terms."""
        starts = self.starts[first : end + 1] - self.starts[first]
        chunks = np.empty(starts[-1], np.int32)
        codes = np.empty(starts[-1], code_kind(len(self.triples)))
        free = starts[:-1].copy()
        for share in self._shares:
            which, some, their_codes = share.between(first, end)
            terms, counts = share.numbers[which] - first, share.counts[which]
            places = np.repeat(free[terms] - (np.cumsum(counts) - counts), counts)
            places += np.arange(len(places))
            chunks[places], codes[places] = some, their_codes
            free[terms] += counts
        if not self._ordered:
            keys = (np.repeat(np.arange(end - first, dtype=np.int64), np.diff(starts)) << 32) | chunks
            order = np.argsort(keys)
            chunks, codes = chunks[order], codes[order]
        return chunks, codes


def _counted(part: SegmentPart, table: Table) -> Int32:
    """How many postings of each term are alive."""
    if part.live is None:
        return np.diff(table.starts).astype(np.int32)
    counts = np.zeros(len(table.terms), np.int32)
    for at, to in pairwise(_bounds(table.starts)):
        begins = table.starts[at:to]
        alive = part.live[table.chunks[begins[0] : table.starts[to]]]
        counts[at:to] = np.add.reduceat(alive, begins - begins[0], dtype=np.int32)
    return counts


def _short(starts: Int64) -> Array:
    """In 32 bits where they fit: there are as many as parts times words."""
    return starts.astype(np.int32) if starts[-1] <= np.iinfo(np.int32).max else starts.copy()


def _bounds(starts: Int64) -> list[int]:
    """Where to cut a vocabulary, so that each slice has a bounded number of postings or a single term."""
    ends = np.arange(AT_ONCE, starts[-1] + AT_ONCE, AT_ONCE)
    bounds: list[int] = np.unique([0, *np.searchsorted(starts, ends, "right") - 1, len(starts) - 1]).tolist()
    return bounds


def _numbered(terms: Sequence[Terms], counted: Sequence[Int32]) -> tuple[list[bytes], list[Int32]]:
    """The remaining words, sorted, and the new number of each term of each part; -1 for a dropped term."""
    numbers: dict[bytes, int] = {}
    for part_terms, counts in zip(terms, counted, strict=True):
        words = part_terms.words()
        used = words if counts.all() else [words[at] for at in np.flatnonzero(counts).tolist()]
        numbers.update(zip(used, repeat(-1)))
    kept = sorted(numbers)  # fast: the words are sorted within each part
    numbers.update(zip(kept, range(len(kept)), strict=True))
    new_numbers = [
        np.fromiter(map(numbers.get, part_terms.words(), repeat(-1)), np.int32, len(part_terms))
        for part_terms in terms
    ]
    return kept, new_numbers


def _used(part: SegmentPart, name: str) -> tuple[Int32, Bool]:
    """The triples of a part, and which of them existing chunks still use."""
    table = part.opened().table(name)
    used = np.full(len(table.triples), part.live is None)
    if part.live is not None:
        for at, to in pairwise(_bounds(table.starts)):
            piece = slice(table.starts[at], table.starts[to])
            used[table.codes[piece][part.live[table.chunks[piece]]]] = True
    return table.triples, used


def _recoded(parts: Sequence[tuple[Int32, Bool]]) -> tuple[list[Array], Int32]:
    """The new code of each old code, and the merged triples."""
    needed = [old_triples[used] for old_triples, used in parts]
    triples = np.unique(np.concatenate([np.empty((0, WIDTH), np.int32), *needed]), axis=0)
    numbers = {tuple(triple): at for at, triple in enumerate(triples.tolist())}
    codes = []
    for old_triples, used in parts:
        codes.append(np.zeros(len(old_triples), code_kind(len(triples))))
        codes[-1][used] = [numbers[tuple(triple)] for triple in old_triples[used].tolist()]
    return codes, np.ascontiguousarray(triples, np.int32)


def flow(parts: Sequence[SegmentPart]) -> SegmentStream:
    """One segment of all chunks that still exist."""
    kept = [
        np.arange(len(part.opened())) if part.live is None else np.flatnonzero(part.live) for part in parts
    ]

    def together(values: Callable[[Segment], Array], kind: npt.DTypeLike) -> Array:
        arrays_of_parts = [values(part.opened())[numbers] for part, numbers in zip(parts, kept, strict=True)]
        return np.concatenate([np.empty(0, kind), *arrays_of_parts])

    rows = together(lambda segment: segment.rows, np.int64)
    order = np.argsort(rows, kind="stable")
    ids, owners = np.unique(
        together(lambda segment: segment.documents[segment.owners], "S16")[order], return_inverse=True
    )
    chunks = _renumbered(parts, kept, order)
    ordered = bool((np.diff(order) > 0).all())
    text, in_parts, stems = (_TableMerge(name, parts, chunks, ordered=ordered) for name in TABLES)
    outline = Segment(
        rows[order],
        ids,
        owners.astype(np.int32),
        together(lambda segment: segment.text_tokens, np.int32)[order],
        together(lambda segment: segment.content_tokens, np.int32)[order],
        together(lambda segment: segment.parts_tokens, np.int32)[order],
        text.outline(),
        in_parts.outline(),
        stems.outline(),
        *_families(parts, text, stems),
    )
    return SegmentStream(outline, chain(text.pieces(), in_parts.pieces(), stems.pieces()))


def _renumbered(parts: Sequence[SegmentPart], kept: Sequence[Int64], order: Int64) -> list[Int32]:
    """The new number of each chunk of each part, -1 for a removed one."""
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    renumbered, first = [], 0
    for part, old in zip(parts, kept, strict=True):
        new = np.full(len(part.opened()), -1, np.int32)
        new[old] = numbers[first : first + len(old)]
        renumbered.append(new)
        first += len(old)
    return renumbered


def _families(parts: Sequence[SegmentPart], text: _TableMerge, stems: _TableMerge) -> tuple[Int64, Int32]:
    """The terms of `text` by stem. A term has the same stem in every part."""
    stem_of = np.zeros(len(text.terms), np.int32)
    for part, terms, numbers in zip(parts, text.numbers, stems.numbers, strict=True):
        segment = part.opened()
        new = np.repeat(numbers, np.diff(segment.family_starts))
        old = terms[segment.families]
        stem_of[old[old >= 0]] = new[old >= 0]
    return by_stem(stem_of, len(stems.terms))


def merged(segments: Sequence[tuple[Segment, Bool | None]]) -> Segment:
    """One segment in memory."""
    if len(segments) == 1 and segments[0][1] is None:
        return segments[0][0]
    return flow_of(segments).gathered()


def flow_of(segments: Sequence[tuple[Segment, Bool | None]]) -> SegmentStream:
    """A stream of segments that stay open while it is read."""
    if len(segments) == 1 and segments[0][1] is None:
        return SegmentStream.of(segments[0][0])
    return flow([SegmentPart(partial(_itself, segment), live) for segment, live in segments])


def _itself(segment: Segment) -> Segment:
    return segment
