"""Embed with a server that has an OpenAI-compatible `/v1/embeddings`. Text leaves the machine only here."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from time import sleep
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from quintet.embed.http import Endpoint
from quintet.errors import StoreError, UsageError

URL, MODEL, KEY = "QUINTET_REMOTE_URL", "QUINTET_REMOTE_MODEL", "QUINTET_REMOTE_KEY"
DIMENSIONS = "QUINTET_REMOTE_DIMENSIONS"
BATCH_TEXTS = 64
BATCH_BYTES = 256 * 1024  # of text in one request; a longer text is sent alone
PROBE = "dimensions"  # any text: its vector has the dimensions of the model
MAX_DIMENSIONS = 65_536
Float64 = npt.NDArray[np.float64]


class RemoteEmbedder:
    """Requests vectors in batches. If the dimensions are not given, a short request finds them."""

    kind = "remote"
    canonical = False

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        dimensions: int | None = None,
        sleep: Callable[[float], None] = sleep,
    ) -> None:
        if not model.strip():
            raise UsageError(f"the name of the remote model is empty; set {MODEL}")
        self._model = model
        self._requested_dimensions = dimensions
        self._endpoint = Endpoint(_address(url), key, sleep)

    @classmethod
    def from_environment(cls) -> "RemoteEmbedder":
        url, model = os.environ.get(URL, ""), os.environ.get(MODEL, "")
        if not url or not model:
            raise UsageError(f"the remote embedder needs {URL} and {MODEL} in the environment")
        return cls(url, model, os.environ.get(KEY) or None, _dimensions(os.environ.get(DIMENSIONS)))

    @cached_property
    def dimensions(self) -> int:
        if self._requested_dimensions is not None:
            return self._requested_dimensions
        return len(self._request([PROBE])[0])

    @property
    def identity(self) -> str:
        return f"remote:{self._model}:{self.dimensions}"

    def embed_documents(self, texts: Sequence[str]) -> Float64:
        vectors = np.empty((len(texts), self.dimensions))
        for rows in batches(texts):
            vectors[rows] = self._check_dimensions(self._request(texts[rows]))
        return vectors

    def embed_query(self, text: str) -> Float64 | None:
        return np.asarray(self.embed_documents([text])[0])

    def _request(self, texts: Sequence[str]) -> list[list[float]]:
        # Servers reject empty input and lone surrogates; a space replaces empty text.
        inputs = [text.encode("utf-8", "replace").decode() or " " for text in texts]
        body: dict[str, object] = {"model": self._model, "input": inputs, "encoding_format": "float"}
        if self._requested_dimensions is not None:
            body["dimensions"] = self._requested_dimensions
        return _vectors(self._endpoint.post(body), len(texts))

    def _check_dimensions(self, vectors: list[list[float]]) -> list[list[float]]:
        for vector in vectors:
            if len(vector) != self.dimensions:
                raise StoreError(
                    f"the embedding server returned {len(vector)} dimensions instead of {self.dimensions};"
                    f" check {DIMENSIONS} and {MODEL}"
                )
        return vectors


def batches(texts: Sequence[str]) -> Iterator[slice]:
    """Neighbouring texts, at most BATCH_TEXTS and BATCH_BYTES together."""
    start, size = 0, 0
    for at, text in enumerate(texts):
        length = len(text.encode("utf-8", "replace"))
        if at > start and (at - start == BATCH_TEXTS or size + length > BATCH_BYTES):
            yield slice(start, at)
            start, size = at, 0
        size += length
    if start < len(texts):
        yield slice(start, len(texts))


def _address(url: str) -> str:
    """The full address of the service. The base URL may end in `/v1` or not."""
    try:
        parts = urlsplit(url.strip())
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
        _ = parts.port
    except ValueError:
        valid = False
    if not valid:
        raise UsageError(
            f"{URL} must be an http or https address without a user name, such as https://host/v1"
        )
    base = url.strip().rstrip("/")
    if base.endswith("/embeddings"):
        return base
    return base + ("/embeddings" if base.endswith("/v1") else "/v1/embeddings")


def _dimensions(text: str | None) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_DIMENSIONS):
        raise UsageError(f"{DIMENSIONS} is {text!r}; it must be a number from 1 to {MAX_DIMENSIONS}")
    return int(text)


def _vectors(answer: object, count: int) -> list[list[float]]:
    """The vectors in the order of the texts, by the `index` of each item."""
    try:
        items = {int(item["index"]): item["embedding"] for item in answer["data"]}  # type: ignore[index]
        vectors = [[float(value) for value in items[at]] for at in range(count)]
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"the embedding server did not return {count} embeddings: {type(error).__name__}: {error}"
        ) from error
    if len(items) != count or not all(vectors):
        raise StoreError(f"the embedding server returned {len(items)} embeddings instead of {count}")
    return vectors
