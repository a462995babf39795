"""Vectors for text that has none, batch by batch: an interrupted run goes on where it was."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np

from quintet.errors import Conflict
from quintet.indexing.run import IndexRun
from quintet.model.results import Note
from quintet.model.vector import Int16, quantise
from quintet.ports.reading import Embedder
from quintet.ports.writing import Writer

SMALL_WORDS = """
    a an and are as at be but by for from has in is it not of on or that the this to was with
"""
ENGLISH = frozenset(SMALL_WORDS.split())
ENGLISH_SHARE = 0.12  # of the words of English prose far more are in that list; of other languages', few
SAMPLE_WORDS = 30  # a text with fewer says little about its language
# Vectors wait for others to be committed with: a commit writes pages all over the index of their keys. What a
# kill can cost is a part of what the run had embedded, and never more than so many.
WAITING_PART, MOST_WAITING = 8, 4_096


def check_embedder(embedder: Embedder | None, stored: str | None) -> None:
    if embedder is not None and stored is not None and embedder.identity != stored:
        raise Conflict(
            f"this index was embedded with {stored!r}, not {embedder.identity!r}; "
            "open it with that embedder, or make its vectors anew: 'quintet index --reembed --embedder NAME'"
        )


def embed_pending(run: IndexRun, embedder: Embedder, stored: str | None) -> int:
    """Embed what has no vector yet; how many texts that were."""
    if stored is None:
        with run.writer.batch():
            run.writer.use_embedder(embedder.identity, embedder.dimensions)
    return _embed(run, embedder, replacing=False)


def reembed(run: IndexRun, embedder: Embedder) -> int:
    """Make every vector anew. The old ones serve until the last new one is there."""
    with run.writer.batch():
        run.writer.begin_replacement(embedder.identity)
    count = _embed(run, embedder, replacing=True)
    with run.writer.batch():
        run.writer.finish_replacement(embedder.identity, embedder.dimensions)
    return count


def _embed(run: IndexRun, embedder: Embedder, *, replacing: bool) -> int:
    total = run.writer.count_pending(replacing=replacing)
    english_only = getattr(embedder, "english_only", False)
    done, texts_seen, foreign = 0, 0, 0
    with closing(_VectorBatch(run.writer, replacing)) as waiting:  # what progress told is kept
        for rows in _pending(run, replacing):
            texts = {key: text for _, key, text in rows if key not in waiting.vectors}
            if texts:
                vectors = quantise(embedder.embed_documents(list(texts.values())))
                waiting.vectors.update(zip(texts, vectors, strict=True))
            done += len(rows)
            if len(waiting.vectors) >= min(done // WAITING_PART, MOST_WAITING):
                waiting.write()
            if english_only:
                texts_seen += len(texts)
                foreign += sum(map(is_foreign, texts.values()))
            run.progress("embed", done, total)
    if 2 * foreign > texts_seen:
        run.report.notes.append(_not_english(embedder.identity))
    return done


def _pending(run: IndexRun, replacing: bool) -> Iterator[list[tuple[int, bytes, str]]]:
    after = 0
    while rows := run.writer.pending(after, run.settings.embed_batch, replacing=replacing):
        yield rows
        after = rows[-1][0]


class _VectorBatch:
    """Vectors that are committed together, at the latest when it is closed."""

    def __init__(self, writer: Writer, replacing: bool) -> None:
        self.vectors: dict[bytes, Int16] = {}
        self._writer = writer
        self._replacing = replacing

    def write(self) -> None:
        if self.vectors:
            with self._writer.batch():
                together = np.stack(list(self.vectors.values()))
                self._writer.put_vectors(list(self.vectors), together, replacing=self._replacing)
        self.vectors = {}

    close = write


def is_foreign(text: str) -> bool:
    """Is this prose in another language than English, as far as its letters and small words tell?"""
    letters = [char for char in text if char.isalpha()]
    if sum(not char.isascii() for char in letters) * 2 > len(letters):
        return bool(letters)
    words = text.lower().split()
    known = sum(word.strip(".,;:!?()\"'") in ENGLISH for word in words)
    prose = sum(word.isalpha() for word in words) * 2 > len(words)
    return prose and len(words) >= SAMPLE_WORDS and known < ENGLISH_SHARE * len(words)


def _not_english(identity: str) -> Note:
    message = (
        f"most of the text is not English, which {identity} was made for; text search works as ever, "
        "and a multilingual model can be used through '--embedder remote'"
    )
    return {"code": "not_english", "message": message}
