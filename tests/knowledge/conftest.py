"""An index without a model, and a knowledge base in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import quintet
from quintet.knowledge import KnowledgeBase


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[quintet.Index]:
    monkeypatch.chdir(tmp_path)
    with quintet.open(tmp_path / ".quintet", "hashing") as opened:
        yield opened


@pytest.fixture
def base(index: quintet.Index) -> KnowledgeBase:
    return index.knowledge.create("docs", "Product docs", [{"name": "team", "type": "text"}])
