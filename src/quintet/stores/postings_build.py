"""Segments from texts, and one segment from several."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from quintet.stores.postings import FIELDS, Array, Bool, Int32, Int64, Segment, Table, Terms

WIDTH = len(FIELDS)
AT_ONCE = 2_000_000  # tokens that are counted together
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


class Found(NamedTuple):
    """Postings in any order: which term, which chunk, how often in each field."""

    terms: Int64
    chunks: Int32
    counts: Int32


class _Numbers(dict[str, int]):
    """Numbers words in the order they come."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class _Counter:
    """Counts the tokens of one table."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._numbers = _Numbers()
        self._tokens = array("i")
        self._lengths = array("i")
        self._found: list[Found] = []
        self._totals: list[Int64] = []

    def add(self, fields: Sequence[str]) -> None:
        for text in fields:
            tokens = self._words.tokens(text) if text else []
            if len(text) * 4 > LONGEST:
                tokens = list(map(cut, tokens))
            self._tokens.extend(map(self._numbers.__getitem__, tokens))
            self._lengths.append(len(tokens))
        if len(self._tokens) > AT_ONCE:
            self._count()

    def _count(self) -> None:
        lengths = np.array(self._lengths, np.int64)
        places = np.repeat(np.arange(len(lengths)), lengths)
        keys = np.array(self._tokens, np.int64) * len(lengths) + places
        first = sum(map(len, self._totals))
        self._found.append(_counted(keys, len(lengths) // WIDTH, first))
        self._totals.append(lengths.reshape(-1, WIDTH).sum(axis=1))
        self._tokens, self._lengths = array("i"), array("i")

    def tokens(self) -> Int32:
        """Of each chunk."""
        self._count()
        return np.concatenate(self._totals).astype(np.int32)

    def table(self) -> Table:
        self._count()
        words = [encoded(word) for word in self._numbers]
        order = sorted(range(len(words)), key=words.__getitem__)
        ranks = np.empty(len(words), np.int64)
        ranks[order] = np.arange(len(words))
        several, self._found = self._found, []
        return _table(
            [words[at] for at in order], _all([one._replace(terms=ranks[one.terms]) for one in several])
        )


def _counted(keys: Int64, size: int, first: int) -> Found:
    """From one key a token (term, chunk, field) to one posting a term and chunk."""
    found, times = np.unique(keys, return_counts=True)
    both, field = np.divmod(found, WIDTH)
    is_new = np.diff(both, prepend=-1) != 0
    counts = np.zeros((int(is_new.sum()), WIDTH), np.int32)
    counts[np.cumsum(is_new) - 1, field] = times
    term, chunk = np.divmod(both[is_new], max(size, 1))
    return Found(term, (chunk + first).astype(np.int32), counts)


def _all(several: Sequence[Found]) -> Found:
    return Found(*(np.concatenate([one[at] for one in several]) for at in range(len(Found._fields))))


def _table(words: Sequence[bytes], found: Found) -> Table:
    """`words` are sorted; a term and chunk that come several times are added up."""
    keys = (found.terms << 32) | found.chunks
    order = np.argsort(keys)
    keys, counts = keys[order], found.counts[order]
    del order, found  # the largest arrays of all
    is_new = np.diff(keys, prepend=-1) != 0
    if not is_new.all():
        begins = np.flatnonzero(is_new)
        keys, counts = keys[begins], np.add.reduceat(counts, begins, axis=0)
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.bincount(keys >> 32, minlength=len(words)), out=starts[1:])
    chunks = (keys & 0xFFFFFFFF).astype(np.int32)
    return Table(Terms.of(words), starts, chunks, *coded(counts))


def coded(counts: Int32) -> tuple[Array, Int32]:
    """A small number for each triple of counts, and the triples."""
    sizes = counts.max(axis=0, initial=0).astype(np.int64) + 1
    packed = (counts[:, 0] * sizes[1] + counts[:, 1]) * sizes[2] + counts[:, 2]
    if int(np.prod(sizes)) < FEW:
        used = np.zeros(int(np.prod(sizes)), np.bool_)
        used[packed] = True
        values, codes = np.flatnonzero(used), (np.cumsum(used) - 1)[packed]
    else:
        values, codes = np.unique(packed, return_inverse=True)
    kind = np.uint8 if len(values) <= 1 << 8 else np.uint16 if len(values) <= 1 << 16 else np.uint32
    rest, third = np.divmod(values, sizes[2])
    triples = np.stack([*np.divmod(rest, sizes[1]), third], axis=1)
    return codes.astype(kind), np.ascontiguousarray(triples, np.int32)


def encoded(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")


def cut(token: str) -> str:
    """As much of a token as FTS5 keeps, which may end inside a character."""
    if len(token) * 4 <= LONGEST:
        return token
    return token.encode()[:LONGEST].decode("utf-8", "surrogateescape")


def built(texts: Iterable[Text], words: Words) -> Segment:
    """The segment of these chunks, which come by row."""
    rows, documents = array("q"), list[bytes]()
    text, parts = _Counter(words), _Counter(words)
    for one in texts:
        rows.append(one.row)
        documents.append(one.document)
        text.add(one.text)
        parts.add(one.parts)
    lengths = text.tokens(), parts.tokens()
    return _segment(
        np.array(rows, np.int64), np.array(documents, "S16"), lengths, text.table(), parts.table(), words
    )


def _segment(
    rows: Int64, documents: Array, tokens: tuple[Int32, Int32], text: Table, parts: Table, words: Words
) -> Segment:
    ids, owners = np.unique(documents, return_inverse=True)
    stems, family_starts, families = _stemmed(text, parts, words)
    return Segment(rows, ids, owners.astype(np.int32), *tokens, text, parts, stems, family_starts, families)


def _stemmed(text: Table, parts: Table, words: Words) -> tuple[Table, Int64, Int32]:
    """Both tables by stem, and the terms of `text` that have each stem."""
    by_table = [words.stems(table.terms.words()) for table in (text, parts)]
    stems = sorted({stem for some in by_table for stem in some})
    numbers = {stem: at for at, stem in enumerate(stems)}
    found, families = [], np.empty(0, np.int64)
    for table, some in zip((parts, text), reversed(by_table), strict=True):
        families = np.fromiter((numbers[stem] for stem in some), np.int64, len(some))
        found.append(Found(np.repeat(families, np.diff(table.starts)), table.chunks, table.counts()))
    starts = np.zeros(len(stems) + 1, np.int64)
    np.cumsum(np.bincount(families, minlength=len(stems)), out=starts[1:])
    return _table(stems, _all(found)), starts, np.argsort(families, kind="stable").astype(np.int32)


def merged(several: Sequence[tuple[Segment, Bool | None]], words: Words) -> Segment:
    """One segment of all chunks that are still alive."""
    if not several:
        return built((), words)
    kept = [np.arange(len(one)) if live is None else np.flatnonzero(live) for one, live in several]
    segments = [one for one, _ in several]
    rows = np.concatenate([one.rows[numbers] for one, numbers in zip(segments, kept, strict=True)])
    order = np.argsort(rows)
    numbers = np.empty(len(rows), np.int32)
    numbers[order] = np.arange(len(rows), dtype=np.int32)
    renumbered = []
    for new, old, one in zip(
        np.split(numbers, np.cumsum([len(k) for k in kept])[:-1]), kept, segments, strict=True
    ):
        by_old = np.full(len(one), -1, np.int32)
        by_old[old] = new
        renumbered.append(by_old)

    def together(arrays: Sequence[Array]) -> Array:
        return np.concatenate([one[at] for one, at in zip(arrays, kept, strict=True)])[order]

    return _segment(
        rows[order],
        together([one.documents[one.owners] for one in segments]),
        (together([one.text_tokens for one in segments]), together([one.parts_tokens for one in segments])),
        _merged_table([one.text for one in segments], renumbered),
        _merged_table([one.parts for one in segments], renumbered),
        words,
    )


def _merged_table(tables: Sequence[Table], renumbered: Sequence[Int32]) -> Table:
    vocabularies = [table.terms.words() for table in tables]
    words = sorted(set().union(*vocabularies))
    numbers = {word: at for at, word in enumerate(words)}
    several = []
    for table, vocabulary, new in zip(tables, vocabularies, renumbered, strict=True):
        chunks = new[table.chunks]
        here = chunks >= 0
        terms = np.fromiter((numbers[word] for word in vocabulary), np.int64, len(vocabulary))
        by_posting = np.repeat(terms, np.diff(table.starts))
        several.append(Found(by_posting[here], chunks[here], table.triples[table.codes[here]]))
    found = _all(several)
    used = np.bincount(found.terms, minlength=len(words)) > 0
    left = [word for word, is_used in zip(words, used.tolist(), strict=True) if is_used]
    return _table(left, found._replace(terms=(np.cumsum(used) - 1)[found.terms]))
