"""Receipts: what was asked, of which index, by which engine, and what came back, under one digest.

`claim` holds what must come out the same on every machine, and the digest is over it. `observed` holds what
may not: the index's own counters, the clock, and raw BM25, whose logarithm comes from the system's library
and may differ in its last bit; it is rounded to twelve digits.
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
    """Who answered: a receipt by another engine may differ for that reason alone."""

    version: str
    schema: int
    tokenizer: str


class Claim(TypedDict):
    """What must come out the same on every machine."""

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
    """What may differ between two runs and machines."""

    index_id: str
    generation: Count
    now_ms: Count
    bm25: list[Object]


class Receipt(TypedDict):
    """What was asked, of which index, by which engine, and what came back. The digest is over the claim."""

    receipt: Literal[1]
    claim: Claim
    observed: Observed
    digest: str


class WithReceipt(TypedDict):
    """What an answer has beside it where the caller asked for a receipt."""

    receipt: NotRequired[Receipt]


def make(
    response: Response, snapshot: Snapshot, engine: EngineVersion, max_terms: int, now_ms: int
) -> Receipt:
    """The receipt of an answer, made inside the snapshot it was read from."""
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
        "bm25": [_rounded(item) for item in answer.ranked],
    }
    return {"receipt": VERSION, "claim": claim, "observed": observed, "digest": digest_of(claim)}


def digest_of(claim: Mapping[str, Any]) -> str:
    return sha256(canonical(claim).encode("ascii")).hexdigest()


def _plain(given: object) -> Any:
    """Parameters as JSON, the same whether they came as tuples, arrays or lists."""
    if isinstance(given, Mapping):
        return {str(name): _plain(value) for name, value in given.items()}
    if isinstance(given, (list, tuple)):
        return [_plain(one) for one in given]
    if given is None or isinstance(given, (bool, int, float, str)):
        return given
    if hasattr(given, "tolist"):
        return _plain(given.tolist())
    raise UsageError(f"a parameter of type {type(given).__name__} cannot go into a receipt; give it as JSON")


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
    if not _by_bm25(trace):
        result["score"] = item.score
    if "newest_first" in profile.ties:
        result["updated_ms"] = facts.modified_ms
    if profile.freshness:
        result["freshness"] = facts.freshness
    return result


def _by_bm25(trace: Trace) -> bool:
    """Whether scores are made of BM25's own numbers, not of ranks or cosines alone."""
    return isinstance(trace.plan.profile.fusion, WeightedSum) and "lexical" in trace.legs.hits


def _rounded(item: Ranked) -> Object:
    lexical = item.evidence.get("lexical")
    return {
        "id": item.item_id,
        "score": steady(item.score),
        "bm25": None if lexical is None else steady(lexical.raw),
    }


def checked(receipt: object) -> dict[str, Any]:
    """A receipt as somebody brought it, if it is one and its digest fits."""
    if not isinstance(receipt, Mapping) or not isinstance(receipt.get("claim"), Mapping):
        raise UsageError("this is no receipt: it must be a JSON object with 'claim' and 'digest'")
    if receipt.get("receipt") != VERSION:
        raise UsageError(
            f"receipt version {receipt.get('receipt')!r} is not known; this Quintet reads {VERSION}"
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
            raise UsageError(f"this is no receipt: its {name} is missing or of the wrong kind")
    if taken := sorted(set(RESERVED) & set(claim["params"])):
        raise UsageError(f"this is no receipt: {taken[0]} is not a parameter of a contract")
    if not _fits(claim, receipt.get("digest")):
        raise UsageError("this receipt was changed after it was written: its digest does not fit its claim")
    return dict(receipt)


def _fits(claim: Mapping[str, Any], digest: object) -> bool:
    try:
        return digest_of(claim) == digest
    except (ValueError, RecursionError):  # not a number, or nested beyond what is ever written
        return False


def changed_documents(before: Mapping[str, Any], snapshot: Snapshot) -> list[str] | None:
    """What was added, changed or removed since a receipt, by name; None where that is too much to tell.

    The index that wrote it knows by its own log; any other by the sketch, up to some thirty documents.
    """
    tree = snapshot.tree
    ids = _by_sketch(before["claim"]["documents"], tree.sketch)
    if ids is None:
        observed = before.get("observed")
        same = isinstance(observed, Mapping) and observed.get("index_id") == snapshot.catalog.identity
        generation = observed.get("generation") if same and isinstance(observed, Mapping) else None
        if not isinstance(generation, int) or not 0 <= generation <= snapshot.catalog.generation:
            return None
        ids = tree.changed_since(generation)
    names = tree.names(ids)
    return [names.get(one, f"a document that is not here (id {one})") for one in ids]


def _by_sketch(encoded: str, now: bytes) -> list[str] | None:
    try:
        before = b64decode(encoded, validate=True)
    except ValueError:
        return None
    return set_difference.changed_ids(before, now) if len(before) == len(now) else None
