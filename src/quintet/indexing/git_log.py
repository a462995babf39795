"""What commits say and which files they changed. As ever, git runs nothing that the repository names."""

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
    """`paths` are relative to the folder that was asked about, `/`-separated."""

    id: str
    subject: str
    paths: tuple[str, ...]


def read_commits(folder: Path, most: int, timeout: float) -> list[Commit] | None:
    """The newest commits that changed files below `folder`, no merges; None where that is no git folder.

    `Unanswered` says why git could not tell.
    """
    tree = work_tree(str(folder))
    if tree is None:
        return None
    below = Path(os.path.relpath(folder, tree)).as_posix()
    asked = [*git_command(), *LOG, f"--max-count={most}", "--", below]
    printed = run_git(asked, tree, monotonic() + timeout)
    return _parsed(printed, "" if below == "." else normalize("NFC", f"{below}/"))


def _parsed(printed: bytes, below: str) -> list[Commit]:
    found: list[tuple[str, str, list[str]]] = []
    for part in printed.split(b"\0"):
        if part.startswith(SUBJECT):
            id, _, subject = part[1:].decode("utf-8", "replace").partition(" ")
            found.append((id, subject, []))
        elif found and part.strip():
            path = normalize("NFC", part.removeprefix(b"\n").decode("utf-8", "replace"))
            if path.startswith(below):
                found[-1][2].append(path.removeprefix(below))
    return [Commit(id, subject, tuple(paths)) for id, subject, paths in found]
