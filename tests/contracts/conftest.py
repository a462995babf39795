"""Libraries that are closed when the test is over."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

import quintet
from contracts.fixed import build


class Library(Protocol):
    def __call__(
        self, files: dict[str, str], vectors: Any = None, modified_ms: Any = None
    ) -> quintet.Index: ...


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """Makes an index over files given as text; see `fixed.build`."""
    made: list[quintet.Index] = []

    def make(files: dict[str, str], vectors: Any = None, modified_ms: Any = None) -> quintet.Index:
        made.append(build(tmp_path / str(len(made)), files, vectors, modified_ms))
        return made[-1]

    yield make
    for index in made:
        index.close()
