"""Small trees of files to walk."""

from pathlib import Path

from quintet.indexing.walk import walk
from quintet.settings import Settings

DEFAULTS = Settings()


def make_tree(root: Path, *files: str) -> Path:
    for name in files:
        location = root / name
        location.parent.mkdir(parents=True, exist_ok=True)
        location.write_text("text")
    return root


def walked_paths(root: Path, given: Settings = DEFAULTS, under: str = "") -> list[str]:
    """The paths of a walk without problems."""
    files, problems = walk(root, given, under=under)
    assert problems == []
    return [file.path for file in files]
