"""The embedder's suite, and a fake whose vectors are written down."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from quintet.model.vector import quantise
from quintet.ports.reading import Embedder


class FixedEmbedder:
    """Vectors by the text they are for; any other text is the zero vector."""

    kind = "custom"

    def __init__(
        self, vectors: Mapping[str, Sequence[float]], dimensions: int, identity: str = "fixed"
    ) -> None:
        self._vectors = dict(vectors)
        self.dimensions = dimensions
        self.identity = identity

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.generic]:
        zero = [0.0] * self.dimensions
        rows = [list(self._vectors.get(text, zero)) for text in texts]
        return np.array(rows, np.float64).reshape(len(texts), self.dimensions)

    def embed_query(self, text: str) -> npt.NDArray[np.generic] | None:
        return np.asarray(self.embed_documents([text])[0])


class EmbedderSuite:
    """Subclass and define `build`."""

    TEXTS = ("a cache keeps what was computed", "", "   ", "検索エンジン", "x" * 5000, "emoji 😀", "\ud800")

    def build(self) -> Embedder:
        raise NotImplementedError

    def test_it_has_a_name_and_a_size(self) -> None:
        embedder = self.build()
        assert isinstance(embedder.identity, str)
        assert embedder.identity.strip()
        assert embedder.dimensions >= 1

    def test_documents_give_one_vector_each_whatever_they_hold(self) -> None:
        embedder = self.build()
        vectors = quantise(embedder.embed_documents(self.TEXTS))
        assert vectors.shape == (len(self.TEXTS), embedder.dimensions)

    def test_no_documents_give_no_vectors(self) -> None:
        assert len(self.build().embed_documents([])) == 0

    def test_a_vector_does_not_depend_on_its_company(self) -> None:
        embedder = self.build()
        together = quantise(embedder.embed_documents(self.TEXTS))
        alone = [quantise(embedder.embed_documents([text]))[0] for text in self.TEXTS]
        assert all(np.array_equal(vector, own) for vector, own in zip(together, alone, strict=True))

    def test_a_query_gives_a_vector_of_the_same_size_or_none(self) -> None:
        embedder = self.build()
        for text in self.TEXTS:
            vector = embedder.embed_query(text)
            assert vector is None or np.shape(vector) == (embedder.dimensions,)
