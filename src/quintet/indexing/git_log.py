"""The subjects of commits and the files they changed. Git runs no program that the repository names."""

import os
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from unicodedata import normalize

from quintet.indexing.git import git_command, run_git, work_tree

LOG = (
    *("log", "--no-merges", "-z", "--name-only", "--format=tformat:%x01%H %s"),
    *("--no-show-signature", "--no-notes", "--no-ext-diff", "--no-textconv", "--no-renames"),
    *("--ignore-submodules=all", "--encoding=UTF-8"),
)
SUBJECT = b"\x01"


@dataclass(frozen=True, slots=True)
class Commit:
    """`paths` are relative to the folder given to `read_commits`, `/`-separated."""

    id: str
    subject: str
    paths: tuple[str, ...]


def read_commits(folder: Path, limit: int, timeout: float) -> list[Commit] | None:
    """The newest commits that changed files below `folder`, without merges; None outside a repository.

    Raises `GitFailed` if git gave no answer.
    """
    tree = work_tree(str(folder))
    if tree is None:
        return None
    below = Path(os.path.relpath(folder, tree)).as_posix()
    command = [*git_command(), *LOG, f"--max-count={limit}", "--", below]
    output = run_git(command, tree, monotonic() + timeout)
    return _parse_log(output, "" if below == "." else normalize("NFC", f"{below}/"))


def _parse_log(output: bytes, below: str) -> list[Commit]:
    commits: list[tuple[str, str, list[str]]] = []
    for part in output.split(b"\0"):
        if part.startswith(SUBJECT):
            id, _, subject = part[1:].decode("utf-8", "replace").partition(" ")
            commits.append((id, subject, []))
        elif commits and part.strip():
            path = normalize("NFC", part.removeprefix(b"\n").decode("utf-8", "replace"))
            if path.startswith(below):
                commits[-1][2].append(path.removeprefix(below))
    return [Commit(id, subject, tuple(paths)) for id, subject, paths in commits]
