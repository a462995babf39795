"""What a repository tells about its commits, and what it cannot make us run."""

from pathlib import Path

import pytest

from indexing.repository import Repository, needs_git
from quintet.indexing.git import GitFailed
from quintet.indexing.git_log import read_commits

LONG = 60.0
pytestmark = needs_git


def commit(repository: Repository, subject: str, **files: str) -> None:
    repository.write({name.replace("__", "/"): text for name, text in files.items()})
    repository.git("add", "--all")
    repository.git("commit", "--quiet", f"--message={subject}")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "tree")
    commit(made, "One in each", top="1", sub__inner="1")
    commit(made, "Below: größer", sub__inner="2")
    made.write({"sub/a b\n.txt": "x"})
    commit(made, "An odd name")
    return made


def test_commits_come_newest_first_with_their_files(repository: Repository) -> None:
    found = read_commits(repository.top, 10, LONG)
    assert found is not None
    assert [(one.subject, one.paths) for one in found] == [
        ("An odd name", ("sub/a b\n.txt",)),
        ("Below: größer", ("sub/inner",)),
        ("One in each", ("sub/inner", "top")),
    ]
    assert len({one.id for one in found}) == 3


def test_of_a_folder_inside_a_work_tree_only_its_files_are_told(repository: Repository) -> None:
    found = read_commits(repository.top / "sub", 2, LONG)
    assert found is not None
    assert [one.paths for one in found] == [("a b\n.txt",), ("inner",)]


def test_a_folder_is_found_however_the_disk_spells_it(repository: Repository) -> None:
    repository.write({"cafe\u0301/menu": "x"})
    commit(repository, "Decomposed")
    found = read_commits(repository.top / "cafe\u0301", 2, LONG)
    assert found is not None
    assert [one.paths for one in found] == [("menu",)]


def test_merges_are_left_out(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    commit(repository, "On the side", side="1")
    repository.git("checkout", "--quiet", "-")
    repository.git("merge", "--quiet", "--no-ff", "--message=Merged", "side")
    found = read_commits(repository.top, 10, LONG)
    assert found is not None and "Merged" not in [one.subject for one in found] and len(found) == 4


def test_a_folder_without_git_has_none(tmp_path: Path) -> None:
    assert read_commits(tmp_path, 10, LONG) is None


def test_a_repository_without_commits_and_too_little_time_are_told(tmp_path: Path) -> None:
    fresh = Repository(tmp_path / "fresh")
    with pytest.raises(GitFailed, match="failed"):
        read_commits(fresh.top, 10, LONG)
    with pytest.raises(GitFailed, match="in time"):
        read_commits(fresh.top, 10, 0.0)


def test_what_the_repository_names_is_not_run(repository: Repository, tmp_path: Path) -> None:
    """A signature would be shown by a program of its own, a difference by another."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'ran'}'\n", "utf-8")
    trap.chmod(0o755)
    for key in ("gpg.program", "diff.external", "core.pager", "core.fsmonitor", "diff.x.textconv"):
        repository.git("config", key, str(trap))
    repository.git("config", "log.showSignature", "true")
    repository.write({".gitattributes": "* diff=x\n"})
    head = repository.git("cat-file", "commit", "HEAD")
    signed = head.replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----\n\n", 1
    )
    (tmp_path / "signed").write_text(signed, "utf-8")
    written = repository.git("hash-object", "-t", "commit", "-w", str(tmp_path / "signed"))
    repository.git("update-ref", "HEAD", written.strip())
    assert len(read_commits(repository.top, 10, LONG) or ()) == 3
    assert not (tmp_path / "ran").exists()
