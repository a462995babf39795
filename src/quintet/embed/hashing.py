"""Vectors without a model: words are hashed to directions. For tests and for use without weights."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

WORD = re.compile(r"\w+")
PREFIX = 5  # letters that a word shares with its inflections


class HashingEmbedder:
    """Counts hashed words and word prefixes. The result is the same on every machine."""

    kind = "hashing"
    canonical = False
    dimensions = 384
    identity = "hash-384"

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.generic]:
        return np.array([self._counts(text) for text in texts], np.float64).reshape(-1, self.dimensions)

    def embed_query(self, text: str) -> npt.NDArray[np.generic] | None:
        return np.array(self._counts(text), np.float64)

    def _counts(self, text: str) -> list[int]:
        counts = [0] * self.dimensions
        for word in WORD.findall(unicodedata.normalize("NFKC", text).lower()):
            for place, sign in _directions(word):
                counts[place] += sign
        return counts


@lru_cache(maxsize=1 << 18)
def _directions(word: str) -> tuple[tuple[int, int], ...]:
    """The whole word has twice the weight of its prefix."""
    return (_direction("word " + word, 2), _direction("begins " + word[:PREFIX], 1))


def _direction(feature: str, weight: int) -> tuple[int, int]:
    value = int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    return (value >> 1) % HashingEmbedder.dimensions, weight if value & 1 else -weight
