"""Where an index lies, so that the folders beside it stay its own when all of it is moved or copied."""

from pathlib import Path

import apsw

from quintet.ports.reading import Root
from quintet.storage.sqlite.catalog import meta, roots

KEY = "home"
LOOKED_FOR = 20  # files of a root, of which half must be found to tell it from another folder


def is_at(connection: apsw.Connection, home: Path) -> bool:
    return meta(connection, KEY) == str(home)


def settle(connection: apsw.Connection, home: Path) -> None:
    """Remember `home`. Roots that lay in the last one, and are found here as they were there, are these now;
    a package may be called by its folder's name, so edges are made anew."""
    before = Path(meta(connection, KEY) or home)
    for root in roots(connection):
        location = Path(root.location)
        here = home / location.relative_to(before) if location.is_relative_to(before) else location
        if here != location and _holds(connection, root, here):
            connection.execute("UPDATE roots SET location = ? WHERE name = ?", (str(here), root.name))
            connection.execute("DELETE FROM meta WHERE key = 'linker'")
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (KEY, str(home)))


def _holds(connection: apsw.Connection, root: Root, folder: Path) -> bool:
    rows = connection.execute(
        "SELECT d.path FROM documents d JOIN roots r ON r.row = d.root WHERE r.name = ? "
        "ORDER BY d.path LIMIT ?",
        (root.name, LOOKED_FOR),
    )
    present = [(folder / str(path)).is_file() for (path,) in rows]
    return bool(present) and 2 * sum(present) >= len(present)
