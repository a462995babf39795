"""Which files have uncommitted changes, asked of git without letting the repository run anything.

A repository may come from a stranger. Its configuration can name programs (monitors, hooks, filters,
transports), and git would run them to answer so plain a question: all of them are switched off.
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

from quintet.indexing.walk import MAX_PARENTS

MAX_OUTPUT = 16_000_000  # bytes
MAX_ARGUMENTS = 24_000  # bytes of path names in one command; Windows takes 32,767 characters in all
MAX_FILTERS = 100
BATCH = (".bat", ".cmd")  # Windows reads their arguments as commands: `a&b.md` would run b
ODD_IN_A_FILTER_NAME = frozenset("=\n\r\0")  # could not be said on a command line
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
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone would fetch what it lacks ...
    "GIT_ALLOW_PROTOCOL": "",  # ... and an older git must find no way to
    "LC_ALL": "C",
}
THE_USERS_OWN = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
# Submodules are asked themselves: their own configuration would hold in a git started by this one.
STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=all")


class GitFailed(Exception):  # noqa: N818  (nothing is wrong with the program)
    """Git could not tell; the text completes "git …"."""


@dataclass(frozen=True, slots=True)
class UncommittedFiles:
    """Those of the files asked about that git calls modified, and why it could not tell of others."""

    files: frozenset[str] = frozenset()
    failures: tuple[str, ...] = ()


def find_uncommitted(files: Iterable[str], timeout: float) -> UncommittedFiles:
    """Ask about `files`, absolute paths: one `git status` for each work tree, `timeout` seconds for all.

    What is staged, unmerged or changed in the work tree is uncommitted. Git has no version of an untracked
    or ignored file to compare it with, and calls none of them modified.
    """
    deadline = monotonic() + timeout
    modified: set[str] = set()
    failures = []
    for tree, inside in sorted(_by_work_tree(files).items()):
        try:
            names = _modified(tree, [_below(tree, where) for where in inside], deadline)
        except GitFailed as reason:
            failures.append(f"git {reason} in {Path(tree).name or tree}")
            continue
        modified.update(where for where in inside if normalize("NFC", _below(tree, where)) in names)
    return UncommittedFiles(frozenset(modified), tuple(failures))


def _below(tree: str, where: str) -> str:
    """As git spells it."""
    return where[len(tree) :].lstrip(os.sep).replace(os.sep, "/")


def _by_work_tree(files: Iterable[str]) -> dict[str, list[str]]:
    """Files by the nearest folder above them with a `.git`, be that a folder, or the file that a submodule
    or a linked work tree has. Files without one belong to no repository."""
    trees: dict[str, str | None] = {}
    grouped: dict[str, list[str]] = {}
    for where in sorted(set(files)):
        folder = os.path.dirname(where)  # noqa: PTH120  (as the system spells it)
        if folder not in trees:
            trees[folder] = work_tree(folder)
        tree = trees[folder]
        if tree is not None:
            grouped.setdefault(tree, []).append(where)
    return grouped


def work_tree(folder: str) -> str | None:
    """The nearest folder from `folder` upwards that has a `.git`."""
    above = [Path(folder), *Path(folder).parents][: MAX_PARENTS + 1]
    return next((str(one) for one in above if os.access(one / ".git", os.F_OK)), None)


def git_command() -> list[str]:
    """Git with all that a repository could make it run switched off, but for filters."""
    program = shutil.which("git")
    if program is None or not Path(program).is_absolute():
        raise GitFailed("is not installed")
    if program.lower().endswith(BATCH):
        raise GitFailed("is a batch file here, which is not trusted with the names of files")
    return [program, *OPTIONS]


def _modified(tree: str, names: Sequence[str], deadline: float) -> set[str]:
    try:
        git = git_command()
    except GitFailed as reason:
        raise GitFailed(f"{reason}, so changes were judged by their age alone") from None
    for name in _filters(run_git([*git, "config", "--list", "--name-only", "-z"], tree, deadline)):
        for option in ("clean=", "smudge=", "process=", "required=false"):
            git += ["-c", f"filter.{name}.{option}"]
    short = sum(len(os.fsencode(name)) + 1 for name in names) <= MAX_ARGUMENTS
    entries = run_git([*git, *STATUS, "--", *(names if short else ())], tree, deadline).split(b"\0")
    # On macOS git says composed what the disk may spell otherwise.
    return {normalize("NFC", os.fsdecode(entry[3:])) for entry in entries if entry}


def _filters(listing: bytes) -> list[str]:
    """The filters that any configuration file names. An attribute decides which file goes through one."""
    keys = [os.fsdecode(key) for key in listing.split(b"\0")]
    found = {key.removeprefix("filter.").rpartition(".")[0] for key in keys if key.startswith("filter.")}
    if len(found) > MAX_FILTERS or any(ODD_IN_A_FILTER_NAME & set(name) for name in found):
        raise GitFailed("was not asked, for the filters of the repository are too many or oddly named,")
    return sorted(found)


def run_git(call: Sequence[str], tree: str, deadline: float) -> bytes:
    """What a command prints, unless it takes too long, prints too much or fails."""
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
                raise GitFailed("said too much")
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
    """The user's own configuration, but no other repository, and no search for one above `tree`."""
    kept = {
        name: value
        for name, value in inherited.items()
        if name in THE_USERS_OWN or not name.startswith("GIT_")
    }
    return {**kept, **ENVIRONMENT, "GIT_CEILING_DIRECTORIES": str(Path(tree).parent)}


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Stop a process and whatever it started, which may live on and keep the pipe open."""
    with suppress(ProcessLookupError, PermissionError):  # the latter on macOS, of one that has just ended
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
