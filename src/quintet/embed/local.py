"""Embed with a model on this machine: tokens, windows, batches, and as many processes as cores."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Protocol

import numpy as np

from quintet.embed.canonical.encoder import unit_int16
from quintet.embed.canonical.weights import Weights
from quintet.errors import StoreError
from quintet.model.vector import Int16

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from quintet.embed.pool import EmbeddingPool

BATCH_TOKENS = 1024  # enough for fast matrix products; more gains nothing
PARALLEL_TEXTS = 64  # fewer texts are embedded before a second process has loaded the model


class Encoder(Protocol):
    """The forward pass of a model: from token ids to int16 vectors of unit length."""

    def encode(self, sequences: Sequence[Sequence[int]]) -> Int16: ...


class LocalEmbedder:
    """A canonical model, loaded on first use.

    Text longer than the window of the model is cut into windows, and its vector is the sum of theirs, scaled
    to unit length. No text is left out.
    """

    kind = "canonical"
    canonical = True
    english_only = True
    dimensions = 384

    def __init__(
        self,
        name: str,
        identity: str,
        load: Callable[[], Weights],
        encoder: Callable[[Weights], Encoder],
        window: int,
        processes: int | None = None,
    ) -> None:
        self.name = name
        self.identity = identity
        self._load, self._encoder = load, encoder
        self._window = window
        self._processes = processes or os.cpu_count() or 1
        self._pool: EmbeddingPool | None = None
        self._stopped = Event()

    @cached_property
    def _model(self) -> "tuple[Encoder, Tokenizer]":
        from tokenizers import Tokenizer

        weights = self._load()
        tokenizer = Tokenizer.from_str(weights.tokenizer)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "<s>" in a text is three characters, not a special token
        return self._encoder(weights), tokenizer

    def embed_query(self, text: str) -> Int16 | None:
        (vector,) = self.embed_here([text])
        return np.asarray(vector)

    def embed_documents(self, texts: Sequence[str]) -> Int16:
        """Raises StoreError `stopping` once `stop` was called, perhaps by another thread."""
        if self._processes > 1 and len(texts) >= PARALLEL_TEXTS:
            return self._start_pool().embed(texts)
        return self.embed_here(texts, self.check_stopped)

    def _start_pool(self) -> "EmbeddingPool":
        if self._pool is None:
            from quintet.embed.pool import EmbeddingPool

            self._pool = EmbeddingPool(self, self._processes)
        return self._pool

    def embed_here(self, texts: Sequence[str], check: Callable[[], None] = lambda: None) -> Int16:
        """Embed in this process. A vector does not depend on the other texts of the call. `check` is called
        before each batch, and may raise."""
        windows_of = [self.windows(text) for text in texts]
        windows = [window for text_windows in windows_of for window in text_windows]
        owners = [owner for owner, text_windows in enumerate(windows_of) for _ in text_windows]
        return _merge_windows(_encode(self._model[0], windows, check), owners, len(texts))

    def windows(self, text: str) -> list[list[int]]:
        """The token ids of each window, between the special tokens of the model."""
        tokenizer = self._model[1]
        ids: list[int] = tokenizer.encode(_well_formed(text), add_special_tokens=False).ids
        first, last = tokenizer.encode("").ids
        room = self._window - 2
        return [[first, *ids[start : start + room], last] for start in range(0, max(len(ids), 1), room)]

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


def _well_formed(text: str) -> str:
    """Replaces lone surrogates, which no tokenizer can read."""
    return text.encode("utf-8", "replace").decode()


def _encode(encoder: Encoder, windows: Sequence[Sequence[int]], check: Callable[[], None]) -> Int16:
    """Encode the windows in batches of similar length."""
    order = sorted(range(len(windows)), key=lambda window: len(windows[window]))
    vectors = np.empty((len(windows), LocalEmbedder.dimensions), np.int16)
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
