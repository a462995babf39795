"""Ask git which files have uncommitted changes, without letting the repository run any program.

Repositories are untrusted. A repository's configuration can name programs (monitors, hooks, filters,
transports) that git would run even for a status. All of them are switched off.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from time import monotonic
from unicodedata import normalize

MAX_PARENTS = 64  # how many folders above a file are searched for a repository
MAX_OUTPUT = 16_000_000  # bytes
MAX_ARGUMENTS = 24_000  # bytes of path names in one command; Windows allows 32,767 characters in all
MAX_FILTERS = 100
BATCH_FILES = (".bat", ".cmd")  # Windows reads their arguments as commands: `a&b.md` would run b
UNSAFE_IN_FILTER_NAME = frozenset("=\n\r\0")  # cannot be passed on a command line
OPTIONS = (
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "safe.bareRepository=explicit"),
    *("--no-pager", "--no-optional-locks", "--literal-pathspecs"),
)
ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone would fetch missing objects ...
    "GIT_ALLOW_PROTOCOL": "",  # ... and older versions of git need this to stop them
    "LC_ALL": "C",
}
USER_CONFIGURATION = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
# Each submodule is asked separately: a git started by this one would use the submodule's configuration.
STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=all")


class GitFailed(Exception):  # noqa: N818  (nothing is wrong with the program)
    """Git gave no answer. The text completes "git …"."""


@dataclass(frozen=True, slots=True)
class UncommittedFiles:
    """The files that git calls modified, and a message for each work tree that git could not check."""

    files: frozenset[str] = frozenset()
    failures: tuple[str, ...] = ()


def find_uncommitted(files: Iterable[str], timeout: float) -> UncommittedFiles:
    """Check `files`, absolute paths, with one `git status` per work tree, in `timeout` seconds for all.

    Staged, unmerged and changed files are uncommitted. Untracked and ignored files are not: git has no
    version to compare them with.
    """
    deadline = monotonic() + timeout
    modified: set[str] = set()
    failures = []
    for tree, inside in sorted(_by_work_tree(files).items()):
        try:
            names = _modified(tree, [_path_in_tree(tree, file) for file in inside], deadline)
        except GitFailed as reason:
            failures.append(f"git {reason} in {Path(tree).name or tree}")
            continue
        modified.update(file for file in inside if normalize("NFC", _path_in_tree(tree, file)) in names)
    return UncommittedFiles(frozenset(modified), tuple(failures))


def _path_in_tree(tree: str, file: str) -> str:
    """The path relative to the work tree, as git writes it."""
    return file[len(tree) :].lstrip(os.sep).replace(os.sep, "/")


def _by_work_tree(files: Iterable[str]) -> dict[str, list[str]]:
    """Group files by the nearest folder above with a `.git`. That may be a folder, or a file in a submodule
    or linked work tree. Files outside any repository are left out."""
    trees: dict[str, str | None] = {}
    grouped: dict[str, list[str]] = {}
    for file in sorted(set(files)):
        folder = os.path.dirname(file)  # noqa: PTH120  (the path keeps its spelling)
        if folder not in trees:
            trees[folder] = work_tree(folder)
        tree = trees[folder]
        if tree is not None:
            grouped.setdefault(tree, []).append(file)
    return grouped


def work_tree(folder: str) -> str | None:
    """The nearest folder with a `.git`, from `folder` upwards."""
    above = [Path(folder), *Path(folder).parents][: MAX_PARENTS + 1]
    return next((str(parent) for parent in above if os.access(parent / ".git", os.F_OK)), None)


def git_command() -> list[str]:
    """The git command that runs nothing a repository configures. Filters are switched off by the caller."""
    program = shutil.which("git")
    if program is None or not Path(program).is_absolute():
        raise GitFailed("is not installed")
    if program.lower().endswith(BATCH_FILES):
        raise GitFailed("is a batch file here, which cannot be given file names safely")
    return [program, *OPTIONS]


def _modified(tree: str, names: Sequence[str], deadline: float) -> set[str]:
    try:
        git = git_command()
    except GitFailed as reason:
        raise GitFailed(f"{reason}, so changes were classified by age alone") from None
    for name in _filters(run_git([*git, "config", "--list", "--name-only", "-z"], tree, deadline)):
        for option in ("clean=", "smudge=", "process=", "required=false"):
            git += ["-c", f"filter.{name}.{option}"]
    short = sum(len(os.fsencode(name)) + 1 for name in names) <= MAX_ARGUMENTS
    entries = run_git([*git, *STATUS, "--", *(names if short else ())], tree, deadline).split(b"\0")
    # On macOS git writes names in composed form; the disk may spell them differently.
    return {normalize("NFC", os.fsdecode(entry[3:])) for entry in entries if entry}


def _filters(listing: bytes) -> list[str]:
    """The names of the filters in all configuration files."""
    keys = [os.fsdecode(key) for key in listing.split(b"\0")]
    names = {key.removeprefix("filter.").rpartition(".")[0] for key in keys if key.startswith("filter.")}
    if len(names) > MAX_FILTERS or any(UNSAFE_IN_FILTER_NAME & set(name) for name in names):
        raise GitFailed("was not run, because the repository has too many filters or unsafe filter names,")
    return sorted(names)


def run_git(call: Sequence[str], tree: str, deadline: float) -> bytes:
    """The output of a git command. Raises `GitFailed` if it is too slow, prints too much or fails."""
    if monotonic() >= deadline:
        raise GitFailed("did not answer in time")
    try:
        process = subprocess.Popen(
            call,
            cwd=tree,
            env=_environment(tree, os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise GitFailed(f"could not be started ({error.strerror})") from error
    watch = Timer(max(deadline - monotonic(), 0), _end, [process])
    watch.daemon = True
    with process:
        assert process.stdout is not None
        watch.start()
        try:
            output = process.stdout.read(MAX_OUTPUT + 1)
            if len(output) > MAX_OUTPUT:
                raise GitFailed("printed too much")
            process.wait()
        finally:
            watch.cancel()
            if process.returncode is None:
                _end(process)
    if process.returncode and monotonic() >= deadline:
        raise GitFailed("did not answer in time")
    if process.returncode:
        raise GitFailed(f"failed (exit code {process.returncode})")
    return output


def _environment(tree: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """Keeps the user's git configuration. Removes all other git variables and stops the search above
    `tree`."""
    environment = {
        name: value
        for name, value in inherited.items()
        if name in USER_CONFIGURATION or not name.startswith("GIT_")
    }
    return {**environment, **ENVIRONMENT, "GIT_CEILING_DIRECTORIES": str(Path(tree).parent)}


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and its children, which could otherwise keep the pipe open."""
    with suppress(ProcessLookupError, PermissionError):  # macOS: it has just ended
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
