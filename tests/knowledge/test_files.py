"""Small files that others read while they are replaced or removed, which Windows refuses for that moment."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import quintet
from knowledge.answers import ids
from quintet.errors import StoreError
from quintet.knowledge import KnowledgeBase, files

Refusing = Callable[[str, int], None]


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Refusing:
    """Lets a method of paths be refused so many times."""
    monkeypatch.setattr(files, "WAITS", (0.0, 0.0))

    def refuse(method: str, times: int) -> None:
        plain, left = getattr(Path, method), [PermissionError(13, "Access is denied")] * times

        def refused(self: Path, *given: Any, **named: Any) -> Any:
            if left:
                raise left.pop()
            return plain(self, *given, **named)

        monkeypatch.setattr(Path, method, refused)

    return refuse


@pytest.mark.parametrize("method", ["replace", "read_text"])
def test_a_file_that_is_in_use_for_a_moment_is_waited_for(
    index: quintet.Index, base: KnowledgeBase, refusing: Refusing, method: str
) -> None:
    refusing(method, 2)
    index.knowledge.archive("docs")
    assert [one["archived"] for one in index.knowledge.list()] == [True]


def test_a_file_that_stays_in_use_is_a_fault(
    index: quintet.Index, base: KnowledgeBase, refusing: Refusing
) -> None:
    refusing("replace", 3)
    with pytest.raises(StoreError, match="cannot be written: Access is denied"):
        index.knowledge.archive("docs")
    assert [one["archived"] for one in index.knowledge.list()] == [False]


def test_an_original_that_is_being_read_goes_with_the_next_write(
    tmp_path: Path, base: KnowledgeBase, refusing: Refusing
) -> None:
    originals = tmp_path / ".quintet" / "knowledge" / "docs" / "files"
    base.put("a word", id="one")
    base.put("another word", id="two")
    refusing("unlink", 1)
    base.delete("one")
    assert (ids(base.search("word")), len(list(originals.iterdir()))) == (["two"], 2)
    base.delete("two")
    assert list(originals.iterdir()) == []


def test_the_record_of_an_old_run_that_is_being_read_stops_no_new_one(
    tmp_path: Path, base: KnowledgeBase, refusing: Refusing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quintet.knowledge.runs.KEPT_RUNS", 2)
    (tmp_path / "papers").mkdir()
    source = str(base.add_source("papers")["id"])
    for _ in range(2):
        base.sync_source(source)
    refusing("unlink", 1)
    base.sync_source(source)
    assert [run.state for run in base.runs()] == ["done"] * 3
    base.sync_source(source)
    assert len(base.runs()) == 2
