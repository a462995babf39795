"""Receipts and proofs of an open index: written, replayed, compared."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

import quintet
from quintet.contracts import HOUSE
from quintet.errors import Conflict, NotFound, StoreError, UsageError
from quintet.model.documents import Json
from quintet.query.places import encodable
from quintet.query.search import Response
from quintet.receipts import proof, receipt
from quintet.receipts.replay import Verdict, compare
from quintet.settings import Settings
from quintet.storage.sqlite.migrations import MIGRATIONS, UNICODE
from quintet.storage.sqlite.store import SqliteSnapshot
from quintet.storage.text.tantivy import fields as tantivy_fields

ENGINE = receipt.Engine(quintet.__version__, len(MIGRATIONS), UNICODE)
Ask = Callable[[SqliteSnapshot, str, str, Mapping[str, object]], Response]


class Snapshots(Protocol):
    def snapshot(self) -> AbstractContextManager[SqliteSnapshot]: ...


class Receipts:
    """`ask` searches in a snapshot, `replay` by the parameters of a receipt alone; `now_ms` tells the time
    that goes into `observed`."""

    def __init__(
        self, store: Snapshots, ask: Ask, replay: Ask, settings: Settings, now_ms: Callable[[], int]
    ) -> None:
        self._store = store
        self._ask = ask
        self._replay = replay
        self._settings = settings
        self._now_ms = now_ms

    def search(self, query: str, contract: str = HOUSE, **params: object) -> tuple[Response, dict[str, Json]]:
        """An answer with its receipt."""
        with self._store.snapshot() as snapshot:
            return self._witnessed(self._ask, snapshot, query, contract, params)

    def _witnessed(
        self, ask: Ask, snapshot: SqliteSnapshot, query: str, contract: str, params: Mapping[str, object]
    ) -> tuple[Response, dict[str, Json]]:
        response = ask(snapshot, query, contract, params)
        engine = self._engine(response)
        written = receipt.make(response, snapshot, engine, self._settings.max_terms, self._now_ms())
        return response, written

    def _engine(self, response: Response) -> receipt.Engine:
        """Tantivy is named where it scored the answer."""
        asked = response.trace.legs.text if response.trace else None
        if self._settings.text_index == "fts5" or asked is None or asked.needs_fts5:
            return ENGINE
        return replace(ENGINE, tokenizer=f"{UNICODE}, {tantivy_fields.engine().__version__}")

    def verify(self, given: object) -> Verdict:
        """Replay a receipt on this index: identical, or what differs first and why."""
        before = receipt.checked(given)
        claim: Mapping[str, Any] = before["claim"]
        with self._store.snapshot() as snapshot:
            asked = claim["query"], claim["contract"], claim["params"]
            _, after = self._witnessed(self._replay, snapshot, *asked)
            return compare(before, after, snapshot)

    def prove(self, chunk_id: str) -> dict[str, Json]:
        """A proof that a chunk is in the index, to be checked by `quintet.receipts.proof.check`."""
        chunk_id = encodable(chunk_id)
        with self._store.snapshot() as snapshot:
            found = snapshot.catalog.passages([chunk_id])
            if chunk_id not in found:
                raise NotFound(
                    f"no chunk has the id {chunk_id!r}; search --json shows ids", code="document_not_found"
                )
            proved = snapshot.tree.proof(found[chunk_id].document.id)
            if proved is None:
                raise Conflict("a run is under way or was cut short; run 'quintet index', then ask again")
            made = proof.make(found[chunk_id], *proved, snapshot.tree.root, snapshot.catalog.embedder)
        try:
            proof.check(made)
        except UsageError as error:
            raise StoreError(
                f"what is stored of chunk {chunk_id} is not what was indexed ({error.message}); "
                "run 'quintet index --force'"
            ) from error
        return made
