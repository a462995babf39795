"""What git is asked, and what a repository cannot make it do."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from unicodedata import normalize

import pytest

from indexing.repository import Repository, needs_git, own_configuration, program
from quintet.indexing import git
from quintet.indexing.git import find_uncommitted

pytestmark = [needs_git, pytest.mark.skipif(os.name != "posix", reason="scripts stand for programs")]
LONG = 30.0
FILES = {"a.txt": "one", "b.txt": "two", "deep/er/c.txt": "three"}


@pytest.fixture(autouse=True)
def _configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_configuration(tmp_path, monkeypatch)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "tree", FILES)


def modified(repository: Repository, *names: str) -> set[str]:
    answer = find_uncommitted([repository.file(name) for name in names], LONG)
    assert answer.failures == ()
    return {Path(where).relative_to(repository.top).as_posix() for where in answer.files}


def test_a_clean_work_tree_has_nothing_uncommitted(repository: Repository) -> None:
    assert modified(repository, *FILES) == set()


def test_what_was_changed_or_staged_is_uncommitted(repository: Repository) -> None:
    repository.write({"a.txt": "changed", "deep/er/c.txt": "staged", "new.txt": "added"})
    repository.git("add", "deep/er/c.txt", "new.txt")
    assert modified(repository, *FILES, "new.txt") == {"a.txt", "deep/er/c.txt", "new.txt"}


def test_only_the_files_asked_about_are_named(repository: Repository) -> None:
    repository.write({"a.txt": "changed", "b.txt": "changed"})
    assert modified(repository, "b.txt") == {"b.txt"}


def test_an_unmerged_file_is_uncommitted(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "other")
    repository.write({"a.txt": "theirs"})
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    repository.write({"a.txt": "ours"})
    repository.commit()
    repository.git("merge", "other", check=False)
    assert modified(repository, "a.txt", "b.txt") == {"a.txt"}


def test_a_file_taken_out_of_the_index_but_left_on_disk_is_uncommitted(repository: Repository) -> None:
    repository.git("rm", "--cached", "--quiet", "a.txt")
    assert modified(repository, "a.txt") == {"a.txt"}


def test_git_has_nothing_to_compare_untracked_and_ignored_files_with(repository: Repository) -> None:
    repository.write({".gitignore": "*.log\n"})
    repository.commit()
    repository.write({"note.txt": "untracked", "x.log": "ignored"})
    assert modified(repository, "note.txt", "x.log") == set()


HOSTILE = (
    *("-n.txt", "--help", ":(exclude)a.txt", ":!a.txt", "*.txt", "a b.txt", "line\nbreak.txt", 'q"u.txt'),
    *("é.txt", "tab\t.txt", "back\\slash.txt", "R  a.txt", "[a].txt"),
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_strange_name_is_only_a_name(repository: Repository, name: str) -> None:
    repository.write({name: "first"})
    repository.commit()
    repository.write({name: "second", "a.txt": "changed"})
    assert modified(repository, name, "b.txt") == {name}


def test_more_names_than_a_command_line_takes_are_asked_all_the_same(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "MAX_ARGUMENTS", 5)
    repository.write({"a.txt": "changed"})
    assert modified(repository, *FILES) == {"a.txt"}


def test_a_folder_without_a_repository_is_not_asked_about(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert find_uncommitted([str(tmp_path / "plain" / "a.txt")], LONG) == git.UncommittedFiles()


def test_a_bare_repository_has_no_work_tree(tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    bare.mkdir()
    Repository(tmp_path / "tree", FILES).git("clone", "--quiet", "--bare", ".", str(bare))
    assert find_uncommitted([str(bare / "HEAD")], LONG) == git.UncommittedFiles()


def test_a_linked_work_tree_is_asked_by_itself(repository: Repository, tmp_path: Path) -> None:
    repository.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    (tmp_path / "linked" / "a.txt").write_text("changed there", "utf-8")
    asked = [repository.file("a.txt"), str(tmp_path / "linked" / "a.txt"), str(tmp_path / "linked" / "b.txt")]
    assert find_uncommitted(asked, LONG) == git.UncommittedFiles(frozenset(asked[1:2]))


def test_a_submodule_is_asked_by_itself(repository: Repository, tmp_path: Path) -> None:
    outer = Repository(tmp_path / "outer", {"top.txt": "top"})
    outer.git("submodule", "--quiet", "add", str(repository.top), "inner")
    outer.commit()
    outer.write({"inner/a.txt": "changed"})
    assert modified(outer, "top.txt", "inner/a.txt", "inner/b.txt") == {"inner/a.txt"}


def test_a_broken_repository_is_not_taken_for_the_one_around_it(repository: Repository) -> None:
    (repository.top / "deep" / ".git").mkdir()
    repository.write({"deep/er/c.txt": "changed"})
    answer = find_uncommitted([repository.file("deep/er/c.txt")], LONG)
    assert answer == git.UncommittedFiles(frozenset(), ("git failed (exit code 128) in deep",))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_someone_else_is_left_alone(repository: Repository) -> None:
    repository.write({"a.txt": "changed"})
    for file in (repository.top, *repository.top.rglob("*")):
        os.chown(file, 12345, 12345, follow_symlinks=False)
    answer = find_uncommitted([repository.file("a.txt")], LONG)
    assert answer == git.UncommittedFiles(frozenset(), ("git failed (exit code 128) in tree",))


def test_without_the_program_nothing_is_known(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(repository.top))
    (failure,) = find_uncommitted([repository.file("a.txt")], LONG).failures
    assert failure.startswith("git is not installed")


def test_a_git_in_the_folder_one_stands_in_is_not_run(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(repository.top, "git", "touch ran")
    monkeypatch.chdir(repository.top)
    monkeypatch.setenv("PATH", ".")
    (failure,) = find_uncommitted([repository.file("a.txt")], LONG).failures
    assert failure.startswith("git is not installed") and not (repository.top / "ran").exists()


def test_a_name_that_git_composes_is_the_one_on_the_disk(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    decomposed = "cafe\u0301.txt"
    repository.write({decomposed: "one"})
    repository.commit()
    repository.write({decomposed: "two"})
    plain = git.run_git

    def as_on_macos(call: Sequence[str], tree: str, deadline: float) -> bytes:
        return normalize("NFC", plain(call, tree, deadline).decode()).encode()

    monkeypatch.setattr(git, "run_git", as_on_macos)
    assert modified(repository, decomposed, "a.txt") == {decomposed}


def test_a_batch_file_is_not_run(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: str(repository.top / "git.CMD"))
    (failure,) = find_uncommitted([repository.file("a.txt")], LONG).failures
    assert failure.startswith("git is a batch file here")


def test_a_git_that_has_just_ended_needs_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_on_macos(group: int, number: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "killpg", as_on_macos)
    with subprocess.Popen(["true"]) as process:
        git._end(process)


def standing_in(place: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program(place / "bin", "git", script)
    monkeypatch.setenv("PATH", f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize(
    "script", ["sleep 1000", "sleep 1000 & wait", "exec sleep 1000", "exec >&-; sleep 1000"]
)
def test_a_git_that_hangs_is_ended_with_all_it_started(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """What it started holds the pipe open: only when all are gone is there an end to read."""
    standing_in(tmp_path, script, monkeypatch)
    answer = find_uncommitted([repository.file("a.txt")], 0.2)
    assert answer == git.UncommittedFiles(frozenset(), ("git did not answer in time in tree",))


def test_one_time_limit_holds_for_all_work_trees(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = Repository(tmp_path / "second", FILES)
    standing_in(tmp_path, f"echo x >> {tmp_path}/started; sleep 1000", monkeypatch)
    answer = find_uncommitted([repository.file("a.txt"), second.file("a.txt")], 0.5)
    assert answer.failures == tuple(f"git did not answer in time in {tree}" for tree in ("second", "tree"))
    assert (tmp_path / "started").read_text() == "x\n"


def test_a_git_that_never_stops_talking_is_ended(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(tmp_path, "exec yes", monkeypatch)
    monkeypatch.setattr(git, "MAX_OUTPUT", 10_000)
    answer = find_uncommitted([repository.file("a.txt")], LONG)
    assert answer == git.UncommittedFiles(frozenset(), ("git printed too much in tree",))


def test_a_git_that_is_no_program_is_told(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(tmp_path, "", monkeypatch)
    (tmp_path / "bin" / "git").write_bytes(b"\x7fELF nonsense")
    (failure,) = find_uncommitted([repository.file("a.txt")], LONG).failures
    assert failure.startswith("git could not be started")


Trap = Callable[[Repository, Path, Path], None]


def fsmonitor(repository: Repository, marker: Path, place: Path) -> None:
    repository.git("config", "core.fsmonitor", str(program(place, "monitor", f"touch {marker}")))


def hook(repository: Repository, marker: Path, place: Path) -> None:
    program(repository.top / ".git" / "hooks", "post-index-change", f"touch {marker}")
    repository.write({"a.txt": "one"})  # the same again: git would note its new time in the index
    os.utime(repository.file("a.txt"), (1, 1))


def clean_filter(repository: Repository, marker: Path, place: Path) -> None:
    repository.write({".gitattributes": "*.txt filter=evil\n"})
    repository.git("config", "filter.evil.clean", f"touch {marker}; cat")


def filter_process(repository: Repository, marker: Path, place: Path) -> None:
    (repository.top / ".git" / "info").mkdir(exist_ok=True)
    (repository.top / ".git" / "info" / "attributes").write_text("* filter=E.v.i-l\n", "utf-8")
    repository.git("config", "filter.E.v.i-l.process", f"touch {marker}")
    repository.git("config", "filter.E.v.i-l.required", "true")


def included_filter(repository: Repository, marker: Path, place: Path) -> None:
    repository.write({".gitattributes": "* filter=far\n"})
    place.mkdir()
    (place / "config").write_text(f'[filter "far"]\nclean = "touch {marker}; cat"\n', "utf-8")
    repository.git("config", "include.path", str(place / "config"))


def lazy_fetch(repository: Repository, marker: Path, place: Path) -> None:
    """A partial clone that lacks the tree of its last commit, and knows where it might come from."""
    repository.write({"b.txt": "another"})
    repository.commit()
    tree = repository.git("rev-parse", "HEAD^{tree}").strip()
    repository.git("read-tree", "--empty")
    (repository.top / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": str(repository.top),
        "remote.origin.uploadpack": f"touch {marker}; git-upload-pack",
        "protocol.file.allow": "always",
    }.items():
        repository.git("config", name, value)


@pytest.mark.parametrize("trap", [fsmonitor, hook, clean_filter, filter_process, included_filter, lazy_fetch])
def test_nothing_that_a_repository_names_is_run(repository: Repository, tmp_path: Path, trap: Trap) -> None:
    marker = tmp_path / "ran"
    repository.write({"b.txt": "changed"})
    trap(repository, marker, tmp_path / "trap")
    asked = [repository.file("a.txt"), repository.file("b.txt")]
    answer = find_uncommitted(asked, LONG)
    assert not marker.exists()
    if trap is not lazy_fetch:  # there git cannot tell without fetching
        assert asked[1] in answer.files and answer.failures == ()
    os.utime(repository.top / "a.txt")  # git has to read it again, whatever the clock says
    repository.git("status", check=False)
    assert marker.exists(), "the trap does not work, so it proves nothing"


def test_the_configuration_of_a_submodule_holds_nowhere(repository: Repository, tmp_path: Path) -> None:
    outer = Repository(tmp_path / "outer", {"top.txt": "top"})
    outer.git("submodule", "--quiet", "add", str(repository.top), "inner")
    outer.commit()
    marker = tmp_path / "ran"
    inner = program(tmp_path / "trap", "monitor", f"touch {marker}")
    outer.git("-C", "inner", "config", "core.fsmonitor", str(inner))
    outer.write({"top.txt": "changed", "inner/a.txt": "changed"})
    assert modified(outer, "top.txt", "inner/a.txt") == {"top.txt", "inner/a.txt"}
    assert not marker.exists()
    outer.git("status")
    assert marker.exists(), "the trap does not work, so it proves nothing"


def test_a_repository_whose_filters_cannot_be_named_is_not_asked(
    repository: Repository, tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    repository.write({".gitattributes": "*.txt filter=a=b\n", "a.txt": "changed"})
    with Path(repository.file(".git/config")).open("a", encoding="utf-8") as config:
        config.write(f'[filter "a=b"]\nclean = "touch {marker}; cat"\n')
    (failure,) = find_uncommitted([repository.file("a.txt")], LONG).failures
    assert (
        failure.startswith("git was not run, because the repository has too many filters")
        and not marker.exists()
    )
    repository.git("status")
    assert marker.exists(), "the trap does not work, so it proves nothing"


def test_asking_leaves_the_repository_as_it_was(repository: Repository) -> None:
    os.utime(repository.file("a.txt"), (1, 1))
    before = (repository.top / ".git" / "index").read_bytes()
    assert modified(repository, *FILES) == set()
    assert (repository.top / ".git" / "index").read_bytes() == before


def test_the_git_variables_of_the_caller_take_no_part(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repository(tmp_path / "other", FILES)
    repository.write({"a.txt": "changed"})
    monkeypatch.setenv("GIT_DIR", str(other.top / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.top))
    assert modified(repository, "a.txt") == {"a.txt"}


def test_a_repository_that_went_away_meanwhile_is_told(repository: Repository) -> None:
    asked = repository.file("a.txt")
    shutil.rmtree(repository.top / ".git")
    (repository.top / ".git").write_text("gitdir: nowhere", "utf-8")
    assert find_uncommitted([asked], LONG).failures == ("git failed (exit code 128) in tree",)
