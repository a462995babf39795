"""Find and open the index of a command."""

from pathlib import Path
from typing import TYPE_CHECKING

from quintet.cli.terminal import tell
from quintet.errors import NotFound, UsageError

if TYPE_CHECKING:
    from quintet.index import Index

FOLDER_NAME = ".quintet"


def open_index(db: Path | None) -> "Index":
    """Open the index that `--db` names, or the nearest one. It must exist."""
    import quintet

    return quintet.open(existing_folder(db), create=False)


def open_or_create_index(db: Path | None) -> "Index":
    """Open the index, or create an empty one and say so on standard error: `--db` may be misspelt."""
    import quintet

    folder = folder_to_fill(db)
    is_new = not holds_index(folder)
    index = quintet.open(folder)
    if is_new:
        tell(f"there was no index in {index.folder}, so an empty one was created")
    return index


def existing_folder(db: Path | None) -> Path:
    """The folder that `--db` names, or the nearest `.quintet`; `NotFound` if there is none."""
    folder = db or nearest(current_folder())
    if folder is None:
        raise NotFound(
            "there is no index in this folder or above; make one with 'quintet index', or name one with --db"
        )
    return folder


def folder_to_fill(db: Path | None) -> Path:
    """The same for commands that create an index: without one it is `.quintet` in the current folder."""
    return db or nearest(current_folder()) or current_folder() / FOLDER_NAME


def holds_index(folder: Path) -> bool:
    from quintet.ports.store_files import INDEX_FILE

    return (folder / INDEX_FILE).is_file()


def current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(
            f"the current folder cannot be read: {error.strerror or error}; change to another",
            code="invalid_path",
        ) from error


def nearest(start: Path) -> Path | None:
    """The `.quintet` folder in `start` or closest above it."""
    candidates = (parent / FOLDER_NAME for parent in (start, *start.parents))
    return next((folder for folder in candidates if _is_folder(folder)), None)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a folder above that may not be looked into
        return False
