"""A chunk has a row in its database, and an id for everybody else."""

from collections.abc import Mapping, Sequence

import apsw
import numpy as np

from quintet.ports.reading import Rows

REMEMBERED = 10_000  # chunks, some 2 MB; a search sees a few hundred


class ChunkIds:
    """The rows and ids of one snapshot. What one leg has found, another asks for by its id."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._rows: dict[str, int] = {}

    def at(self, rows: Rows) -> dict[int, str]:
        """The ids of the chunks at these rows, one at least."""
        found = self._connection.execute(
            "SELECT row, id FROM chunks WHERE row IN (SELECT value FROM carray(?))",
            (apsw.carray(np.ascontiguousarray(rows)),),
        )
        ids = dict(found)
        self.remember({chunk_id: row for row, chunk_id in ids.items()})
        return ids

    def rows(self, chunk_ids: Sequence[str]) -> dict[str, int]:
        """The rows of those chunks that are here."""
        known = {one: self._rows[one] for one in chunk_ids if one in self._rows}
        others = tuple(one for one in chunk_ids if one not in known)
        if others:
            found = self._connection.execute(
                "SELECT id, row FROM chunks WHERE id IN (SELECT value FROM carray(?))",
                (apsw.carray(others),),
            )
            known |= dict(found)
        return known

    def remember(self, rows: Mapping[str, int]) -> None:
        """Rows by id that came along with something else."""
        if len(self._rows) + len(rows) > REMEMBERED:
            self._rows.clear()
        self._rows.update(rows)
