"""Documents one by one and page by page, for features that list and change documents."""

import json
from collections.abc import Iterable
from typing import Any

import apsw

from quintet.contracts.bases import BASE
from quintet.model.documents import Document
from quintet.ports.documents import StoredDocument
from quintet.storage.sqlite.checksums import CheckedRows

LISTED = (
    "SELECT d.row, r.name, d.path, d.title, d.mime_type, d.language, d.size, d.modified_ns, d.content_hash, "
    "d.metadata, d.indexed_ns, d.shape, (SELECT count(*) FROM chunks c WHERE c.document = d.row) "
    "FROM documents d JOIN roots r ON r.row = d.root"
)
SHOWN_ID = f"json_extract(d.metadata, '$.{BASE}.document_id')"


class SqliteDocuments:
    """The documents of one snapshot."""

    def __init__(self, connection: apsw.Connection, checked: CheckedRows) -> None:
        self._connection = connection
        self._checked = checked

    def get(self, document_ids: Iterable[str]) -> dict[str, StoredDocument]:
        """Those of these ids that are there."""
        documents = {}
        for document_id in dict.fromkeys(document_ids):
            for row in self._connection.execute(f"{LISTED} WHERE d.id = ?", (document_id,)):
                documents[document_id] = self._listed(row)
        return documents

    def page(self, after: str, limit: int) -> list[StoredDocument]:
        """The next documents of a knowledge base behind that `document_id`, by it."""
        rows = self._connection.execute(
            f"{LISTED} WHERE {SHOWN_ID} > ? ORDER BY {SHOWN_ID} LIMIT ?", (after, limit)
        )
        return [self._listed(row) for row in rows.fetchall()]

    def _listed(self, row: tuple[Any, ...]) -> StoredDocument:
        self._checked.check_documents(self._connection, row[:1])
        return StoredDocument(Document(*[*row[1:9], json.loads(row[9])]), *row[10:])

    def counts(self) -> dict[str, int]:
        """How many documents each root has."""
        sql = (
            "SELECT r.name, count(d.row) FROM roots r LEFT JOIN documents d ON d.root = r.row GROUP BY r.row"
        )
        return dict(self._connection.execute(f"{sql} ORDER BY r.name"))
