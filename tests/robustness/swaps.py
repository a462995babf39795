"""A folder that becomes a link out of its root while something reads it, at a moment that a test chooses."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SECRET = "zebra"


@dataclass
class Tree:
    """`root/sub/inner/file.md`, and the same below `outside`, with another content."""

    root: Path
    outside: Path

    def swap(self) -> None:
        (self.root / "sub").rename(self.root.parent / "kept")
        (self.root / "sub").symlink_to(self.outside)

    def restore(self) -> None:
        if (self.root / "sub").is_symlink():
            (self.root / "sub").unlink()
            (self.root.parent / "kept").rename(self.root / "sub")


def make_swappable(folder: Path) -> Tree:
    tree = Tree(folder / "root", folder / "outside")
    for place, text in ((tree.root / "sub", "harmless words\n"), (tree.outside, f"{SECRET} words\n")):
        (place / "inner").mkdir(parents=True)
        (place / "inner/file.md").write_text(text, "utf-8")
    return tree


class Moments:
    """Acts just before the system calls that open or list something of the tree, which it counts."""

    def __init__(self) -> None:
        self.count = 0
        self._acts: dict[int, Callable[[], None]] = {}
        self._on = False
        sys.addaudithook(self._hook)  # nothing removes a hook, so it is silent outside `during`

    def during(self, read: Callable[[], None], acts: dict[int, Callable[[], None]]) -> None:
        self.count, self._acts, self._on = 0, acts, True
        try:
            read()
        finally:
            self._on = False

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._on and event in ("open", "os.scandir") and _is_of_the_tree(arguments[0]):
            act = self._acts.get(self.count)
            self.count += 1
            if act is not None:
                act()


def _is_of_the_tree(path: object) -> bool:
    if isinstance(path, int):
        return True
    return isinstance(path, str | bytes | os.PathLike) and str(os.fsdecode(path)).endswith(
        ("root", "sub", "inner", "file.md")
    )


MOMENTS = Moments()


def swap_at_every_moment(tree: Tree, read: Callable[[], None], check: Callable[[], None]) -> int:
    """Swap before each system call of `read`, for good or for the next one or two; `check` after each."""
    MOMENTS.during(read, {})
    total = MOMENTS.count
    for at in range(total):
        for back in (at + 1, at + 2, total):
            try:
                MOMENTS.during(read, {at: tree.swap, back: tree.restore})
                check()
            finally:
                tree.restore()
    return total
