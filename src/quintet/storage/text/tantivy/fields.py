"""The fields of the tantivy index. FTS5's own tokenizers cut the text, so both engines know the same words.

Scores come from `text` and `stems`, which hold content, heading path and title together like FTS5's table,
and from `parts`, `cjk` and the like. Fields of one place (`title`, `title_stems`, ...) serve queries with
field weights.
"""

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import apsw

from quintet.errors import MissingExtra
from quintet.storage.text.analysis import identifier_parts, pairs, path_words, plain, runs

if TYPE_CHECKING:
    from tantivy import Document, Schema

PLACES = ("content", "heading_path", "title")
# Fields over all places, each with a field for every place: with positions, and without.
IN_ORDER = ("text", "parts", "cjk")
IN_ANY_ORDER = ("stems", "characters")
LONGEST = 16_000  # characters; tantivy drops tokens of 64 KiB, and none of these is a word


def engine() -> ModuleType:
    """The tantivy package, which is an optional extra."""
    try:
        import tantivy
    except ImportError as error:
        raise MissingExtra(
            "text_index = 'tantivy' needs tantivy; run \"pip install 'quintet[tantivy]'\""
        ) from error
    return tantivy


def schema() -> "Schema":
    builder = engine().SchemaBuilder()
    builder.add_unsigned_field("row", indexed=True, fast=True)
    builder.add_text_field("document", tokenizer_name="raw", index_option="basic")
    for whole, option in [
        *((field, "position") for field in IN_ORDER),
        *((field, "freq") for field in IN_ANY_ORDER),
    ]:
        for name in (whole, *(place_field(whole, place) for place in PLACES)):
            builder.add_text_field(name, tokenizer_name="whitespace", index_option=option)
    builder.add_text_field("part_stems", tokenizer_name="whitespace", index_option="freq")
    made: Schema = builder.build()
    return made


def place_field(whole: str, place: str) -> str:
    """The field that holds the part of `text`, `stems` and the like in one place."""
    return place if whole == "text" else f"{place}_{whole}"


class Analyser:
    """Text to tokens, as FTS5 would."""

    def __init__(self, connection: apsw.Connection) -> None:
        unicode61 = ["unicode61", "remove_diacritics", "2"]
        self._words = connection.fts5_tokenizer(unicode61[0], unicode61[1:])
        self._stems = connection.fts5_tokenizer("porter", unicode61)

    def words(self, text: str) -> list[str]:
        if text.isascii() and text.isalnum():  # most terms of a query
            return [text.lower()] if len(text) <= LONGEST else []
        return _tokens(self._words, text)

    def stems(self, text: str) -> list[str]:
        return _tokens(self._stems, text)

    def fields_of(self, place: str, raw: str) -> Iterator[tuple[str, list[str]]]:
        """The fields that the text of one place goes into, with its tokens."""
        for whole, tokens in self._whole(plain(raw)):
            yield whole, tokens
            if whole != "part_stems":
                yield place_field(whole, place), tokens

    def _whole(self, text: str) -> Iterator[tuple[str, list[str]]]:
        yield from (("text", self.words(text)), ("stems", self.stems(text)))
        parts = identifier_parts(text)
        if parts:
            yield from (("parts", self.words(parts)), ("part_stems", self.stems(parts)))
        if not text.isascii():
            yield "cjk", self.words(pairs(text))
            yield "characters", self.words(" ".join("".join(runs(text))))

    def document(self, row: int, document_id: str, texts: Sequence[str], path: str) -> "Document":
        """A chunk. The words of its path count as words of the title, but only by stem."""
        made: Document = engine().Document()
        made.add_unsigned("row", row)
        made.add_text("document", document_id)
        for place, text in zip(PLACES, texts, strict=True):
            for name, tokens in self.fields_of(place, text):
                if tokens:  # tantivy leaves a gap between the values of a field, so no phrase spans two
                    made.add_text(name, " ".join(tokens))
        words = " ".join(self.stems(path_words(path)))
        made.add_text("stems", words)
        made.add_text(place_field("stems", "title"), words)
        return made


def _tokens(tokenizer: apsw.FTS5Tokenizer, text: str) -> list[str]:
    tokens: Any = tokenizer(
        text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return list(tokens) if len(text) <= LONGEST else [token for token in tokens if len(token) <= LONGEST]
