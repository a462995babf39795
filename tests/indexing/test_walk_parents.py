"""What the ignore files above a root mean for it, with git as the judge."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from indexing.trees import DEFAULTS, make_tree, walked_paths
from quintet.indexing.files import FileProblem
from quintet.indexing.git import MAX_PARENTS
from quintet.indexing.walk import walk

GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
LINES = """
    generated/ /generated src/generated/ src/* /src/** !src/ /src/lib/*.txt lib/a.md **/lib/a.md **/b.txt
    src/**/b.txt *.txt !*.txt !b.txt a.md !a.md /a.md /lib/a.md !lib/ lib/** !generated/
"""
IGNORE_FILE = st.lists(st.sampled_from(LINES.split()), max_size=4).map("\n".join)


def _git(where: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(where), *arguments], env=GIT, capture_output=True, text=True)


def _listed(repository: Path, folder: str) -> list[str]:
    listing = _git(repository, "ls-files", "-z", "--others", "--exclude-standard", "--", folder + "/")
    paths = (path.removeprefix(folder + "/") for path in listing.stdout.split("\0") if path)
    return sorted(path for path in paths if ".gitignore" not in path)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    for folder in (
        "",
        "src/",
        "src/lib/",
        "src/lib/lib/",
        "src/generated/",
        "src/lib/generated/",
        "src/lib/src/",
    ):
        make_tree(root, folder + "a.md", folder + "b.txt")
    assert _git(root, "init", "-q").returncode == 0
    return root


@settings(max_examples=100, deadline=None)
@given(exclude=IGNORE_FILE, top=IGNORE_FILE, middle=IGNORE_FILE, own=IGNORE_FILE)
@example(exclude="", top="generated/", middle="", own="")
@example(exclude="*.txt", top="", middle="!b.txt", own="")
@example(exclude="", top="!a.md", middle="a.md", own="!b.txt")
def test_the_ignore_files_of_parents_mean_what_git_takes_them_to_mean(
    repository: Path, exclude: str, top: str, middle: str, own: str
) -> None:
    (repository / ".git/info/exclude").write_text(exclude)
    (repository / ".gitignore").write_text(top)
    (repository / "src/.gitignore").write_text(middle)
    (repository / "src/lib/.gitignore").write_text(own)
    folders = [folder for folder in ("src", "src/lib") if _git(repository, "check-ignore", folder).returncode]
    assume(folders)
    for folder in folders:
        assert walked_paths(repository / folder) == _listed(repository, folder)


def test_what_is_generated_stays_out_when_only_a_sub_folder_is_asked_for(tmp_path: Path) -> None:
    make_tree(
        tmp_path, ".git/HEAD", "src/generated/x.py", "src/a.py", "src/sub/generated/y.py", "src/sub/b.py"
    )
    (tmp_path / ".gitignore").write_text("generated/\n")
    assert walked_paths(tmp_path / "src") == ["a.py", "sub/b.py"]
    assert walked_paths(tmp_path / "src", under="sub") == ["sub/b.py"]
    found, _ = walk(tmp_path / "src", DEFAULTS, only=["generated/x.py"])
    assert [file.path for file in found] == ["generated/x.py"]


@pytest.mark.parametrize("pattern", ["src/", "/src", "/src/generated", "generated/", "src/*", "s*"])
def test_a_root_that_is_ignored_but_named_is_walked(tmp_path: Path, pattern: str) -> None:
    make_tree(tmp_path, ".git/HEAD", "src/generated/x.py", "src/generated/deep/y.py")
    (tmp_path / ".gitignore").write_text(pattern + "\n*.txt\n")
    make_tree(tmp_path, "src/generated/no.txt")
    assert walked_paths(tmp_path / "src/generated") == ["deep/y.py", "x.py"]


def test_without_a_repository_no_parent_is_read(tmp_path: Path) -> None:
    make_tree(tmp_path, "src/a.md")
    (tmp_path / ".gitignore").write_text("*.md\n")
    assert walked_paths(tmp_path / "src") == ["a.md"]


@pytest.mark.parametrize("inner", ["folder", "file"])
def test_nothing_above_the_nearest_repository_is_read(tmp_path: Path, inner: str) -> None:
    make_tree(tmp_path, ".git/HEAD", "module/.git/HEAD" if inner == "folder" else "module/.git")
    make_tree(tmp_path, "module/src/a.md", "module/src/b.txt")
    (tmp_path / ".gitignore").write_text("*.md\n")
    (tmp_path / "module/.gitignore").write_text("*.txt\n")
    assert walked_paths(tmp_path / "module/src") == ["a.md"]
    assert walked_paths(tmp_path / "module") == ["src/a.md"]


def test_a_quintetignore_above_the_root_is_asked_before_the_gitignore_beside_it(tmp_path: Path) -> None:
    make_tree(tmp_path, ".git/HEAD", "src/a.log", "src/b.log", "src/dist/c.md")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / ".quintetignore").write_text("!/src/a.log\n!dist/\n")
    assert walked_paths(tmp_path / "src") == ["a.log", "dist/c.md"]


def test_the_parents_of_a_root_are_compared_in_normal_form(tmp_path: Path) -> None:
    make_tree(tmp_path, "repository/.git/HEAD", "repository/e\u0301/a.md", "repository/e\u0301/b.txt")
    (tmp_path / "repository/.gitignore").write_text("/\u00e9/*.txt\n")
    assert walked_paths(tmp_path / "repository/e\u0301") == ["a.md"]


def test_an_ignore_file_above_the_root_that_cannot_be_used_is_a_problem(tmp_path: Path) -> None:
    make_tree(tmp_path, ".git/HEAD", "src/lib/a.md")
    (tmp_path / ".gitignore").write_bytes(b"caf\xe9\n")
    (tmp_path / "src/.gitignore").write_text("x[\n")
    (tmp_path / "src/.quintetignore").mkdir()
    found, problems = walk(tmp_path / "src/lib", DEFAULTS)
    assert [file.path for file in found] == ["a.md"]
    assert problems == [
        FileProblem("../../.gitignore", "not applied as an ignore file: not valid UTF-8 at byte 3"),
        FileProblem("../.gitignore", "line 1, 'x[': a bracket that is not closed"),
    ]


@pytest.mark.parametrize(("depth", "expected"), [(MAX_PARENTS, []), (MAX_PARENTS + 1, ["a.md"])])
def test_a_repository_is_looked_for_only_so_far_up(tmp_path: Path, depth: int, expected: list[str]) -> None:
    root = tmp_path.joinpath(*["d"] * depth)
    make_tree(tmp_path, ".git/HEAD")
    make_tree(root, "a.md")
    (tmp_path / ".gitignore").write_text("*.md\n")
    assert walked_paths(root) == expected
