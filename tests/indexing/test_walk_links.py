"""Links, junctions and other special files in a walk."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from indexing.trees import DEFAULTS, make_tree, walked_paths
from quintet.errors import UsageError
from quintet.indexing import disk, no_links
from quintet.indexing import walk as walk_module
from quintet.indexing.disk import find_file
from quintet.indexing.files import FileProblem
from quintet.indexing.no_links import JUNCTION
from quintet.indexing.walk import walk
from quintet.settings import Settings

OUT = "a symbolic link out of the folder; it is not followed"


def test_links_are_not_followed_wherever_they_lead(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "root", "a.md", "sub/b.md")
    make_tree(tmp_path / "outside", "secret.md")
    (root / "file.md").symlink_to(root / "a.md")
    (root / "folder").symlink_to(root / "sub")
    (root / "sub/loop").symlink_to(root)
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "sub/out.md").symlink_to("../../outside/secret.md")
    (root / "twin").symlink_to(make_tree(tmp_path / "root2", "a.md"))
    (root / "dead").symlink_to(root / "gone")
    (root / "self").symlink_to("self")
    found, problems = walk(root, DEFAULTS)
    assert [file.path for file in found] == ["a.md", "sub/b.md"]
    assert problems == [
        FileProblem("dead", "a broken symbolic link"),
        FileProblem("out", OUT),
        FileProblem("self", "a broken symbolic link"),
        FileProblem("sub/out.md", OUT),
        FileProblem("twin", OUT),
    ]
    assert walk(root, DEFAULTS, under="out") == ([], [FileProblem("out", OUT)])
    assert walk(root, DEFAULTS, under="out/secret.md") == ([], [])


class Junction:
    """What Python on Windows says of a junction, for which a link stands here: a folder, and no link."""

    def __init__(self, entry: os.DirEntry[str]) -> None:
        self.name, self.path = entry.name, entry.path

    def is_symlink(self) -> bool:
        return False

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return True

    def stat(self, *, follow_symlinks: bool = True) -> SimpleNamespace:
        return SimpleNamespace(st_mode=stat.S_IFDIR | 0o755, st_reparse_tag=JUNCTION)


@pytest.fixture
def _links_are_junctions(monkeypatch: pytest.MonkeyPatch) -> None:
    scandir, lstat = os.scandir, os.lstat

    @contextmanager
    def listed(where: str) -> Iterator[list[object]]:
        with scandir(where) as entries:
            yield [Junction(entry) if entry.is_symlink() else entry for entry in entries]

    def seen(where: str, **given: Any) -> Any:
        facts = lstat(where, **given)
        junction = {"st_mode": stat.S_IFDIR, "st_reparse_tag": JUNCTION, "st_dev": 0, "st_ino": 0}
        return SimpleNamespace(**junction) if stat.S_ISLNK(facts.st_mode) else facts

    monkeypatch.setattr(walk_module, "JUNCTIONS", True)
    monkeypatch.setattr(no_links, "DESCRIPTORS", False)
    system = SimpleNamespace(**{**vars(os), "scandir": listed, "lstat": seen})
    monkeypatch.setattr(no_links, "os", system)
    monkeypatch.setattr(disk, "os", system)


@pytest.mark.usefixtures("_links_are_junctions")
def test_a_junction_is_followed_no_more_than_a_link(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "root", "a.md", "sub/b.md")
    make_tree(tmp_path / "outside", "secret.md")
    (root / "folder").symlink_to(root / "sub")
    (root / "sub/loop").symlink_to(root)
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "node_modules").symlink_to(tmp_path / "outside")
    found, problems = walk(root, DEFAULTS)
    assert ([file.path for file in found], problems) == (["a.md", "sub/b.md"], [FileProblem("out", OUT)])
    behind = FileProblem("out/secret.md", "lies behind a symbolic link or a file")
    assert find_file(str(root), "out/secret.md", 100) == behind
    assert find_file(str(root), "out", 100) == FileProblem("out", "not a regular file")


def test_a_link_or_fifo_that_the_rules_leave_out_is_no_problem(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "root", "a.md")
    make_tree(tmp_path, "env/pyvenv.cfg")
    for name in ("node_modules", ".hidden", "b.png", "ignored", "excluded.md", "env"):
        (root / name).symlink_to(tmp_path / ("env" if name == "env" else "gone"))
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "ignored.md")
    (root / ".gitignore").write_text("ignored*\nfolder/\n")  # a link is no folder, to git neither
    found, problems = walk(root, Settings(exclude=("excluded.md",)))
    assert ([file.path for file in found], problems) == (["a.md"], [FileProblem("folder", OUT)])
    assert walked_paths(root, Settings(include=("*.md",), exclude=("excluded.md",))) == ["a.md"]


def test_a_root_that_became_a_link_or_lies_behind_one_is_not_walked(tmp_path: Path) -> None:
    make_tree(tmp_path / "root", "sub/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "root")
    for root in (tmp_path / "link", tmp_path / "link/sub"):
        with pytest.raises(UsageError, match="cannot be listed: a link or a file is in the place"):
            walk(root, DEFAULTS)


def test_a_fifo_or_socket_is_a_problem_even_as_an_ignore_file(tmp_path: Path) -> None:
    make_tree(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / ".gitignore")
    os.mknod(tmp_path / "socket", stat.S_IFSOCK | 0o600)
    found, problems = walk(tmp_path, DEFAULTS)
    assert [file.path for file in found] == ["a.md"]
    assert problems == [
        FileProblem(".gitignore", "not applied as an ignore file: not a regular file"),
        FileProblem("pipe.md", "not a regular file"),
        FileProblem("socket", "not a regular file"),
    ]
