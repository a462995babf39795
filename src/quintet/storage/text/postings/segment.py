"""Postings: which chunks hold a term, how often and in which field, as arrays that numpy searches.

A segment covers a range of chunks and never changes. It is derived from the database and holds what FTS5
knows of the same text: terms, counts and lengths.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

FIELDS = ("content", "heading_path", "title")
TABLES = ("text", "parts", "stems")
# The arrays with one element for each posting.
LONG = frozenset(f"{table}.{array}" for table in TABLES for array in ("chunks", "codes"))
HEAD = 8  # bytes of a term that are compared as one number


@dataclass(frozen=True, slots=True)
class Terms:
    """Words sorted by their bytes. They are found by binary search, without a dictionary in memory."""

    heads: npt.NDArray[np.uint64]
    starts: Int64
    letters: npt.NDArray[np.uint8]

    @staticmethod
    def of(words: Sequence[bytes]) -> "Terms":
        """`words` are sorted."""
        starts = np.zeros(len(words) + 1, np.int64)
        np.cumsum([len(word) for word in words], out=starts[1:])
        return Terms(_heads(words), starts, np.array(bytearray(b"".join(words)), np.uint8))

    def __len__(self) -> int:
        return len(self.heads)

    def word(self, number: int) -> bytes:
        return self.letters[self.starts[number] : self.starts[number + 1]].tobytes()

    def words(self) -> list[bytes]:
        letters, starts = self.letters.tobytes(), self.starts.tolist()
        return [letters[at:to] for at, to in pairwise(starts)]

    def find(self, words: Sequence[bytes]) -> list[int]:
        """The number of each word; -1 for one that is not here."""
        heads = _heads(words)
        first, end = np.searchsorted(self.heads, heads, "left"), np.searchsorted(self.heads, heads, "right")
        return [
            self._between(word, at, to)
            for word, at, to in zip(words, first.tolist(), end.tolist(), strict=True)
        ]

    def _between(self, word: bytes, at: int, to: int) -> int:
        while at < to:
            middle = (at + to) // 2
            other = self.word(middle)
            if other == word:
                return middle
            at, to = (middle + 1, to) if other < word else (at, middle)
        return -1


def _heads(words: Sequence[bytes]) -> npt.NDArray[np.uint64]:
    """The first bytes of each word as a number that sorts like them. No term holds a zero byte."""
    return np.array(words, f"S{HEAD}").view(">u8").astype(np.uint64)


@dataclass(frozen=True, slots=True)
class Table:
    """Terms and their postings. The postings of term t are starts[t]:starts[t+1], by chunk number. A code is
    a row of `triples`: how often the term occurs in each of the three fields."""

    terms: Terms
    starts: Int64
    chunks: Int32
    codes: Array
    triples: Int32

    def counts(self) -> Int32:
        """Three counts for each posting."""
        return self.triples[self.codes]


@dataclass(frozen=True, slots=True)
class Segment:
    """Chunks by row. `documents` are ids as bytes, sorted; `owners` gives the document of each chunk.

    `text` and `parts` hold the words of FTS5's tables of the same names; `text_tokens` and `parts_tokens` are
    the lengths of their rows, `content_tokens` those of the content alone. `stems` holds both tables by stem;
    `families` are the terms of `text` that have each stem.
    """

    rows: Int64
    documents: npt.NDArray[np.bytes_]
    owners: Int32
    text_tokens: Int32
    content_tokens: Int32
    parts_tokens: Int32
    text: Table
    parts: Table
    stems: Table
    family_starts: Int64
    families: Int32

    def __len__(self) -> int:
        return len(self.rows)

    def table(self, name: str) -> Table:
        return {"text": self.text, "parts": self.parts, "stems": self.stems}[name]

    def family(self, stem: int) -> list[int]:
        terms: list[int] = self.families[self.family_starts[stem] : self.family_starts[stem + 1]].tolist()
        return terms

    def of_documents(self, ids: Sequence[bytes] | npt.NDArray[np.bytes_]) -> Bool:
        """Which chunks belong to one of these documents."""
        chosen = np.zeros(len(self.documents), np.bool_)
        if len(self.documents) and len(ids):
            wanted = np.array(ids, self.documents.dtype)
            places = np.searchsorted(self.documents, wanted).clip(max=len(self.documents) - 1)
            chosen[places[self.documents[places] == wanted]] = True
        return chosen[self.owners]


def arrays(part: object, name: str = "") -> Iterator[tuple[str, Array]]:
    """Every array of a segment with its name, in a fixed order."""
    if isinstance(part, np.ndarray):
        yield name, part
    elif is_dataclass(part):
        for field in fields(part):
            yield from arrays(getattr(part, field.name), f"{name}.{field.name}" if name else field.name)


def segment_of(named: Mapping[str, Array]) -> Segment:
    """The segment that `arrays` took apart."""
    tables: Any = {name: _table(named, name) for name in TABLES}
    rest: Any = {field.name: named[field.name] for field in fields(Segment) if field.name not in TABLES}
    return Segment(**tables, **rest)


def _table(named: Mapping[str, Array], name: str) -> Table:
    terms = Terms(*(named[f"{name}.terms.{part}"] for part in ("heads", "starts", "letters")))
    rest = (named[f"{name}.{field.name}"] for field in fields(Table) if field.name != "terms")
    return Table(terms, *rest)
