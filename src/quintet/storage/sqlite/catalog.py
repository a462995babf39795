"""What is in the index: facts for ranking, passages for projection, counts and the state root."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, cast

import apsw
import numpy as np

from quintet.model.documents import Chunk, Document, Passage, is_text_of
from quintet.model.filters import Filter
from quintet.model.results import Facts
from quintet.ports.reading import Counts, KnownFile, RefusedFiles, Root, Rows, Source
from quintet.ports.writing import Choices
from quintet.storage.sqlite import filters
from quintet.storage.sqlite.checksums import CheckedRows

CHUNK = "c.id, d.id, c.sequence, x.content, c.heading_path, c.first_line, c.last_line, c.kind, c.name, c.page"
DOCUMENT = (
    "r.name, d.path, d.title, d.mime_type, d.language, d.size, d.modified_ns, d.content_hash, d.metadata"
)
MILLISECONDS = "(d.modified_ns - (d.modified_ns % 1000000 + 1000000) % 1000000) / 1000000"  # rounded down
FACTS = (  # in the order of `Facts`
    f"d.id, d.path, c.sequence, c.first_line, {MILLISECONDS}, coalesce(c.node, c.id), 'Fresh', c.name, "
    "c.kind, c.heading_path, d.language IS NOT NULL"
)
FACT_TABLES = "FROM chunks c JOIN documents d ON d.row = c.document"
JOINED = f"{filters.FROM} LEFT JOIN contents x ON x.row = c.row"  # a missing text is damage, not "no match"
make_facts: Callable[[Iterable[Any]], Facts] = partial(tuple.__new__, Facts)  # `_make` without its checks
STATE = (
    "SELECT value, (SELECT value FROM meta WHERE key = 'index_id'), "
    "(SELECT tag FROM lineage WHERE generation = value) "
    "FROM (SELECT (SELECT value FROM meta WHERE key = 'generation') AS value)"
)
CHANGED = "SELECT id FROM changes WHERE generation > ?"
CACHED_IDS = 10_000  # chunks, some 2 MB; a search sees a few hundred
COUNTS = re.compile(r"(?P<generation>[0-9]{1,18}) ([0-9]{1,18}) ([0-9]{1,18}) ([0-9]{1,18}) ([0-9]{1,18})")
TEXT_ONLY = "SELECT row FROM documents WHERE NOT is_embedded(language, path)"


class SqliteCatalog:
    """One snapshot's catalog."""

    def __init__(
        self, connection: apsw.Connection, counts: Counts | None = None, checked: CheckedRows | None = None
    ) -> None:
        self._connection = connection
        self._counts = counts
        self._checked = checked or CheckedRows()

    @property
    def identity(self) -> str:
        return meta(self._connection, "index_id") or ""

    @property
    def generation(self) -> int:
        return number(self._connection, "generation")

    @property
    def tag(self) -> str:
        return tag_of(self._connection, self.generation) or ""

    @property
    def unfinished(self) -> bool:
        return meta(self._connection, "unfinished") is not None

    @cached_property
    def embedder(self) -> str | None:
        return meta(self._connection, "embedder")

    @property
    def choices(self) -> Choices:
        """What earlier runs chose, for runs that choose nothing."""
        try:
            stored = json.loads(meta(self._connection, "choices") or "{}")
            globs = [tuple(map(str, stored.get(name, ()))) for name in ("include", "exclude")]
        except (ValueError, TypeError, AttributeError) as error:
            raise apsw.CorruptError("its choices are not a JSON object") from error
        return Choices(bool(stored.get("text_only")), str(stored.get("embedder", "")), *globs)

    def ever_filled(self) -> bool:
        """Whether there is or was a root. Choices and an embedder may be stored before the first one."""
        return bool(roots(self._connection)) or meta(self._connection, "root_dropped") is not None

    def counts(self) -> Counts:
        if self._counts is None:
            self._counts = counts(self._connection)
        return self._counts

    def roots(self) -> list[Root]:
        return roots(self._connection)

    def refused(self) -> dict[str, RefusedFiles]:
        return refused(self._connection)

    def known(self, root: str) -> dict[str, KnownFile]:
        return known(self._connection, root)

    def documents_below(self, path: str, root: str | None) -> list[tuple[str, str]]:
        rows = self._connection.execute(
            "SELECT r.name, d.path FROM documents d JOIN roots r ON r.row = d.root "
            "WHERE (d.path = ?1 OR substr(d.path, 1, length(?1) + 1) = ?1 || '/') "
            "AND (?2 IS NULL OR r.name = ?2) ORDER BY r.name, d.path",
            (path, root),
        )
        return list(rows)

    def facts(self, chunk_ids: Iterable[str]) -> dict[str, Facts]:
        rows = list(self._with_ids(f"SELECT {FACTS}, c.row, c.id {FACT_TABLES} WHERE c.id", chunk_ids))
        self._check([row[-2] for row in rows])
        return {row[-1]: make_facts(row[:-2]) for row in rows}

    def defining(self, names: Sequence[str], limit: int, within: Rows | None) -> list[str]:
        wanted = apsw.carray(tuple(name for name in dict.fromkeys(names) if "\0" not in name))
        rows: Any = self._connection.execute(
            "SELECT c.name, c.id, c.row FROM chunks c JOIN documents d ON d.row = c.document "
            "WHERE c.name IN (SELECT value FROM carray(?)) AND c.name <> '' "
            "ORDER BY d.path, c.sequence, c.id",
            (wanted,),
        )
        allowed = None if within is None else set(within.tolist())
        taken: Counter[str] = Counter()
        chunk_ids = []
        for name, chunk_id, row in rows:
            if (allowed is None or row in allowed) and taken[name] < limit:
                taken[name] += 1
                chunk_ids.append(chunk_id)
        return chunk_ids

    def at_line(self, path: str, line: int, limit: int, within: Rows | None) -> list[str]:
        rows: Any = self._connection.execute(
            "SELECT c.id, c.row FROM chunks c JOIN documents d ON d.row = c.document "
            "WHERE substr('/' || d.path, -length(?1)) = ?1 AND ?2 BETWEEN c.first_line AND c.last_line "
            "ORDER BY d.path, c.sequence, c.id",
            (f"/{path}", line),
        )
        allowed = None if within is None else set(within.tolist())
        return [chunk_id for chunk_id, row in rows if allowed is None or row in allowed][:limit]

    def passages(self, chunk_ids: Iterable[str]) -> dict[str, Passage]:
        rows = self._with_ids(
            f"SELECT c.row, c.text_hash, {CHUNK}, {DOCUMENT} {JOINED} WHERE c.id", chunk_ids
        )
        return {passage.chunk.id: passage for passage in self._checked_passages(rows)}

    def _check(self, rows: Sequence[int]) -> None:
        """Compare chunks and their documents with their checksums, unless that was done before."""
        if not self._checked.chunks.issuperset(rows):
            self._checked.check_chunks(self._connection, rows)

    def _checked_passages(self, rows: Iterable[tuple[Any, ...]]) -> list[Passage]:
        found = list(rows)
        self._check([row[0] for row in found])
        return [_passage(row[1:]) for row in found]

    def sources(self, document_ids: Iterable[str]) -> dict[str, Source]:
        columns = (
            "d.id, r.name, r.location, d.path, d.size, d.modified_ns, d.content_hash, d.indexed_ns, d.shape"
        )
        tables = "FROM documents d JOIN roots r ON r.row = d.root"
        sources = {}
        for document_id, root, location, path, *known in self._with_ids(
            f"SELECT {columns} {tables} WHERE d.id", document_ids
        ):
            sources[document_id] = Source(root, location, path, KnownFile(*known))
        return sources

    def _with_ids(self, sql: str, ids: Iterable[str]) -> Iterable[tuple[Any, ...]]:
        """The rows of a statement that ends with the column to compare with these ids."""
        storable = tuple([id for id in dict.fromkeys(ids) if "\0" not in id])  # which `carray` cannot take
        if not storable:
            return ()
        return self._connection.execute(f"{sql} IN (SELECT value FROM carray(?))", (apsw.carray(storable),))

    def passages_of(self, root: str, path: str) -> list[Passage]:
        """The passages of a document in reading order."""
        where = "WHERE r.name = ? AND d.path = ? ORDER BY c.sequence"
        sql = f"SELECT c.row, c.text_hash, {CHUNK}, {DOCUMENT} {JOINED} {where}"
        return self._checked_passages(self._connection.execute(sql, (root, path)))

    def select(self, filter: Filter) -> Rows | None:
        if not filter.conditions:
            return None
        self._checked.check_all_documents(self._connection)
        return filters.select(self._connection, filter)

    def passing(self, filter: Filter, chunk_ids: Sequence[str]) -> set[str]:
        return filters.passing(self._connection, filter, chunk_ids)


class ChunkIds:
    """Rows and ids of the chunks of one snapshot. One leg of a search finds chunks by row; the next asks for
    them by id, so the latest are cached."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._rows: dict[str, int] = {}

    def at(self, rows: Rows) -> dict[int, str]:
        """The ids of the chunks at these rows, of which there is at least one."""
        ids = dict(
            self._connection.execute(
                "SELECT row, id FROM chunks WHERE row IN (SELECT value FROM carray(?))",
                (apsw.carray(np.ascontiguousarray(rows)),),
            )
        )
        self.remember({chunk_id: row for row, chunk_id in ids.items()})
        return ids

    def rows(self, chunk_ids: Sequence[str]) -> dict[str, int]:
        """The rows of these chunks; a chunk that is not here is left out."""
        rows = {chunk_id: self._rows[chunk_id] for chunk_id in chunk_ids if chunk_id in self._rows}
        others = tuple(chunk_id for chunk_id in chunk_ids if chunk_id not in rows)
        if others:
            rows |= dict(
                self._connection.execute(
                    "SELECT id, row FROM chunks WHERE id IN (SELECT value FROM carray(?))",
                    (apsw.carray(others),),
                )
            )
        return rows

    def remember(self, rows: Mapping[str, int]) -> None:
        """Cache rows that another query read anyway."""
        if len(self._rows) + len(rows) > CACHED_IDS:
            self._rows.clear()
        self._rows.update(rows)


def counts(connection: apsw.Connection) -> Counts:
    """The counts that the last run stored; else count, which takes half a second a million chunks."""
    stored = COUNTS.fullmatch(meta(connection, "counts") or "")
    if stored is None or stored["generation"] != meta(connection, "generation"):
        return counted(connection)
    return Counts(*map(int, stored.groups()[1:]))


def store_counts(connection: apsw.Connection) -> None:
    """Store the counts of this generation, so that the next search need not count."""
    generation, counts = number(connection, "generation"), counted(connection)
    stored = f"{generation} {counts.documents} {counts.chunks} {counts.embedded} {counts.text_only}"
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('counts', ?)", (stored,))


def counted(connection: apsw.Connection) -> Counts:
    (row,) = connection.execute(
        "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks), "
        "(SELECT count(*) FROM chunks WHERE text_hash IN (SELECT text_hash FROM vectors)), "
        f"(SELECT count(*) FROM chunks WHERE document IN ({TEXT_ONLY}) "
        "AND text_hash NOT IN (SELECT text_hash FROM vectors))"
    )
    return Counts(*row)


def meta(connection: apsw.Connection, key: str) -> str | None:
    return cast("str | None", connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).get)


def number(connection: apsw.Connection, key: str) -> int:
    return _as_number(meta(connection, key) or "0", key)


def _as_number(value: str, key: str) -> int:
    try:
        return int(value)
    except ValueError as error:
        raise apsw.CorruptError(f"its {key} is {value[:40]!r}") from error


def tag_of(connection: apsw.Connection, generation: int) -> str | None:
    """The tag of a generation; None if this database never had it, or no longer knows."""
    tag = connection.execute("SELECT tag FROM lineage WHERE generation = ?", (generation,)).get
    return cast("str | None", tag)


@dataclass(frozen=True, slots=True)
class State:
    """A state of an index. `tag` tells it from another state with the same generation."""

    index_id: str
    generation: int
    tag: str


def state_of(connection: apsw.Connection) -> State:
    ((generation, index_id, tag),) = connection.execute(STATE)
    return State(index_id or "", _as_number(generation or "0", "generation"), tag or "")


def led_here(connection: apsw.Connection, earlier: State, state: State) -> bool:
    """Whether this database went through `earlier`. A restored database may have reused its generation."""
    if earlier.index_id != state.index_id or earlier.generation > state.generation or not earlier.tag:
        return False
    return tag_of(connection, earlier.generation) == earlier.tag


def roots(connection: apsw.Connection) -> list[Root]:
    rows = connection.execute("SELECT name, location, only_files FROM roots ORDER BY name")
    return [Root(name, location, tuple(json.loads(only)) if only else None) for name, location, only in rows]


def refused(connection: apsw.Connection) -> dict[str, RefusedFiles]:
    try:
        stored = json.loads(meta(connection, "refused") or "{}")
        return {
            root: {path: (int(size), int(time)) for path, (size, time) in files.items()}
            for root, files in stored.items()
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise apsw.CorruptError("its list of refused files has the wrong form") from error


def known(connection: apsw.Connection, root: str) -> dict[str, KnownFile]:
    rows = connection.execute(
        "SELECT d.path, d.size, d.modified_ns, d.content_hash, d.indexed_ns, d.shape "
        "FROM documents d JOIN roots r ON r.row = d.root WHERE r.name = ?",
        (root,),
    )
    return {path: KnownFile(*rest) for path, *rest in rows}


def _passage(row: tuple[Any, ...]) -> Passage:
    """SQLite notices no flipped bit in a text, so what is shown is compared with its hash."""
    key, *fields, stored = row
    try:
        metadata = {} if stored == "{}" else json.loads(stored)
        passage = Passage(Chunk(*fields[:10]), Document(*[*fields[10:], metadata]))
        heading, content = passage.chunk.heading_path, passage.chunk.content
        # What `is_text_of` compares first, without its calls: this runs for every result.
        path = passage.document.path if passage.document.language is not None else ""
        parts = [part for part in (path, heading, content) if part]
        right = sha256("\n".join(parts).encode()).digest() == key or is_text_of(key, path, heading, content)
    except (ValueError, TypeError, AttributeError) as error:
        raise apsw.CorruptError("a passage has the wrong form") from error
    if not right:
        raise apsw.CorruptError(f"the text of chunk {passage.chunk.id} is not what was indexed")
    return passage
