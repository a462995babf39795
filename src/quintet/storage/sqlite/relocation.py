"""Follows an index that was moved or copied together with the folders it indexes."""

from pathlib import Path

import apsw

from quintet.ports.reading import Root
from quintet.storage.sqlite.catalog import meta, roots

KEY = "home"
LOOKED_FOR = 20  # files of a root that are looked for; half of them must be there


def is_at(connection: apsw.Connection, home: Path) -> bool:
    return meta(connection, KEY) == str(home)


def settle(connection: apsw.Connection, home: Path) -> None:
    """Store `home`. A root inside the last home whose files are now inside this one moves along. Edges are
    rebuilt, since a package may be named after its folder."""
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
