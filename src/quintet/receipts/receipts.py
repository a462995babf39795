"""Make receipts and proofs of an open index, and replay receipts."""

from collections.abc import Callable, Mapping
from typing import Any

import quintet
from quintet.collection import Collection
from quintet.contracts import HOUSE, contract_named
from quintet.errors import Conflict, NotFound, StoreError, UsageError
from quintet.model.documents import Json
from quintet.model.text_query import TextQuery
from quintet.ports.reading import Snapshot
from quintet.query.places import encodable
from quintet.query.search import Response
from quintet.receipts import proof, receipt
from quintet.receipts.replay import Verdict, compare


class Receipts:
    """Searches with receipts. A receipt names the engine and the tokenizer that answered."""

    def __init__(
        self,
        collection: Collection,
        schema: int,
        tokenizer: Callable[[TextQuery | None], str],
        now_ms: Callable[[], int],
    ) -> None:
        """`schema` is the version of the store. `now_ms` is the time that goes into `observed`."""
        self._collection = collection
        self._schema = schema
        self._tokenizer = tokenizer
        self._now_ms = now_ms

    def search(self, query: str, contract: str = HOUSE, **params: object) -> tuple[Response, receipt.Receipt]:
        """An answer with its receipt."""
        with self._collection.snapshot() as snapshot:
            response = self._collection.search_in(snapshot, query, contract_named(contract), params)
            return response, self._receipt(response, snapshot)

    def verify(self, untrusted: object) -> Verdict:
        """Replay a receipt on this index: identical, or the first difference and its cause."""
        before = receipt.check_receipt(untrusted)
        claim: Mapping[str, Any] = before["claim"]
        contract = contract_named(claim["contract"])
        with self._collection.snapshot() as snapshot:
            response = self._collection.replay_in(snapshot, claim["query"], contract, claim["params"])
            return compare(before, self._receipt(response, snapshot), snapshot)

    def _receipt(self, response: Response, snapshot: Snapshot) -> receipt.Receipt:
        text_query = response.trace.legs.text if response.trace else None
        engine = receipt.EngineVersion(quintet.__version__, self._schema, self._tokenizer(text_query))
        max_terms = self._collection.settings.max_terms
        return receipt.make_receipt(response, snapshot, engine, max_terms, self._now_ms())

    def prove(self, chunk_id: str) -> dict[str, Json]:
        """A proof that a chunk is in the index, to be checked by `quintet.check_proof`."""
        chunk_id = encodable(chunk_id)
        with self._collection.snapshot() as snapshot:
            passage = snapshot.catalog.passages([chunk_id]).get(chunk_id)
            if passage is None:
                raise NotFound(
                    f"no chunk has the id {chunk_id!r}; search --json shows ids", code="document_not_found"
                )
            record_and_siblings = snapshot.tree.proof(passage.document.id)
            if record_and_siblings is None:
                raise Conflict("a run is under way or was interrupted; run 'quintet index', then try again")
            root, embedder = snapshot.tree.root, snapshot.catalog.embedder
            inclusion = proof.make_proof(passage, *record_and_siblings, root, embedder)
        try:
            proof.check_proof(inclusion)
        except UsageError as error:
            raise StoreError(
                f"chunk {chunk_id} is not stored as it was indexed ({error.message}); "
                "run 'quintet index --force'"
            ) from error
        return inclusion
