"""A small project with a memory, a clock that is turned by hand, and no model."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import quintet
from quintet.memory import Memory

sys.path.append(str(Path(__file__).parents[1] / "mcp"))

FILES = {
    "src/cache.py": "TTL = 300\n\n\nclass Cache:\n    def get(self, key):\n        return key\n\n\n"
    "def clear():\n    pass\n",
    "src/store.py": "def clear():\n    return 1\n",
    "docs/cache.md": "# Caching\n\nThe cache keeps answers for five minutes.\n",
}
START_MS = 1_700_000_000_000


class Clock:
    """Moves on by a millisecond with each look, or by hand."""

    def __init__(self) -> None:
        self.ms = START_MS

    def __call__(self) -> int:
        self.ms += 1
        return self.ms * 1_000_000


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project as the current folder, not indexed yet."""
    folder = tmp_path / "project"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def index(project: Path, clock: Clock) -> Iterator[quintet.Index]:
    with quintet.open(project / ".quintet", "hashing", clock_ns=clock) as opened:
        opened.sync([project])
        yield opened


@pytest.fixture
def memory(index: quintet.Index) -> Memory:
    return index.memory
