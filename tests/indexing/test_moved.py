"""An index that is moved or copied with the folders beside it stays theirs."""

import shutil
from pathlib import Path

import pytest

import quintet


def locations(index: quintet.Index) -> dict[str, str]:
    return {root.name: root.location for root in index.roots()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package that calls itself by its folder's name, indexed where it lies."""
    project = tmp_path / "before"
    project.mkdir()
    (project / "__init__.py").write_text("", "utf-8")
    (project / "a.py").write_text("def target():\n    return 1\n", "utf-8")
    (project / "b.py").write_text("from after.a import target\n\n\ndef user():\n    target()\n", "utf-8")
    with quintet.open(project / ".quintet", None) as index:
        index.sync([project])
    return project


def test_a_project_that_is_renamed_is_indexed_where_it_is_now(project: Path) -> None:
    moved = project.rename(project.with_name("after"))
    (moved / "c.md").write_text("zebra", "utf-8")
    with quintet.open(moved / ".quintet") as index:
        assert locations(index) == {"before": str(moved)}
        report = index.sync()
        assert (report.indexed, report.skipped, report.problems) == (1, 3, [])
        assert index.status().lag.missing_roots == ()


def test_its_edges_are_those_of_its_new_name(project: Path) -> None:
    moved = project.rename(project.with_name("after"))
    with quintet.open(moved / ".quintet") as index:
        index.sync()
        ours = index.related("target", "callers")
    with quintet.open(project.parent / "anew", None) as index:
        index.sync([f"before={moved}"])
        assert index.related("target", "callers") == ours


def test_a_copy_is_no_longer_about_the_original(project: Path) -> None:
    copy = project.with_name("after")
    shutil.copytree(project, copy)
    with quintet.open(copy / ".quintet") as index:
        assert locations(index) == {"before": str(copy)}
    with quintet.open(project / ".quintet") as index:
        assert locations(index) == {"before": str(project)}


def test_an_index_that_is_moved_alone_keeps_its_folders(project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    shutil.move(project / ".quintet", tmp_path / "elsewhere" / "index")
    with quintet.open(tmp_path / "elsewhere" / "index") as index:
        assert locations(index) == {"before": str(project)}


def test_a_folder_outside_stays_where_it_was(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "library"
    other.mkdir()
    (other / "a.md").write_text("words", "utf-8")
    with quintet.open(project / ".quintet") as index:
        index.sync([other])
    moved = project.rename(project.with_name("after"))
    with quintet.open(moved / ".quintet") as index:
        assert locations(index) == {"before": str(moved), "library": str(other)}
