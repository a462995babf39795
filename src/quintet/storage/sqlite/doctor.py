"""Checks whether a store is sound. Each check gives one sentence, with what to do when it fails."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from quintet.errors import QuintetError
from quintet.model import merkle, set_difference
from quintet.model.documents import embedding_context, is_text_of
from quintet.ports.health import HealthCheck
from quintet.processes import private
from quintet.storage.sqlite import state_tree
from quintet.storage.sqlite.catalog import SqliteCatalog, counted, counts, meta
from quintet.storage.sqlite.checksums import COLUMNS, check_seal, check_tables, check_vectors
from quintet.storage.sqlite.database import RESTORED, Database
from quintet.storage.sqlite.document_tables import TEXT_TABLES
from quintet.storage.sqlite.migrations import schema_version

ANEW = "move the index away and run 'quintet index'"
MATRIX = "delete the folders vectors-* in the index folder; they are rebuilt"
POSTINGS = "delete the files text-*.postings in the index folder; they are rebuilt"


def examine(connection: apsw.Connection) -> list[HealthCheck]:
    checks = {"database": _database, "text": _text, "vectors": _vectors, "graph": _graph, "tree": _tree}
    return [_sqlite(), *(run_check(name, partial(check, connection)) for name, check in checks.items())]


def run_check(name: str, check: Callable[[], HealthCheck], way_out: str = ANEW) -> HealthCheck:
    """Run a check. If damage keeps it from finishing, report that, so that the other checks still run."""
    try:
        return check()
    except (apsw.BusyError, apsw.LockedError):  # nothing is wrong
        raise
    except QuintetError as error:
        return HealthCheck(name, False, error.message)
    except Exception as error:
        reason = f"it cannot be examined ({type(error).__name__}: {error})"
        return HealthCheck(name, False, f"{reason}; {way_out}")


def examine_matrix(differing: int) -> HealthCheck:
    """Searches read vectors from files, not from the database."""
    if not differing:
        return HealthCheck("matrix", True, "the vectors on disk match the database")
    return HealthCheck("matrix", False, f"{differing} vectors on disk are damaged; {MATRIX}")


def examine_postings(right: bool) -> HealthCheck:
    """Searches read postings from a file, not from the database."""
    if right:
        return HealthCheck("postings", True, "the postings match the text")
    return HealthCheck("postings", False, f"the postings do not match the text; {POSTINGS}")


def examine_memory(file: Path) -> HealthCheck:
    """The database of memories. The first memory creates it; this check never does."""
    if not file.exists():
        return HealthCheck("memory", True, "none: nothing was remembered yet")
    database = Database(file, precious=True)
    try:
        database.check_file()
        with database.reading() as connection:
            if not schema_version(connection, file):
                return HealthCheck("memory", True, "empty: nothing was remembered yet")
            return _memories(connection)
    except QuintetError as error:
        return HealthCheck("memory", False, error.message)
    finally:
        database.close()


def examine_permissions(folder: Path, fix: bool) -> HealthCheck:
    """Versions before 0.2 let other accounts read an index. `fix` takes that right away."""
    if fix:
        try:
            private.close_to_others(folder)
        except OSError as error:
            reason = f"{error.filename or folder}: {error.strerror}"
            return HealthCheck("access", False, f"{reason}; run this as the owner of the folder")
    places = list(private.open_to_others(folder))
    if not places:
        return HealthCheck("access", True, "only its owner can read the index")
    wrong = f"other accounts have access to {places[0]} and {len(places) - 1} more files and folders"
    return HealthCheck("access", False, f"{wrong}; run 'quintet doctor --fix'")


def _memories(connection: apsw.Connection) -> HealthCheck:
    wrong = [check for check in (_database(connection), _text(connection)) if not check.ok]
    if wrong:
        problems = "; ".join(check.message.partition("; ")[0] for check in wrong)
        return HealthCheck("memory", False, f"{problems}; export what can be read, {RESTORED}")
    return HealthCheck("memory", True, f"{counted(connection).documents} memories, all searchable")


def _sqlite() -> HealthCheck:
    return HealthCheck("sqlite", True, f"SQLite {apsw.sqlite_lib_version()} with FTS5")


def _database(connection: apsw.Connection) -> HealthCheck:
    try:
        check_seal(connection)
        check_tables(connection, COLUMNS)
        check_vectors(connection)
    except apsw.CorruptError as error:
        return HealthCheck("database", False, f"{error}; {ANEW}")
    return check_pages(connection)


def check_pages(connection: apsw.Connection) -> HealthCheck:
    for table in TEXT_TABLES:  # or FTS5 compares with what this connection last saw of the table
        connection.execute(f"SELECT rowid FROM {table} LIMIT 1").fetchall()
    lines = [line for (line,) in connection.execute("PRAGMA integrity_check(3)")]
    if lines == ["ok"]:
        return HealthCheck("database", True, "every page is sound")
    return HealthCheck("database", False, f"{'; '.join(lines)}; {ANEW}")


def _text(connection: apsw.Connection) -> HealthCheck:
    """Contentless tables hold no text to compare with, so rows are counted. The text itself has a hash."""
    (chunks, rows) = next(
        iter(connection.execute("SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM text_docsize)"))
    )
    if counts(connection) != counted(connection):
        return HealthCheck(
            "text", False, "the stored counts do not match the index; run 'quintet index --force'"
        )
    if chunks != rows:
        return HealthCheck(
            "text", False, f"{rows} of {chunks} chunks are searchable; run 'quintet index --force'"
        )
    if changed := _altered(connection):
        wrong = f"the text of {changed} of {chunks} chunks is not what was indexed"
        return HealthCheck("text", False, f"{wrong}; run 'quintet index --force'")
    return HealthCheck("text", True, f"{chunks} chunks, all searchable")


def _altered(connection: apsw.Connection) -> int:
    rows: Any = connection.execute(
        "SELECT c.text_hash, d.language, d.path, c.heading_path, x.content FROM chunks c "
        "JOIN documents d ON d.row = c.document LEFT JOIN contents x ON x.row = c.row"
    )
    return sum(
        text is None or not is_text_of(key, embedding_context(language, path), heading, text)
        for key, language, path, heading, text in rows
    )


def _vectors(connection: apsw.Connection) -> HealthCheck:
    identity = meta(connection, "embedder") or SqliteCatalog(connection).choices.embedder
    counts = counted(connection)
    if not identity:
        return HealthCheck("vectors", True, "none: this index searches text only")
    message = f"{counts.embedded} of {counts.chunks} chunks embedded by {identity}"
    if counts.text_only:
        message += f", {counts.text_only} of generated code searched by text only"
    if counts.embedded + counts.text_only == counts.chunks:
        return HealthCheck("vectors", True, message)
    return HealthCheck("vectors", False, message + "; run 'quintet index' to embed the rest")


def _graph(connection: apsw.Connection) -> HealthCheck:
    """Look for symbols without a document and edges without a symbol. Unlinked documents are no fault."""
    (symbols, edges, stray, loose, waiting) = next(
        iter(
            connection.execute(
                "SELECT (SELECT count(*) FROM symbols), (SELECT count(*) FROM edges), "
                "(SELECT count(*) FROM symbols s LEFT JOIN outlines o ON o.row = s.outline "
                "LEFT JOIN documents d ON d.id = o.document WHERE d.row IS NULL), "
                "(SELECT count(*) FROM edges e LEFT JOIN symbols a ON a.row = e.source "
                "LEFT JOIN symbols b ON b.row = e.target WHERE a.row IS NULL OR b.row IS NULL), "
                "(SELECT count(*) FROM unlinked)"
            )
        )
    )
    if stray or loose:
        wrong = f"{stray} of {symbols} nodes belong to no document, {loose} of {edges} edges to no node"
        return HealthCheck("graph", False, f"{wrong}; {ANEW}")
    later = f"; the next run links {waiting} changed documents" if waiting else ""
    return HealthCheck("graph", True, f"{symbols} nodes, {edges} edges{later}")


def _tree(connection: apsw.Connection) -> HealthCheck:
    """Compare the stored Merkle tree with the one computed from the documents."""
    waiting = int(connection.execute("SELECT count(*) FROM unsettled").get)
    if waiting:
        return HealthCheck("tree", True, f"the next run updates it for {waiting} changed documents")
    leaves = state_tree.computed_leaves(connection)
    expected = (leaves, merkle.tree(leaves), set_difference.toggle(set_difference.empty(), leaves.items()))
    stored = (
        dict(connection.execute("SELECT id, hash FROM leaves")),
        dict(connection.execute("SELECT prefix, hash FROM nodes")),
        state_tree.stored_sketch(connection),
    )
    if stored == expected:
        return HealthCheck("tree", True, f"the state root matches the {len(leaves)} documents")
    wrong = "the stored state root does not match the documents"
    return HealthCheck("tree", False, f"{wrong}; {ANEW}")
