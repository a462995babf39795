"""Builds segments from texts: numpy numbers, counts and sorts words, in lots of bounded size."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import prod
from typing import NamedTuple

import numpy as np

from quintet.storage.text.analysis import Tokenizer
from quintet.storage.text.postings.segment import Array, Int32, Int64, Segment, Table, Terms
from quintet.storage.text.postings.tokens import FIELD_BITS, WIDTH, TokenCollector, TokenPlaces, Tokens

AT_ONCE = 2_000_000  # tokens of one lot: 150 MB while they are sorted
COUNTED_BITS = 16
FEW = 1 << 22  # possible triples of counts for which a table of all of them pays


class ChunkText(NamedTuple):
    """A chunk: its row, the id of its document, its fields as each table reads them, and the words of its
    path, which only `stems` holds: as words of the title that add nothing to the length of a chunk."""

    row: int
    document: bytes
    text: Sequence[str]
    parts: Sequence[str]
    path: str = ""


def segments(texts: Iterable[ChunkText], words: Tokenizer) -> Iterator[Segment]:
    """Segments of these chunks, which come by row. Each has a bounded number of tokens, unless a single chunk
    has more."""
    left = iter(texts)
    for first in left:
        yield _segment(chain([first], left), words)


def _segment(texts: Iterator[ChunkText], words: Tokenizer) -> Segment:
    """A segment of as many chunks as make a lot."""
    rows, documents = array("q"), list[bytes]()
    text, parts, paths = (TokenCollector(words) for _ in range(3))
    for chunk in texts:
        rows.append(chunk.row)
        documents.append(chunk.document)
        text.add(chunk.text)
        parts.add(chunk.parts)
        paths.add(("", "", chunk.path))
        if text.most + parts.most >= AT_ONCE and text.size + parts.size >= AT_ONCE:
            break
    ids, owners = np.unique(np.array(documents, "S16"), return_inverse=True)
    in_text, in_parts, in_paths = text.read(), parts.read(), paths.read()
    return Segment(
        np.array(rows, np.int64),
        ids,
        owners.astype(np.int32),
        in_text.lengths,
        in_text.content_lengths,
        in_parts.lengths,
        *_tables(in_text, in_parts, in_paths, words),
    )


def _tables(
    text: Tokens, parts: Tokens, paths: Tokens, words: Tokenizer
) -> tuple[Table, Table, Table, Int64, Int32]:
    """The tables `text` and `parts`, all three merged by stem, and the terms of `text` for each stem."""
    by_term = [words.stems(tokens.words) for tokens in (text, parts, paths)]
    stems = sorted(dict.fromkeys(chain(*by_term)))  # the stems of sorted words are nearly sorted
    numbers = {stem: at for at, stem in enumerate(stems)}
    stem_of = [np.fromiter(map(numbers.__getitem__, some), np.int32, len(some)) for some in by_term]
    merged = TokenPlaces(
        np.concatenate(
            [of[tokens.at.terms] for of, tokens in zip(stem_of, (text, parts, paths), strict=True)]
        ),
        np.concatenate([tokens.at.places for tokens in (text, parts, paths)]),
    )
    tables = _table(text.words, text.at), _table(parts.words, parts.at), _table(stems, merged)
    return *tables, *by_stem(stem_of[0], len(stems))


def by_stem(stems: Int32, count: int) -> tuple[Int64, Int32]:
    """Terms in the order of their stems, and where those of each stem begin."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(stems, minlength=count), out=starts[1:])
    return starts, np.argsort(stems, kind="stable").astype(np.int32)


def _table(words: Sequence[bytes], tokens: TokenPlaces) -> Table:
    """`words` are sorted, and each occurs among the tokens."""
    chunk_bits = (int(tokens.places.max(initial=0)) >> FIELD_BITS).bit_length()
    keys = _sorted_keys(tokens, chunk_bits + FIELD_BITS)
    begins = _begins(keys)
    times = _until_next(begins, len(keys))
    keys = keys[begins]
    fields = keys & ((1 << FIELD_BITS) - 1)
    keys >>= FIELD_BITS
    begins = _begins(keys)
    keys = keys[begins]
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.bincount(keys >> chunk_bits, minlength=len(words)), out=starts[1:])
    chunks = (keys & ((1 << chunk_bits) - 1)).astype(np.int32)
    return Table(Terms.of(words), starts, chunks, *_coded_fields(fields, times, begins))


def _sorted_keys(tokens: TokenPlaces, place_bits: int) -> Int64:
    """Term and place of every token as one number, ascending.

    Numpy sorts 16-bit numbers by counting, which on some processors takes a tenth of the time. Most text is
    in order of place already.
    """
    keys = tokens.terms.astype(np.int64)
    keys <<= place_bits
    keys |= tokens.places
    by_place = not (tokens.places[1:] < tokens.places[:-1]).any()
    for shift in range(place_bits if by_place else 0, int(keys.max(initial=0)).bit_length(), COUNTED_BITS):
        keys = keys[np.argsort((keys >> shift).astype(np.uint16), kind="stable")]
    return keys


def _begins(keys: Int64) -> Int64:
    """The positions at which a new key begins."""
    is_new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_new[1:])
    return np.flatnonzero(is_new)


def _until_next(begins: Int64, end: int) -> Int64:
    """The distance from each position to the next, and from the last to the end."""
    lengths = np.empty_like(begins)
    np.subtract(begins[1:], begins[:-1], out=lengths[:-1])
    lengths[-1:] = end - begins[-1:]
    return lengths


def _coded_fields(fields: Int64, times: Int64, begins: Int64) -> tuple[Array, Int32]:
    """`times` is how often a term occurs in each field that holds it; postings begin at `begins`."""
    sizes = [int(times[fields == field].max(initial=0)) + 1 for field in range(WIDTH)]
    values = times * np.array([sizes[1] * sizes[2], sizes[2], 1])[fields]
    return _coded(np.add.reduceat(values, begins) if len(begins) else values, sizes)


def coded(counts: Int32 | Int64) -> tuple[Array, Int32]:
    """A small number for each triple of counts, and the triples."""
    sizes = (counts.max(axis=0, initial=0).astype(np.int64) + 1).tolist()
    wide = counts.astype(np.int64)
    return _coded((wide[:, 0] * sizes[1] + wide[:, 1]) * sizes[2] + wide[:, 2], sizes)


def _coded(packed: Int64, sizes: Sequence[int]) -> tuple[Array, Int32]:
    """`packed` holds each triple as one number, with a digit for each count."""
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
    """The smallest integer type that can number these triples."""
    return np.dtype(np.uint8 if triples <= 1 << 8 else np.uint16 if triples <= 1 << 16 else np.uint32)
