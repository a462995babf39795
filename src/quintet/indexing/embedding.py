"""Embed the texts that have no vector yet, batch by batch. The next run continues an interrupted one."""

from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial

import numpy as np

from quintet.errors import Conflict
from quintet.indexing.run import IndexRun
from quintet.model.results import Note
from quintet.model.vector import Int16, quantise
from quintet.ports.reading import Embedder

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
    if total:
        run.progress("embed", 0, total)  # from here on, all text is searchable
    english_only = getattr(embedder, "english_only", False)
    text_count, foreign = 0, 0
    pending = _Pending(run, replacing)
    try:
        with closing(pending), closing(_vectors(embedder, pending.batches())) as answers:
            for vectors in answers:
                texts = pending.add(vectors)
                if english_only:
                    text_count += len(texts)
                    foreign += sum(map(is_foreign, texts))
                run.progress("embed", pending.done, total)
            if pending.add_duplicates():
                run.progress("embed", pending.done, total)
    except KeyboardInterrupt:  # it may have come before the last vectors were reported
        run.progress("embed", pending.done, total)
        raise
    if 2 * foreign > text_count:
        run.report.notes.append(_not_english(embedder.identity))
    return pending.done


def _vectors(embedder: Embedder, batches: Iterable[list[str]]) -> Generator[Int16]:
    """The vectors of each batch. An embedder may work ahead if it has `embed_batches`."""
    embed = getattr(embedder, "embed_batches", partial(map, embedder.embed_documents))
    for vectors in embed(batches):
        yield quantise(vectors)


class _Pending:
    """The texts without a vector, batch by batch, and vectors that are committed together, at the latest on
    close."""

    def __init__(self, run: IndexRun, replacing: bool) -> None:
        self.done = 0  # chunks
        self._writer, self._batch = run.writer, run.settings.embed_batch
        self._replacing = replacing
        self._requested: deque[tuple[int, dict[bytes, str]]] = deque()  # chunks, and texts by key
        self._vectors: dict[bytes, Int16] = {}
        self._uncommitted: set[bytes] = set()  # keys of what is requested or waits for a commit

    def batches(self) -> Iterator[list[str]]:
        """Texts to embed, each once. They are read as they are needed, and `add` takes their vectors."""
        after, chunks = 0, 0
        while rows := self._writer.vectors.pending(after, self._batch, replacing=self._replacing):
            after = rows[-1][0]
            chunks += len(rows)
            texts = {key: text for _, key, text in rows if key not in self._uncommitted}
            if texts:
                self._requested.append((chunks, texts))
                self._uncommitted.update(texts)
                chunks = 0
                yield list(texts.values())
        self._requested.append((chunks, {}))

    def add(self, vectors: Int16) -> Collection[str]:
        """Take the vectors of the oldest batch; returns its texts."""
        chunks, texts = self._requested.popleft()
        self._vectors.update(zip(texts, vectors, strict=True))
        self.done += chunks
        if len(self._vectors) >= min(self.done // UNCOMMITTED_PART, MAX_UNCOMMITTED):
            self._write()
        return texts.values()

    def add_duplicates(self) -> int:
        """Count the last chunks if all their texts came before; returns how many they are."""
        chunks, _ = self._requested.popleft()
        self.done += chunks
        return chunks

    def _write(self) -> None:
        if self._vectors:
            with self._writer.batch():
                matrix = np.stack(list(self._vectors.values()))
                self._writer.vectors.put(list(self._vectors), matrix, replacing=self._replacing)
        self._uncommitted.difference_update(self._vectors)
        self._vectors = {}

    close = _write


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
