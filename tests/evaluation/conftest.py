"""Collections to read and to break."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.drinks import write_collection


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    return write_collection(tmp_path / "drinks")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Writes a file into a collection of its own."""
    folder = write_collection(tmp_path / "changed")

    def put(name: str, content: str | bytes) -> Path:
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)
        return folder

    return put
