"""Embed with a model on this machine: tokens, windows, batches, and as many processes as cores."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from threading import Event
from typing import TYPE_CHECKING, Protocol

import numpy as np

from quintet.embed.canonical.encoder import unit_int16
from quintet.embed.canonical.weights import Weights
from quintet.embed.tokens import TextFormat, TokenWindows
from quintet.errors import StoreError
from quintet.model.vector import Int16

if TYPE_CHECKING:
    from quintet.embed.pool import EmbeddingPool

BATCH_TOKENS = 1024  # enough for fast matrix products; more gains nothing
DIMENSIONS = 384  # of granite and minilm
PARALLEL_TEXTS = 64  # fewer texts are embedded before a second process has loaded the model


class Encoder(Protocol):
    """The forward pass of a model: from token ids to int16 vectors of unit length."""

    def encode(self, sequences: Sequence[Sequence[int]]) -> Int16: ...


class LocalEmbedder:
    """A canonical model, loaded on first use. `name` is that of a known model, or the path of a folder.

    Text longer than the window of the model is cut into windows, and its vector is the sum of theirs, scaled
    to unit length. No text is left out.
    """

    kind = "canonical"
    canonical = True

    def __init__(
        self,
        name: str,
        identity: str,
        load: Callable[[], Weights],
        encoder: Callable[[Weights], Encoder],
        form: TextFormat,
        processes: int | None = None,
        *,
        dimensions: int = DIMENSIONS,
        english_only: bool = True,
    ) -> None:
        self.name = name
        self.identity = identity
        self.dimensions, self.english_only = dimensions, english_only
        self._load, self._encoder = load, encoder
        self._form = form
        self._processes = processes or os.cpu_count() or 1
        self._pool: EmbeddingPool | None = None
        self._stopped = Event()

    @cached_property
    def _model(self) -> tuple[Encoder, TokenWindows]:
        weights = self._load()
        return self._encoder(weights), TokenWindows(weights.tokenizer, self._form, len(weights.words))

    def embed_query(self, text: str) -> Int16 | None:
        (vector,) = self._embed([self.windows(text, self._form.query_prompt)])
        return np.asarray(vector)

    def embed_documents(self, texts: Sequence[str]) -> Int16:
        (vectors,) = self.embed_batches([texts])
        return vectors

    def embed_batches(self, batches: Iterable[Sequence[str]]) -> Iterator[Int16]:
        """The vectors of each batch, in order. Several processes work ahead while the caller uses a batch.
        Raises StoreError `stopping` once `stop` was called, perhaps by another thread."""
        rest = iter(batches)
        first: list[Sequence[str]] = []
        while sum(map(len, first)) < PARALLEL_TEXTS and (batch := next(rest, None)) is not None:
            first.append(batch)
        every = chain(first, rest)
        if self._processes > 1 and sum(map(len, first)) >= PARALLEL_TEXTS:
            return self._start_pool().embed(every)
        return (self.embed_here(batch, self.check_stopped) for batch in every)

    def _start_pool(self) -> "EmbeddingPool":
        self.check_stopped()
        if self._pool is not None and self._pool.closed:  # by a signal
            self.close()
        if self._pool is None:
            from quintet.embed.pool import EmbeddingPool

            self._pool = EmbeddingPool(self, self._processes)
        return self._pool

    def embed_here(self, texts: Sequence[str], check: Callable[[], None] = lambda: None) -> Int16:
        """Embed passages in this process. A vector does not depend on the other texts of the call. `check` is
        called before each batch, and may raise."""
        return self._embed([self.windows(text, self._form.passage_prompt) for text in texts], check)

    def _embed(
        self, windows_of: Sequence[list[list[int]]], check: Callable[[], None] = lambda: None
    ) -> Int16:
        windows = [window for text_windows in windows_of for window in text_windows]
        owners = [owner for owner, text_windows in enumerate(windows_of) for _ in text_windows]
        vectors = _encode(self._model[0], windows, self.dimensions, check)
        return _merge_windows(vectors, owners, len(windows_of))

    def windows(self, text: str, prompt: str = "") -> list[list[int]]:
        """The token ids of each window, between the special tokens of the model."""
        return self._model[1](text, prompt)

    def stop(self) -> None:
        """Give up what is being embedded, and embed no more documents. Queries are embedded as before."""
        self._stopped.set()
        if self._pool is not None:
            self._pool.kill()

    def check_stopped(self) -> None:
        if self._stopped.is_set():
            raise StoreError("embedding was stopped; the next run embeds the rest", code="stopping")

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None


def _encode(
    encoder: Encoder, windows: Sequence[Sequence[int]], dimensions: int, check: Callable[[], None]
) -> Int16:
    """Encode the windows in batches of similar length."""
    order = sorted(range(len(windows)), key=lambda window: len(windows[window]))
    vectors = np.empty((len(windows), dimensions), np.int16)
    for batch in _batches(order, windows):
        check()
        vectors[batch] = encoder.encode([windows[window] for window in batch])
    return vectors


def _batches(order: Sequence[int], windows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    batch: list[int] = []
    tokens = 0
    for window in order:
        if batch and tokens + len(windows[window]) > BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(window)
        tokens += len(windows[window])
    if batch:
        yield batch


def _merge_windows(vectors: Int16, owners: Sequence[int], count: int) -> Int16:
    """One vector per text: that of its only window, or the sum of several at unit length."""
    if len(owners) == count:
        return vectors
    sums = np.zeros((count, vectors.shape[1]), np.int64)
    np.add.at(sums, np.asarray(owners), vectors.astype(np.int64))
    single = np.bincount(owners, minlength=count) == 1
    merged = unit_int16(sums)
    first = np.searchsorted(owners, np.flatnonzero(single))
    merged[single] = vectors[first]
    return merged
