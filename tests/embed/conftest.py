from collections.abc import Iterator

import pytest

from quintet.embed.local import LocalEmbedder
from quintet.embed.models import local_embedder


@pytest.fixture(scope="session")
def granite() -> LocalEmbedder:
    """In this process only, loaded once."""
    return local_embedder("granite", processes=1)


@pytest.fixture(scope="session")
def older_granite() -> LocalEmbedder:
    """The way in which indexes were embedded before."""
    return local_embedder("granite-1", processes=1)


@pytest.fixture
def two_processes() -> Iterator[LocalEmbedder]:
    embedder = local_embedder("granite", processes=2)
    yield embedder
    embedder.close()
