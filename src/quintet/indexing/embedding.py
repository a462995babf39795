"""Embed the texts that have no vector yet, batch by batch. The next run continues an interrupted one."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np

from quintet.errors import Conflict
from quintet.indexing.run import IndexRun
from quintet.model.results import Note
from quintet.model.vector import Int16, quantise
from quintet.ports.reading import Embedder
from quintet.ports.writing import Writer

ENGLISH_WORDS = """
    a an and are as at be but by for from has in is it not of on or that the this to was with
"""
ENGLISH = frozenset(ENGLISH_WORDS.split())
ENGLISH_SHARE = 0.12  # far more words of English prose are in that list, and few of other languages
SAMPLE_WORDS = 30  # a shorter text says little about its language
# Vectors are committed in large groups, because each commit writes pages all over the index of their keys.
# A kill loses about one eighth of what the run has embedded, and never more than 4,096 vectors.
UNCOMMITTED_PART, MAX_UNCOMMITTED = 8, 4_096


def check_embedder(embedder: Embedder | None, stored: str | None) -> None:
    if embedder is not None and stored is not None and embedder.identity != stored:
        raise Conflict(
            f"this index was embedded with {stored!r}, not {embedder.identity!r}; "
            "open it with that embedder, or replace all vectors: 'quintet index --reembed --embedder NAME'"
        )


def embed_pending(run: IndexRun, embedder: Embedder, stored: str | None) -> int:
    """Embed the texts that have no vector yet; returns how many chunks they belong to."""
    if stored is None:
        with run.writer.batch():
            run.writer.vectors.use_embedder(embedder.identity, embedder.dimensions)
    return _embed(run, embedder, replacing=False)


def reembed(run: IndexRun, embedder: Embedder) -> int:
    """Replace every vector. Searches use the old vectors until all new ones are written."""
    with run.writer.batch():
        run.writer.vectors.begin_replacement(embedder.identity)
    count = _embed(run, embedder, replacing=True)
    with run.writer.batch():
        run.writer.vectors.finish_replacement(embedder.identity, embedder.dimensions)
    return count


def _embed(run: IndexRun, embedder: Embedder, *, replacing: bool) -> int:
    total = run.writer.vectors.count_pending(replacing=replacing)
    english_only = getattr(embedder, "english_only", False)
    done, text_count, foreign = 0, 0, 0
    with closing(_VectorBatch(run.writer, replacing)) as batch:  # writes what was reported as progress
        for rows in _pending(run, replacing):
            texts = {key: text for _, key, text in rows if key not in batch.vectors}
            if texts:
                vectors = quantise(embedder.embed_documents(list(texts.values())))
                batch.vectors.update(zip(texts, vectors, strict=True))
            done += len(rows)
            if len(batch.vectors) >= min(done // UNCOMMITTED_PART, MAX_UNCOMMITTED):
                batch.write()
            if english_only:
                text_count += len(texts)
                foreign += sum(map(is_foreign, texts.values()))
            run.progress("embed", done, total)
    if 2 * foreign > text_count:
        run.report.notes.append(_not_english(embedder.identity))
    return done


def _pending(run: IndexRun, replacing: bool) -> Iterator[list[tuple[int, bytes, str]]]:
    after = 0
    while rows := run.writer.vectors.pending(after, run.settings.embed_batch, replacing=replacing):
        yield rows
        after = rows[-1][0]


class _VectorBatch:
    """Vectors that are committed together, at the latest on close."""

    def __init__(self, writer: Writer, replacing: bool) -> None:
        self.vectors: dict[bytes, Int16] = {}
        self._writer = writer
        self._replacing = replacing

    def write(self) -> None:
        if self.vectors:
            with self._writer.batch():
                matrix = np.stack(list(self.vectors.values()))
                self._writer.vectors.put(list(self.vectors), matrix, replacing=self._replacing)
        self.vectors = {}

    close = write


def is_foreign(text: str) -> bool:
    """Is this prose in a language other than English, judging by its letters and common words?"""
    letters = [char for char in text if char.isalpha()]
    if sum(not char.isascii() for char in letters) * 2 > len(letters):
        return bool(letters)
    words = text.lower().split()
    known = sum(word.strip(".,;:!?()\"'") in ENGLISH for word in words)
    prose = sum(word.isalpha() for word in words) * 2 > len(words)
    return prose and len(words) >= SAMPLE_WORDS and known < ENGLISH_SHARE * len(words)


def _not_english(identity: str) -> Note:
    message = (
        f"most of the text is not English, and {identity} is an English model; text search is not affected, "
        "and '--embedder remote' can use a multilingual model"
    )
    return {"code": "not_english", "message": message}
