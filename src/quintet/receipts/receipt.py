"""A receipt: the query, the index, the engine and the results, under one digest.

`claim` holds what every machine must reproduce; the digest covers it. `observed` holds what may differ: the
counters of the index, the clock, and raw BM25, rounded to twelve digits because the logarithm of the system's
library may differ in its last bit.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, NotRequired, TypedDict

from quintet.errors import UsageError
from quintet.model import set_difference
from quintet.model.merkle import canonical
from quintet.model.results import Ranked, Status
from quintet.model.schema import Count, Object
from quintet.ports.reading import Snapshot
from quintet.query.search import Response, Trace
from quintet.ranking import WeightedSum
from quintet.ranking.order import steady

VERSION: Literal[1] = 1
RESERVED = ("contract", "query", "self")


@dataclass(frozen=True, slots=True)
class EngineVersion:
    """The engine that answered. A receipt by another engine may differ for that reason alone."""

    version: str
    schema: int
    tokenizer: str


class Claim(TypedDict):
    """What every machine must reproduce."""

    engine: str
    schema: Count
    tokenizer: str
    embedder: str
    state_root: str
    linker: str | None
    documents: str
    contract: str
    query: str
    params: Object
    max_terms: Count
    status: Status
    results: list[Object]


class Observed(TypedDict):
    """What may differ between runs and machines."""

    index_id: str
    generation: Count
    now_ms: Count
    bm25: list[Object]


class Receipt(TypedDict):
    """The query, the index, the engine and the results. The digest covers the claim."""

    receipt: Literal[1]
    claim: Claim
    observed: Observed
    digest: str


class WithReceipt(TypedDict):
    """The field that an answer has if the caller asked for a receipt."""

    receipt: NotRequired[Receipt]


def make_receipt(
    response: Response, snapshot: Snapshot, engine: EngineVersion, max_terms: int, now_ms: int
) -> Receipt:
    """The receipt of an answer. `snapshot` is the one that the answer was read from."""
    trace, answer = response.trace, response.answer
    assert trace is not None and answer is not None
    tree = snapshot.tree
    claim: Claim = {
        "engine": engine.version,
        "schema": engine.schema,
        "tokenizer": engine.tokenizer,
        "embedder": answer.embedding_model,
        "state_root": tree.root,
        "linker": tree.linker,
        "documents": b64encode(tree.sketch).decode("ascii"),
        "contract": trace.contract.name,
        "query": trace.query,
        "params": _plain(trace.given),
        "max_terms": max_terms,
        "status": response.status,
        "results": [_result(rank, item, trace) for rank, item in enumerate(answer.ranked, start=1)],
    }
    observed: Observed = {
        "index_id": snapshot.catalog.identity,
        "generation": snapshot.catalog.generation,
        "now_ms": now_ms,
        "bm25": [_rounded_scores(item) for item in answer.ranked],
    }
    return {"receipt": VERSION, "claim": claim, "observed": observed, "digest": digest_of(claim)}


def digest_of(claim: Mapping[str, Any]) -> str:
    return sha256(canonical(claim).encode("ascii")).hexdigest()


def _plain(value: object) -> Any:
    """Parameters as JSON. Tuples, arrays and lists give the same."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    raise UsageError(f"a receipt cannot hold a parameter of type {type(value).__name__}; give it as JSON")


def _result(rank: int, item: Ranked, trace: Trace) -> Object:
    facts = trace.facts[item.best_chunk]
    result: Object = {
        "rank": rank,
        "id": item.item_id,
        "chunk_id": item.best_chunk,
        "path": facts.path,
        "sequence": facts.sequence,
        "legs": {signal: evidence.rank for signal, evidence in item.evidence.items()},
    }
    profile = trace.plan.profile
    if not _uses_bm25(trace):
        result["score"] = item.score
    if "newest_first" in profile.ties:
        result["updated_ms"] = facts.modified_ms
    if profile.freshness:
        result["freshness"] = facts.freshness
    return result


def _uses_bm25(trace: Trace) -> bool:
    """Whether scores contain BM25 itself, not only ranks and cosines."""
    return isinstance(trace.plan.profile.fusion, WeightedSum) and "lexical" in trace.legs.hits


def _rounded_scores(item: Ranked) -> Object:
    lexical = item.evidence.get("lexical")
    return {
        "id": item.item_id,
        "score": steady(item.score),
        "bm25": None if lexical is None else steady(lexical.raw),
    }


def check_receipt(receipt: object) -> dict[str, Any]:
    """An untrusted receipt, if it is one and its digest matches its claim."""
    if not isinstance(receipt, Mapping) or not isinstance(receipt.get("claim"), Mapping):
        raise UsageError("this is not a receipt: it must be a JSON object with 'claim' and 'digest'")
    if receipt.get("receipt") != VERSION:
        raise UsageError(
            f"receipt version {receipt.get('receipt')!r} is unknown; this Quintet reads version {VERSION}"
        )
    claim = receipt["claim"]
    shape = {
        "contract": str,
        "query": str,
        "params": Mapping,
        "results": list,
        "documents": str,
        "state_root": str,
    }
    for name, kind in shape.items():
        if not isinstance(claim.get(name), kind):
            raise UsageError(f"this is not a receipt: its {name} is missing or has the wrong type")
    if reserved := sorted(set(RESERVED) & set(claim["params"])):
        raise UsageError(f"this is not a receipt: {reserved[0]} is not a parameter of a contract")
    if not _matches(claim, receipt.get("digest")):
        raise UsageError("this receipt was changed after it was written: its digest does not match its claim")
    return dict(receipt)


def _matches(claim: Mapping[str, Any], digest: object) -> bool:
    try:
        return digest_of(claim) == digest
    except (ValueError, RecursionError):  # a NaN, or nested deeper than any real receipt
        return False


def changed_documents(before: Mapping[str, Any], snapshot: Snapshot) -> list[str] | None:
    """The names of the documents that were added, changed or removed since a receipt; None if unknown.

    Any index can tell up to about thirty documents from the sketch. The index that wrote the receipt can also
    tell from its log.
    """
    tree = snapshot.tree
    ids = _ids_by_sketch(before["claim"]["documents"], tree.sketch)
    if ids is None:
        observed = before.get("observed")
        same = isinstance(observed, Mapping) and observed.get("index_id") == snapshot.catalog.identity
        generation = observed.get("generation") if same and isinstance(observed, Mapping) else None
        if not isinstance(generation, int) or not 0 <= generation <= snapshot.catalog.generation:
            return None
        ids = tree.changed_since(generation)
    names = tree.names(ids)
    return [names.get(id, f"a document that this index does not have (id {id})") for id in ids]


def _ids_by_sketch(encoded: str, now: bytes) -> list[str] | None:
    try:
        before = b64decode(encoded, validate=True)
    except ValueError:
        return None
    return set_difference.changed_ids(before, now) if len(before) == len(now) else None
