"""The chunks that have a vector, in the order that decides ties: path, sequence, chunk id.

Reading it from the database takes seconds at a million chunks. It is therefore kept in a file beside the
matrix, and brought up to date by what changed since.
"""

import json
import os
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from quintet.model.vector import Int64
from quintet.processes import private
from quintet.storage.sqlite.catalog import CHANGED, State, led_here, meta, number, state_of
from quintet.storage.sqlite.checksums import CATALOG, check_tables

MANY = 500  # changed documents or new chunks above which reading everything is faster
WORTH_A_FILE = 5_000  # chunks; fewer are read faster from the database than from a file
LONGEST_HEADER = 1_000
WHERE = "c.row, v.row - 1, unhex(d.id)"
KEY = "d.path, c.sequence, c.id"  # the order of ties
FROM = "FROM documents d JOIN chunks c ON c.document = d.row JOIN vectors v ON v.text_hash = c.text_hash"
Ids = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class TieOrder:
    """Chunk rows in tie order, the matrix row of each, and its document's id as two numbers.

    `last` is the newest vector that was there: numbers of vectors only grow within an epoch.
    """

    state: State
    epoch: str
    last: int
    chunks: Int64
    places: Int64
    documents: Ids


def load_tie_order(connection: apsw.Connection, earlier: TieOrder | None, file: Path) -> TieOrder:
    """The order now: the earlier one or that of the file with the changes since, else read from the
    database."""
    state, epoch = state_of(connection), meta(connection, "vector_epoch") or ""
    advanced = _advanced(connection, earlier, state, epoch) or _advanced(connection, read(file), state, epoch)
    if advanced is not None:
        return advanced
    check_tables(connection, CATALOG)
    rows = connection.execute(f"SELECT {WHERE} {FROM} ORDER BY {KEY}").fetchall()
    order = TieOrder(state, epoch, _last(connection), *_columns(rows))
    if len(rows) >= WORTH_A_FILE:
        with suppress(OSError):  # on a read-only disk every process reads the database
            write(file, order)
    return order


def _columns(rows: Sequence[Any]) -> tuple[Int64, Int64, Ids]:
    chunks, places, documents, *_ = zip(*rows, strict=True) if rows else ((), (), ())
    return np.array(chunks, np.int64), np.array(places, np.int64), _ids(documents)


def _ids(documents: Iterable[bytes]) -> Ids:
    joined = b"".join(documents)
    return np.frombuffer(joined, np.uint64).reshape(-1, 2) if joined else np.empty((0, 2), np.uint64)


def _last(connection: apsw.Connection) -> int:
    return connection.execute("SELECT max(row) FROM vectors").get or 0


def write(file: Path, order: TieOrder) -> None:
    """Replace `file` as a whole, or leave it as it was."""
    body = b"".join(part.tobytes() for part in (order.chunks, order.places, order.documents))
    state = [order.state.index_id, order.state.generation, order.state.tag]
    about = {"state": state, "epoch": order.epoch, "last": order.last, "rows": len(order.chunks)}
    header = json.dumps({**about, "crc32": zlib.crc32(body)}).encode()
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        private.write_new(part, header + b"\n" + body)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def read(file: Path) -> TieOrder | None:
    """What `write` wrote; None for a file that is missing or damaged."""
    try:
        with file.open("rb") as source:
            about, body = json.loads(source.readline(LONGEST_HEADER)), source.read()
        rows = int(about["rows"])
        if len(body) != 4 * 8 * rows or zlib.crc32(body) != about["crc32"]:
            return None
        numbers = np.frombuffer(body, np.int64)
        documents = numbers[2 * rows :].view(np.uint64).reshape(-1, 2)
        state = State(*about["state"])
        return TieOrder(
            state, about["epoch"], int(about["last"]), numbers[:rows], numbers[rows : 2 * rows], documents
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _advanced(
    connection: apsw.Connection, earlier: TieOrder | None, state: State, epoch: str
) -> TieOrder | None:
    """The earlier order with the changes since; None if they are too many or unknown."""
    if earlier is None or earlier.epoch != epoch or not led_here(connection, earlier.state, state):
        return None
    since = earlier.state.generation
    if number(connection, "names_forgotten") > since:
        return None
    changed = [document_id for (document_id,) in connection.execute(f"{CHANGED} LIMIT ?", (since, MANY + 1))]
    new = [] if len(changed) > MANY else _new(connection, changed, earlier.last)
    if max(len(changed), len(new)) > MANY:
        return None
    chunks, places, documents = _columns(new)
    kept = ~np.isin(earlier.chunks, chunks)
    for first, second in _ids(map(bytes.fromhex, changed)):
        kept &= (earlier.documents[:, 0] != first) | (earlier.documents[:, 1] != second)
    rows = earlier.chunks[kept]
    at = [bisect_left(rows, row[3:], key=lambda document_id: _key(connection, document_id)) for row in new]
    return TieOrder(
        state,
        earlier.epoch,
        max(earlier.last, _last(connection)),
        np.insert(rows, at, chunks),
        np.insert(earlier.places[kept], at, places),
        np.insert(earlier.documents[kept], at, documents, axis=0),
    )


def _new(connection: apsw.Connection, changed: Sequence[str], last: int) -> list[Any]:
    """The chunks of these documents, and the chunks with a vector newer than `last`, in order; at most one
    more than `MANY`."""
    rows = connection.execute(
        f"SELECT {WHERE}, {KEY} FROM json_each(?1) AS one CROSS JOIN documents d ON d.id = one.value "
        "JOIN chunks c ON c.document = d.row JOIN vectors v ON v.text_hash = c.text_hash "
        f"UNION SELECT {WHERE}, {KEY} FROM vectors v CROSS JOIN chunks c ON c.text_hash = v.text_hash "
        "JOIN documents d ON d.row = c.document WHERE v.row > ?2 LIMIT ?3",
        (json.dumps(changed), last, MANY + 1),
    )
    return sorted(rows.fetchall(), key=lambda row: row[3:])


def _key(connection: apsw.Connection, chunk: int) -> tuple[Any, ...]:
    sql = f"SELECT {KEY} FROM chunks c JOIN documents d ON d.row = c.document WHERE c.row = ?"
    return tuple(next(iter(connection.execute(sql, (int(chunk),)))))
