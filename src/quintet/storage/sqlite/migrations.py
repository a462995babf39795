"""The schema, one numbered step after another. `user_version` counts the steps that were taken.

Text that contracts score lives in `text` alone: BM25's lengths count every column, so identifier parts
and CJK pairs have tables of their own. All three are contentless and share the chunk's row number.
"""

import secrets
import time
from pathlib import Path

import apsw

from quintet.errors import Conflict, StoreError
from quintet.storage.sqlite import checksums

APPLICATION_ID = 0x51544554  # "QTET"

UNICODE = "tokenize='unicode61 remove_diacritics 2'"
COLUMNS = f"content, heading_path, title, content='', contentless_delete=1, {UNICODE}"

FIRST = f"""
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE roots (
        row INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        location TEXT NOT NULL UNIQUE,
        only_files TEXT
    );
    CREATE TABLE documents (
        row INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        root INTEGER NOT NULL REFERENCES roots (row),
        path TEXT NOT NULL,
        title TEXT NOT NULL,
        mime_type TEXT NOT NULL,
        language TEXT,
        size INTEGER NOT NULL,
        modified_ns INTEGER NOT NULL,
        indexed_ns INTEGER NOT NULL,
        content_hash TEXT NOT NULL,
        shape TEXT NOT NULL,
        metadata TEXT NOT NULL,
        UNIQUE (root, path)
    );
    CREATE TABLE chunks (
        row INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        document INTEGER NOT NULL REFERENCES documents (row),
        sequence INTEGER NOT NULL,
        first_line INTEGER NOT NULL,
        last_line INTEGER NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        heading_path TEXT NOT NULL,
        text_hash BLOB NOT NULL
    );
    CREATE INDEX chunks_by_document ON chunks (document, sequence);
    CREATE INDEX chunks_by_text ON chunks (text_hash);
    CREATE TABLE contents (row INTEGER PRIMARY KEY REFERENCES chunks (row), content TEXT NOT NULL);
    CREATE TABLE vectors (
        row INTEGER PRIMARY KEY AUTOINCREMENT,
        text_hash BLOB NOT NULL UNIQUE,
        vector BLOB NOT NULL
    );
    CREATE TABLE next_vectors (text_hash BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
    CREATE VIRTUAL TABLE text USING fts5 ({COLUMNS});
    CREATE VIRTUAL TABLE parts USING fts5 ({COLUMNS});
    CREATE VIRTUAL TABLE cjk USING fts5 ({COLUMNS});
    """

# Symbols, what files mention, and the edges between them.
GRAPH = """
    CREATE TABLE outlines (
        row INTEGER PRIMARY KEY,
        document TEXT NOT NULL UNIQUE,
        body TEXT NOT NULL
    );
    CREATE TABLE symbols (
        row INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        outline INTEGER NOT NULL REFERENCES outlines (row),
        number INTEGER NOT NULL,
        parent INTEGER,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        qualified_name TEXT NOT NULL,
        signature TEXT NOT NULL,
        docstring TEXT NOT NULL,
        first_line INTEGER NOT NULL,
        last_line INTEGER NOT NULL,
        visibility TEXT NOT NULL,
        is_test INTEGER NOT NULL
    );
    CREATE INDEX symbols_by_outline ON symbols (outline, number);
    CREATE INDEX symbols_by_name ON symbols (name);
    CREATE TABLE edges (
        source INTEGER NOT NULL REFERENCES symbols (row),
        target INTEGER NOT NULL REFERENCES symbols (row),
        relation TEXT NOT NULL,
        confidence TEXT NOT NULL,
        line INTEGER NOT NULL,
        PRIMARY KEY (source, target, relation, confidence, line)
    ) WITHOUT ROWID;
    CREATE INDEX edges_by_target ON edges (target);
    CREATE TABLE unlinked (
        document TEXT PRIMARY KEY,
        root TEXT NOT NULL,
        path TEXT NOT NULL,
        before TEXT,
        lost INTEGER NOT NULL
    ) WITHOUT ROWID;
    ALTER TABLE chunks ADD COLUMN node TEXT;
    """

# What a document or chunk carries beyond a file: pages, sources, metadata of its own.
DOCUMENT_FIELDS = """
    ALTER TABLE chunks ADD COLUMN page INTEGER;
    """

# Memories that no longer hold are few, and every recall leaves them out. The guard keeps deep JSON, which
# SQLite will not read, from ending a transaction.
SUPERSEDED = "CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.valid_until_ms') END IS NOT NULL"
MEMORY = f"""
    CREATE INDEX superseded ON documents (row) WHERE {SUPERSEDED};
    """

# The Merkle tree, the documents it has not taken in yet, and which generation changed a document last.
TREE = """
    CREATE TABLE leaves (id TEXT PRIMARY KEY, hash BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE nodes (prefix TEXT PRIMARY KEY, hash BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE unsettled (id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE changes (
        id TEXT PRIMARY KEY,
        root TEXT NOT NULL,
        path TEXT NOT NULL,
        generation INTEGER NOT NULL
    ) WITHOUT ROWID;
    INSERT INTO unsettled SELECT id FROM documents;
    INSERT INTO changes SELECT d.id, r.name, d.path, 0 FROM documents d JOIN roots r ON r.row = d.root;
    """

# A tag for each generation: a database that was put back may count the same numbers again, with other text.
LINEAGE = """
    CREATE TABLE lineage (generation INTEGER PRIMARY KEY, tag TEXT NOT NULL);
    INSERT INTO lineage SELECT value, hex(randomblob(8)) FROM meta WHERE key = 'generation';
    """

# What changed since a generation is asked after every one.
CHANGES = "CREATE INDEX changes_by_generation ON changes (generation);"

# How much text FTS5 gathers in memory before it writes a segment, which it has to merge with others later.
# Its own 1 MB makes a large run write the same terms again and again.
GATHERED = 8 << 20
GATHER = f"""
    INSERT INTO text (text, rank) VALUES ('hashsize', {GATHERED});
    INSERT INTO parts (parts, rank) VALUES ('hashsize', {GATHERED});
    INSERT INTO cjk (cjk, rank) VALUES ('hashsize', {GATHERED});
    """

# A query that names something looks for its definition.
NAMES = "CREATE INDEX chunks_by_name ON chunks (name) WHERE name <> '';"

# SQLite notices no flipped bit in a value.
CHECKSUMS = f"""
    ALTER TABLE vectors ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE next_vectors ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE documents ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE chunks ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE symbols ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE edges ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    UPDATE vectors SET checksum = vector_checksum(text_hash, vector);
    UPDATE next_vectors SET checksum = vector_checksum(text_hash, vector);
    UPDATE documents SET checksum = row_checksum({checksums.COLUMNS["documents"]});
    UPDATE chunks SET checksum = row_checksum({checksums.COLUMNS["chunks"]});
    UPDATE symbols SET checksum = row_checksum({checksums.COLUMNS["symbols"]});
    UPDATE edges SET checksum = row_checksum({checksums.COLUMNS["edges"]});
    """

MIGRATIONS = (
    FIRST,
    GRAPH + DOCUMENT_FIELDS + MEMORY + TREE,
    LINEAGE,
    CHANGES,
    GATHER,
    NAMES,
    CHECKSUMS,
)


def schema_version(connection: apsw.Connection, file: Path) -> int:
    """How many migrations were applied. Refuses a foreign file and a schema newer than this code."""
    # Count the tables first: another process may commit all three at once between these lines.
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    application = int(connection.pragma("application_id"))
    version = int(connection.pragma("user_version"))
    if application != APPLICATION_ID and (application or tables):
        raise StoreError(f"{file} is a database of another program; choose another folder with --db")
    if version > len(MIGRATIONS):
        raise Conflict(
            f"{file} has schema {version}, newer than the {len(MIGRATIONS)} this Quintet knows; "
            "upgrade Quintet, or index into another folder"
        )
    return version


def is_current(connection: apsw.Connection, file: Path) -> bool:
    return schema_version(connection, file) == len(MIGRATIONS)


def migrate(connection: apsw.Connection, file: Path) -> None:
    """Apply the migrations that are missing, in one transaction.

    The connection begins transactions IMMEDIATE: of two processes one migrates, the other finds it done.
    """
    checksums.register(connection)
    with connection:
        for number in range(schema_version(connection, file), len(MIGRATIONS)):
            connection.execute(MIGRATIONS[number])
            connection.pragma("user_version", number + 1)
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute(
            "INSERT OR IGNORE INTO meta VALUES ('index_id', ?), ('generation', '0'), ('vector_epoch', '1')",
            (secrets.token_hex(8),),
        )
        checksums.seal(connection)


def use_wal(connection: apsw.Connection, timeout_ms: int) -> None:
    """SQLite does not wait by itself here if another process opens the new file at the same time."""
    last = time.monotonic() + timeout_ms / 1000
    while True:
        try:
            connection.pragma("journal_mode", "wal")
            return
        except apsw.BusyError:
            if time.monotonic() > last:
                raise
            time.sleep(0.001)
