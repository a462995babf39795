"""A document is found by its path however a system separates and spells it."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import quintet
from quintet.memory import about_names
from quintet.query import places

DECOMPOSED = "cafe\u0301"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[quintet.Index]:
    folder = tmp_path / "notes" / DECOMPOSED
    folder.mkdir(parents=True)
    (folder / "menu.md").write_text("# Menu\n\na word\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    with quintet.open(tmp_path / ".quintet", "hashing") as opened:
        opened.sync(["notes"])
        yield opened


@pytest.mark.parametrize(
    "reference",
    [f"notes/{DECOMPOSED}/menu.md", f"{DECOMPOSED}/menu.md:1-3", "notes/caf\u00e9", "caf\u00e9/menu.md"],
)
def test_a_path_may_be_composed_or_not(index: quintet.Index, reference: str) -> None:
    assert [one.document.path for one in index.get(reference)] == ["caf\u00e9/menu.md"]


@pytest.mark.parametrize("reference", ["notes\\caf\u00e9\\menu.md", "caf\u00e9\\menu.md:1-3", "caf\u00e9\\"])
def test_a_path_may_be_written_as_the_system_writes_it(
    index: quintet.Index, monkeypatch: pytest.MonkeyPatch, reference: str
) -> None:
    monkeypatch.setattr(places, "as_indexed", partial(places.as_indexed, separator="\\"))
    assert [one.document.path for one in index.get(reference)] == ["caf\u00e9/menu.md"]


def test_a_memory_is_about_a_file_however_its_path_is_written(
    index: quintet.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (places, about_names):
        monkeypatch.setattr(module, "as_indexed", partial(places.as_indexed, separator="\\"))
    kept = index.memory.remember("the soup is good", about=[f"{DECOMPOSED}\\menu.md"])
    told: Any = index.memory.get(kept.id)["about"]
    (about,) = told
    assert (about["root"], about["path"]) == ("notes", "caf\u00e9/menu.md")
