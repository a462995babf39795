"""What a run was told holds for later runs that are told nothing."""

from pathlib import Path
from typing import Any

import pytest

import quintet
from quintet.errors import Conflict, UsageError
from quintet.testing.embedder import FixedEmbedder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a.md", "b.txt", "c.log"):
        (folder / name).write_text(f"words of {name}", "utf-8")
    return folder


def files(index: quintet.Index) -> int:
    return index.status().files


def test_globs_given_as_arguments_stay_with_the_index(folder: Path, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", embedder=None, exclude=["*.log"]) as index:
        index.sync([folder])
    with quintet.open(tmp_path / "index", embedder=None) as index:
        assert index.status().lag.added == 0
        assert index.sync().indexed == 0
        assert files(index) == 2


def test_other_globs_replace_them_and_an_empty_list_takes_them_back(folder: Path, tmp_path: Path) -> None:
    for globs, count in ((["*.md"], 1), (["*.md", "*.txt"], 2), ([], 3)):
        with quintet.open(tmp_path / "index", embedder=None, include=globs) as index:
            index.sync([folder])
            assert files(index) == count


def test_globs_of_the_settings_file_are_not_kept(folder: Path, tmp_path: Path) -> None:
    settings = tmp_path / "quintet.toml"
    settings.write_text('include = ["*.md"]', "utf-8")
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([folder])
        assert files(index) == 1
    settings.unlink()
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync()
        assert files(index) == 3


def test_once_they_are_taken_back_the_settings_file_holds_again(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "quintet.toml").write_text('exclude = ["*.md"]', "utf-8")
    steps = ((["*.log"], {"a.md", "b.txt"}), ([""], {"b.txt", "c.log"}), (None, {"b.txt", "c.log"}))
    for exclude, indexed in steps:
        with quintet.open(tmp_path / "index", embedder=None, exclude=exclude) as index:
            index.sync([folder])
            found: Any = index.search("words", mode="lexical").body["results"]
            assert {one["path"] for one in found} == indexed


def test_an_index_of_text_only_stays_one(folder: Path, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([folder])
    with quintet.open(tmp_path / "index") as index:
        assert index.embedder is None
        report = index.sync()
        assert (report.embedded, report.pending) == (0, 0)


def test_an_index_of_text_only_takes_an_embedder_that_is_named(folder: Path, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([folder])
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        assert index.sync().embedded == 3
    with quintet.open(tmp_path / "index") as index:
        assert index.embedder is not None
        assert index.embedder.identity == "hash-384"


def test_the_embedder_of_a_run_without_vectors_makes_them_later(folder: Path, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([folder], embed=False)
    with quintet.open(tmp_path / "index") as index:
        assert index.sync().embedded == 3
        assert index.status().embedder == "hash-384"


def test_another_embedder_may_be_named_as_long_as_there_are_no_vectors(folder: Path, tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", embedder=FixedEmbedder({}, 4)) as index:
        index.sync([folder], embed=False)
    with quintet.open(tmp_path / "index") as index, pytest.raises(Conflict, match="cannot load by itself"):
        index.sync()
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        assert index.sync().embedded == 3


def test_a_table_for_an_unknown_contract_is_refused(tmp_path: Path) -> None:
    (tmp_path / "quintet.toml").write_text("[contracts.nosuch]\ntop_k = 3\n", "utf-8")
    with pytest.raises(UsageError, match="nosuch"):
        quintet.open(tmp_path / "index", embedder=None)


def test_an_error_says_where_its_value_is_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "quintet.toml").write_text("[contracts.cfs]\ntop_k = 'x'\n", "utf-8")
    with pytest.raises(UsageError, match=r"^\[contracts\.cfs\] of quintet\.toml: top_k is 'x'"):
        quintet.open(tmp_path / "index", embedder=None)
    (tmp_path / "quintet.toml").write_text("max_terms = 0\n", "utf-8")
    with pytest.raises(UsageError, match=r"max_terms in .*quintet\.toml is 0"):
        quintet.open(tmp_path / "index", embedder=None)
    monkeypatch.setenv("QUINTET_MAX_TERMS", "-1")
    (tmp_path / "quintet.toml").unlink()
    with pytest.raises(UsageError, match="max_terms in the environment is -1"):
        quintet.open(tmp_path / "index", embedder=None)


@pytest.mark.parametrize("text", ["contracts = 5", "retrieval = 5", "[contracts]\nrifflux = 1"])
def test_a_table_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "quintet.toml").write_text(text, "utf-8")
    with pytest.raises(UsageError, match="tables"):
        quintet.open(tmp_path / "index", embedder=None)
