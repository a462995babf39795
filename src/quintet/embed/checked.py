"""Check the vectors that an embedder returns, and make them canonical."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from quintet.errors import QuintetError, StoreError, UsageError
from quintet.model.vector import Int16, quantise
from quintet.ports.reading import Embedder


class CheckedEmbedder:
    """Wraps an embedder: returns canonical int16 vectors, and raises our own errors for wrong shapes and for
    any exception of the embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.kind: str = getattr(embedder, "kind", "custom")
        self.canonical: bool = bool(getattr(embedder, "canonical", False))
        self.english_only: bool = bool(getattr(embedder, "english_only", False))
        if self.kind != "remote":  # a remote embedder may have to ask its server
            _ = self.identity, self.dimensions

    @cached_property
    def identity(self) -> str:
        identity = getattr(self._embedder, "identity", None)
        if not isinstance(identity, str) or not identity.strip():
            raise UsageError(f"the embedder's identity is {identity!r}; it must be a non-empty string")
        return identity

    @cached_property
    def dimensions(self) -> int:
        dimensions = getattr(self._embedder, "dimensions", None)
        if isinstance(dimensions, bool) or not isinstance(dimensions, int) or not 1 <= dimensions <= 65_536:
            raise UsageError(f"the embedder's dimensions are {dimensions!r}; they must be from 1 to 65536")
        return dimensions

    def embed_documents(self, texts: Sequence[str]) -> Int16:
        try:
            vectors = np.asarray(self._embedder.embed_documents(texts))
        except QuintetError:
            raise
        except Exception as error:
            raise self._failed(error) from error
        return self._canonical(vectors, (len(texts), self.dimensions))

    def embed_batches(self, batches: Iterable[Sequence[str]]) -> Iterator[Int16]:
        """The vectors of each batch, in order. An embedder that has this method may work ahead."""
        embed = getattr(self._embedder, "embed_batches", None)
        if embed is None:
            yield from map(self.embed_documents, batches)
            return
        lengths: deque[int] = deque()
        try:
            for vectors in embed(_measured(batches, lengths)):
                yield self._canonical(np.asarray(vectors), (lengths.popleft(), self.dimensions))
        except QuintetError:
            raise
        except Exception as error:
            raise self._failed(error) from error

    def embed_query(self, text: str) -> Int16 | None:
        try:
            vector = self._embedder.embed_query(text)
        except QuintetError:
            raise
        except Exception as error:
            raise self._failed(error) from error
        return None if vector is None else self._canonical(np.asarray(vector), (self.dimensions,))

    def stop(self) -> None:
        """Give up what is being embedded, if the embedder can."""
        stop = getattr(self._embedder, "stop", None)
        if callable(stop):
            stop()

    def close(self) -> None:
        """Close the embedder, if it can be closed."""
        close = getattr(self._embedder, "close", None)
        if callable(close):
            close()

    def _canonical(self, vectors: npt.NDArray[np.generic], shape: tuple[int, ...]) -> Int16:
        if vectors.shape != shape:
            raise StoreError(f"embedder {self.identity} returned shape {vectors.shape}; expected {shape}")
        if vectors.dtype.kind not in "iuf":
            raise StoreError(f"embedder {self.identity} returned {vectors.dtype}; expected real numbers")
        try:
            return quantise(vectors)
        except (TypeError, ValueError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> StoreError:
        return StoreError(f"embedder {self.identity} failed: {type(error).__name__}: {error}")


def _measured(batches: Iterable[Sequence[str]], lengths: deque[int]) -> Iterator[Sequence[str]]:
    for batch in batches:
        lengths.append(len(batch))
        yield batch
