"""An example of each request that has a body, by the id of its operation. The suite sends all of them."""

from collections.abc import Mapping

from quintet.contracts import CONTRACTS
from quintet.model.documents import Json
from quintet.receipts.receipt import digest_of

SEARCH: Mapping[str, Json] = {"query": "how long are answers cached?", "limit": 3}
CLAIM: Mapping[str, Json] = {
    "engine": "0.1.0",
    "schema": 12,
    "tokenizer": "unicode61",
    "embedder": "granite",
    "state_root": "0" * 64,
    "linker": None,
    "documents": "",
    "contract": "quintet",
    "query": "how long are answers cached?",
    "params": {"limit": 3},
    "max_terms": 64,
    "status": "ok",
    "results": [],
}
RECEIPT: Mapping[str, Json] = {
    "receipt": 1,
    "claim": dict(CLAIM),
    "observed": {"index_id": "0" * 32, "generation": 7, "now_ms": 1_793_000_000_000, "bm25": []},
    "digest": digest_of(CLAIM),
}
EXAMPLES: Mapping[str, Mapping[str, Json]] = {
    "search": {**SEARCH, "filters": {"path": "docs/**"}},
    **{f"search_{name}": SEARCH for name in CONTRACTS},
    "search_all": {"query": "cache ttl", "code": {"limit": 3}, "memory": {"kind": "decision"}},
    "retrieve": {
        "retrieval": {"query": "when does the canteen open?", "index": "kb_handbook", "top_k": 3},
        "references": True,
    },
    "verify_receipt": RECEIPT,
    "explain_result": {"query": "cache ttl", "reference": "docs/deploy.md", "params": {"limit": 1}},
    "remember": {"text": "Answers are cached for five minutes.", "kind": "decision", "tags": ["cache"]},
    "recall": {"query": "cache", "limit": 3},
    "find_related": {"reference": "cache_answer", "strategy": "callers", "depth": 2},
    "make_map": {"paths": ["src"], "budget": 512},
    "read_passages": {"reference": "docs/cache.md:1-20"},
    "forget": {"path": "docs/old.md"},
    "make_folder_context": {"query": "how long are answers cached?", "budget": 1000},
    "reindex": {"path": "docs"},
    "create_base": {
        "slug": "handbook",
        "title": "Handbook",
        "properties": [{"name": "team", "type": "text"}],
    },
    "put_documents": {"id": "canteen", "title": "Canteen", "text": "The canteen opens at noon."},
    "change_document": {"title": "Canteen and kitchen"},
    "add_source": {"directory": "docs", "name": "Documentation"},
    "make_context": {"query": "when does the canteen open?", "budget": 1000},
}
