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


@pytest.fixture
def twins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[quintet.Index]:
    """Two roots. `code` has a folder with the name of the other root, and a file of the same path."""
    for name in ("docs/git/merge.md", "code/docs/git/merge.md", "code/git/merge.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# Merge\n\nmerging in {name}\n", "utf-8")
    with quintet.open(tmp_path / ".quintet", "hashing") as opened:
        opened.sync([tmp_path / "docs", tmp_path / "code"])
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        yield opened


def test_a_printed_path_means_the_document_it_was_printed_for(twins: quintet.Index) -> None:
    found = twins.search("merging", limit=3)
    places = [(item["root"], item["path"]) for item in found.body["results"]]
    assert len(places) == 3
    for root, path in places:
        (passage,) = twins.get(f"{root}/{path}:1-3")
        assert (passage.document.root, passage.document.path) == (root, path)


def test_every_document_that_an_ambiguous_path_lists_can_be_named_so(twins: quintet.Index) -> None:
    with pytest.raises(quintet.UsageError, match="matches 2 documents") as caught:
        twins.get("git/merge.md")
    listed = str(caught.value).split("(")[1].split(")")[0].split(", ")
    assert sorted(listed) == ["code/git/merge.md", "docs/git/merge.md"]
    assert [twins.get(name)[0].document.root for name in sorted(listed)] == ["code", "docs"]
