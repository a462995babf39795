"""The Merkle tree in tables: a writer marks what it changes, and the end of a run brings the tree up to date.

A run that is cut short leaves its marks. Until a run settles them, the state root is computed from scratch.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain
from operator import itemgetter
from typing import Any

import apsw

from quintet.model import merkle, set_difference
from quintet.storage.sqlite.catalog import meta, number

DIGITS = "0123456789abcdef"
END = "g"  # sorts after every hexadecimal digit
AT_ONCE = 1_000  # documents in one statement
SHARE = 8  # above an eighth of all documents, rebuilding the tree costs less than updating it

DOCUMENT = "d.id, r.name, d.path, d.title, d.mime_type, d.language, d.content_hash, d.metadata"
CHUNK = (
    "c.id, c.sequence, c.first_line, c.last_line, c.kind, c.name, c.heading_path, "
    "c.page, c.text_hash, v.vector"
)
IN_ORDER = itemgetter(1, 0)  # by sequence, then by id
THESE = "d.id IN (SELECT value FROM carray(?))"


def line_of(connection: apsw.Connection, document_id: str) -> str | None:
    """The record of a document. It holds no times, absolute paths or row numbers."""
    return _lines(connection, [document_id]).get(document_id)


def _lines(connection: apsw.Connection, document_ids: Sequence[str]) -> dict[str, str]:
    """The records of these documents; a document that is not here is left out."""
    ids = (apsw.carray(tuple(document_ids)),)
    documents: Any = connection.execute(
        f"SELECT d.row, {DOCUMENT} FROM documents d JOIN roots r ON r.row = d.root WHERE {THESE}", ids
    ).fetchall()
    chunks: dict[int, list[list[Any]]] = {row: [] for row, *_ in documents}
    rows: Any = connection.execute(
        f"SELECT c.document, {CHUNK} FROM documents d JOIN chunks c ON c.document = d.row "
        f"LEFT JOIN vectors v ON v.text_hash = c.text_hash WHERE {THESE}",
        ids,
    )
    for row, *chunk, text_hash, vector in rows:
        chunk += text_hash.hex(), _digest(vector)
        chunks[row].append(chunk)
    for document_chunks in chunks.values():  # here rather than by SQLite, which would move all vectors about
        document_chunks.sort(key=IN_ORDER)
    return {document[0]: merkle.record(document, chunks[row]) for row, *document in documents}


def _digest(vector: bytes | None) -> str | None:
    return None if vector is None else sha256(vector).hexdigest()


def mark(connection: apsw.Connection, documents: Sequence[tuple[str, str, str]]) -> None:
    """Mark documents (id, root, path) that this transaction, and so the next generation, wrote or removed."""
    # In two statements: an INSERT that selects has to be undoable row by row, which takes ten times as long.
    generation = number(connection, "generation") + 1
    connection.executemany(
        "INSERT OR IGNORE INTO unsettled VALUES (?)", ((document_id,) for document_id, _, _ in documents)
    )
    connection.executemany(
        "INSERT OR REPLACE INTO changes VALUES (?, ?, ?, ?)",
        ((*document, generation) for document in documents),
    )


def mark_texts(connection: apsw.Connection, hashes: Iterable[bytes]) -> None:
    """Mark the documents with these texts: their vectors were added or removed."""
    if connection.execute("SELECT 1 FROM leaves LIMIT 1").get is None:
        return  # nothing was ever settled: every document still has its first mark
    connection.executemany(
        "INSERT OR IGNORE INTO unsettled "
        "SELECT d.id FROM chunks c JOIN documents d ON d.row = c.document WHERE c.text_hash = ?",
        ((key,) for key in hashes),
    )


def mark_all(connection: apsw.Connection) -> None:
    connection.execute("INSERT OR IGNORE INTO unsettled SELECT id FROM documents")


def settle(connection: apsw.Connection) -> int:
    """Bring leaves and nodes up to date with the marked documents; returns how many were marked."""
    marked = [document_id for (document_id,) in connection.execute("SELECT id FROM unsettled ORDER BY id")]
    if not marked:
        return 0
    outline = set_difference.toggle(stored_sketch(connection), _renewed(connection, marked))
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('sketch', ?)", (outline.hex(),))
    count = int(connection.execute("SELECT count(*) FROM leaves").get)
    if len(marked) * SHARE > count:
        nodes = merkle.tree(dict(connection.execute("SELECT id, hash FROM leaves")))
        connection.execute("DELETE FROM nodes")
        connection.executemany("INSERT INTO nodes VALUES (?, ?)", nodes.items())
    else:
        _mend(connection, marked)
    connection.execute("DELETE FROM unsettled")
    return len(marked)


def _renewed(connection: apsw.Connection, marked: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Write the leaves of these documents, and yield every leaf removed and every leaf added."""
    for ids in _groups(marked):
        stored: Any = connection.execute(
            "SELECT id, hash FROM leaves WHERE id IN (SELECT value FROM carray(?))",
            (apsw.carray(tuple(ids)),),
        )
        before, after = dict(stored), dict(_leaves(connection, ids))
        went = [(document_id, leaf) for document_id, leaf in before.items() if after.get(document_id) != leaf]
        came = [(document_id, leaf) for document_id, leaf in after.items() if before.get(document_id) != leaf]
        connection.executemany("DELETE FROM leaves WHERE id = ?", ((document_id,) for document_id, _ in went))
        connection.executemany("INSERT INTO leaves VALUES (?, ?)", came)
        yield from (*went, *came)


def stored_sketch(connection: apsw.Connection) -> bytes:
    stored = meta(connection, "sketch")
    try:
        return bytes.fromhex(stored) if stored else set_difference.empty()
    except ValueError as error:
        raise apsw.CorruptError("its sketch is not a hexadecimal number") from error


def _mend(connection: apsw.Connection, changed: Iterable[str]) -> None:
    """Compute the nodes above the changed leaves again, the lowest first."""
    prefixes = {prefix for document_id in changed for prefix in _above(connection, document_id)}
    for prefix in sorted(prefixes, key=len, reverse=True):
        children = children_of(connection, prefix)
        if len(children) > 1 or any(_is_node(connection, prefix + digit) for digit in children):
            connection.execute("INSERT OR REPLACE INTO nodes VALUES (?, ?)", (prefix, merkle.node(children)))
        else:
            connection.execute("DELETE FROM nodes WHERE prefix = ?", (prefix,))


def _above(connection: apsw.Connection, document_id: str) -> Iterable[str]:
    """The prefixes of an id that have a node, or need one."""
    for length in range(len(document_id)):
        prefix = document_id[:length]
        if len(_below(connection, prefix)) < 2 and not _is_node(connection, prefix):
            return
        yield prefix


def _below(connection: apsw.Connection, prefix: str) -> list[Any]:
    """Up to two leaves with that prefix: enough to tell none, one and several apart."""
    return connection.execute(
        "SELECT id, hash FROM leaves WHERE id >= ? AND id < ? ORDER BY id LIMIT 2", (prefix, prefix + END)
    ).fetchall()


def _is_node(connection: apsw.Connection, prefix: str) -> bool:
    return connection.execute("SELECT 1 FROM nodes WHERE prefix = ?", (prefix,)).get is not None


def children_of(connection: apsw.Connection, prefix: str) -> dict[str, bytes]:
    """The children of a node by their digit: a leaf where one document is below, else a node."""
    children = {}
    for digit in DIGITS:
        below = _below(connection, prefix + digit)
        if len(below) == 1:
            children[digit] = below[0][1]
        elif below:
            children[digit] = connection.execute(
                "SELECT hash FROM nodes WHERE prefix = ?", (prefix + digit,)
            ).get
    return children


class SqliteStateTree:
    """One snapshot's tree."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    @property
    def root(self) -> str:
        embedder = meta(self._connection, "embedder")
        if not self._settled:
            return merkle.state(computed_root(self._connection), embedder)
        stored = self._connection.execute("SELECT hash FROM nodes WHERE prefix = ''").get
        return merkle.state(stored or self._connection.execute("SELECT hash FROM leaves").get, embedder)

    @property
    def sketch(self) -> bytes:
        if self._settled:
            return stored_sketch(self._connection)
        return set_difference.toggle(set_difference.empty(), computed_leaves(self._connection).items())

    @property
    def linker(self) -> str | None:
        linked = self._connection.execute("SELECT 1 FROM unlinked LIMIT 1").get is None
        return meta(self._connection, "linker") if linked else None

    @property
    def _settled(self) -> bool:
        return self._connection.execute("SELECT 1 FROM unsettled LIMIT 1").get is None

    def names(self, document_ids: Iterable[str]) -> dict[str, str]:
        names = {}
        for document_id in document_ids:
            name = self._connection.execute(
                "SELECT root || '/' || path FROM changes WHERE id = ?", (document_id,)
            ).get
            if name is not None:
                names[document_id] = str(name)
        return names

    def changed_since(self, generation: int) -> list[str]:
        rows: Any = self._connection.execute(
            "SELECT id FROM changes WHERE generation > ? ORDER BY id", (generation,)
        )
        return [document_id for (document_id,) in rows]

    def proof(self, document_id: str) -> tuple[str, list[dict[str, str]]] | None:
        """A document's record and its siblings up to the root; None while the tree is not settled."""
        line = line_of(self._connection, document_id)
        if line is None or not self._settled:
            return None
        return line, siblings_of(self._connection, document_id)


def computed_root(connection: apsw.Connection) -> bytes | None:
    """The root of the tree, computed from the documents themselves."""
    leaves = computed_leaves(connection)
    return merkle.root_of(leaves, merkle.tree(leaves))


def computed_leaves(connection: apsw.Connection) -> dict[str, bytes]:
    ids: Any = connection.execute("SELECT id FROM documents")
    return dict(
        chain.from_iterable(
            _leaves(connection, group) for group in _groups([document_id for (document_id,) in ids])
        )
    )


def _leaves(connection: apsw.Connection, document_ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    return (
        (document_id, merkle.leaf(line)) for document_id, line in _lines(connection, document_ids).items()
    )


def _groups(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE))


def siblings_of(connection: apsw.Connection, document_id: str) -> list[dict[str, str]]:
    """On each level from the lowest: the other children of the node above this document."""
    levels = []
    for length in range(len(document_id)):
        prefix = document_id[:length]
        if len(_below(connection, prefix)) < 2:
            break
        children = children_of(connection, prefix)
        levels.append({d: value.hex() for d, value in children.items() if d != document_id[length]})
    return levels[::-1]
