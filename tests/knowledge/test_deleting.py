"""A base is deleted while others look it up, read and write it: it is unknown, and nothing brings it back."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import quintet
from quintet.errors import NotFound, StoreError
from quintet.knowledge import KnowledgeBase, registry


@pytest.fixture
def other(index: quintet.Index, tmp_path: Path) -> Iterator[quintet.Index]:
    """The same index, opened once more, as by another process."""
    with quintet.open(tmp_path / ".quintet", "hashing") as opened:
        yield opened


def between(monkeypatch: pytest.MonkeyPatch, holder: Any, name: str, act: Callable[[], object]) -> None:
    """Let something happen once, right after the next call of that function."""
    real = getattr(holder, name)

    def followed(*given: Any, **more: Any) -> Any:
        found = real(*given, **more)
        monkeypatch.setattr(holder, name, real)
        act()
        return found

    monkeypatch.setattr(holder, name, followed)


def refused(ask: Callable[[], object]) -> str:
    with pytest.raises(NotFound) as error:
        ask()
    return error.value.code


def test_a_base_that_goes_while_it_is_looked_up_is_unknown_and_stays_gone(
    index: quintet.Index, base: KnowledgeBase, other: quintet.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.put("a word", id="one")
    between(monkeypatch, registry, "read", lambda: index.knowledge.delete("docs"))
    assert refused(lambda: other.knowledge.get("docs")) == "unknown_index"
    assert not (index.folder / "knowledge" / "docs").exists()
    assert other.knowledge.create("docs").documents() == []


def test_a_base_whose_database_is_lost_says_so_instead_of_being_empty(
    index: quintet.Index, base: KnowledgeBase, other: quintet.Index
) -> None:
    base.put("a word", id="one")
    (index.folder / "knowledge" / "docs" / "index.db").unlink()
    with pytest.raises(StoreError, match="missing; move it away and import the last export"):
        other.knowledge.get("docs")
    assert [one["state"] for one in other.knowledge.list()] == ["error"]
