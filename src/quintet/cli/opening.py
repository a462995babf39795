"""The index of a command that may be the first to need one."""

from pathlib import Path
from typing import TYPE_CHECKING

from quintet.cli import options
from quintet.cli.terminal import safe, tell

if TYPE_CHECKING:
    from quintet.index import Index


def opened_or_made(db: Path | None) -> "Index":
    """The index to work on. Where there was none an empty one is made, and that is said: `--db` may be
    misspelt."""
    import quintet

    folder = options.folder_to_fill(db)
    is_new = not options.holds_index(folder)
    index = quintet.open(folder)
    if is_new:
        tell(safe(f"there was no index in {index.folder}; made an empty one"))
    return index
