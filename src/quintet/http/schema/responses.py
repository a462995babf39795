"""What an answer holds, as JSON Schemas. The contracts' bodies are closed: a new key must be told here."""

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
OPEN: Schema = {"type": "object"}
LINES: Schema = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
MAYBE_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
PROBABILITY: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1}


NUMBERS: Schema = {"type": "object", "additionalProperties": {"type": "number"}}


def closed(properties: Mapping[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    """An object of exactly these keys, all there but the `optional` ones."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def several(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def one_of(*names: str) -> Schema:
    return {"type": "string", "enum": list(names)}


NOTE = closed({"code": TEXT, "message": TEXT})
STATUSES = one_of("ok", "empty_index", "never_indexed", "degraded")
CLAIM = closed(
    {
        "engine": TEXT,
        "schema": COUNT,
        "tokenizer": TEXT,
        "embedder": TEXT,
        "state_root": TEXT,
        "linker": MAYBE_TEXT,
        "documents": TEXT,
        "contract": TEXT,
        "query": TEXT,
        "params": OPEN,
        "max_terms": COUNT,
        "status": STATUSES,
        "results": several(OPEN),
    }
)
RECEIPT = closed(
    {
        "receipt": {"type": "integer", "const": 1},
        "claim": CLAIM,
        "observed": closed({"index_id": TEXT, "generation": COUNT, "now_ms": COUNT, "bm25": several(OPEN)}),
        "digest": TEXT,
    }
)
BESIDE: Mapping[str, Schema] = {"status": STATUSES, "notes": several(NOTE), "receipt": RECEIPT}
ERROR = closed({"error": closed({"code": TEXT, "message": TEXT, "details": OPEN})})

EVIDENCE = closed(
    {"rank": MAYBE_COUNT, "score": NUMBER, "raw": NUMBER, "weight": NUMBER, "contribution": NUMBER}
)
HOUSE_RESULT = closed(
    {
        "chunk_id": TEXT,
        "root": TEXT,
        "path": TEXT,
        "page": MAYBE_COUNT,
        "heading_path": TEXT,
        "lines": LINES,
        "content": TEXT,
        "score": NUMBER,
        "signals": {"type": "object", "additionalProperties": EVIDENCE},
    }
)
RIFFLUX_RESULT = closed(
    {
        "chunk_id": TEXT,
        "path": TEXT,
        "heading_path": TEXT,
        "chunk_index": COUNT,
        "content": TEXT,
        "score_breakdown": {
            "oneOf": [
                closed({"bm25": NUMBER}),
                closed({"cosine": NUMBER}),
                closed({"rrf": NUMBER, "lexical_rank": MAYBE_COUNT, "semantic_rank": MAYBE_COUNT}),
            ]
        },
    }
)
HARNESS_RESULT = closed(
    {
        "document_id": TEXT,
        "doc_score": NUMBER,
        "snippet": TEXT,
        "chunk_id": TEXT,
        "path": TEXT,
        "title": TEXT,
        "updated_at": TEXT,
        "source": TEXT,
        "metadata": OPEN,
    }
)
MCB_RESULT = closed(
    {
        "node": closed(
            {
                "id": TEXT,
                "kind": TEXT,
                "name": TEXT,
                "path": TEXT,
                "start_line": COUNT,
                "end_line": COUNT,
                "content": TEXT,
            }
        ),
        "matched_fields": several(TEXT),
        "score": NUMBER,
        "bm25_rank": NUMBER,
        "semantic_rank": NUMBER,
        "graph_rank": NUMBER,
        "freshness": one_of("Fresh", "Acceptable", "Stale", "StaleWithRisk"),
        "freshness_penalty": NUMBER,
        "provenance": closed(
            {
                "matched_bm25": FLAG,
                "matched_semantic": FLAG,
                "matched_graph_expansion": FLAG,
                "distance_in_graph": MAYBE_COUNT,
            }
        ),
    }
)
KNOWLEDGE_RESULT = closed(
    {
        "id": TEXT,
        "text": TEXT,
        "metadata": OPEN,
        "score": NUMBER,
        "score_kind": one_of("cosine", "bm25", "hybrid_score"),
        "relevance_score": NUMBER,
        "relevance_kind": one_of("similarity", "keyword_score", "hybrid_score"),
        "relevance_components": closed({"semantic_score": NUMBER, "keyword_score": NUMBER}),
    },
    optional=("relevance_components",),
)
RETRIEVAL_CALL = closed(
    {
        "index": TEXT,
        "query": TEXT,
        "top_k": COUNT,
        "search_method": one_of("semantic", "keyword", "hybrid"),
        "query_preprocessing": one_of("none", "normalize"),
        "hybrid_alpha": NUMBER,
        "result_count": COUNT,
        "results": several(KNOWLEDGE_RESULT),
    },
    optional=("hybrid_alpha",),
)
CFS_RESULT = closed(
    {
        "chunk": closed({"id": TEXT, "text": TEXT, "sequence": COUNT, "document_id": TEXT}),
        "document": closed({"id": TEXT, "path": TEXT, "mime_type": TEXT, "modified_ms": {"type": "integer"}}),
        "score": NUMBER,
    }
)
ASKED: Mapping[str, Schema] = {"query": TEXT, "mode": TEXT}


def _body(properties: Mapping[str, Schema]) -> Schema:
    """A contract's body, with `status`, `notes` and the receipt, if one was asked for, beside it."""
    return closed({**properties, **BESIDE}, optional=("receipt",))


BODIES: Mapping[str, Schema] = {
    "quintet": _body({**ASKED, "confidence": PROBABILITY, "results": several(HOUSE_RESULT)}),
    "rifflux": _body({**ASKED, "count": COUNT, "embedding_model": TEXT, "results": several(RIFFLUX_RESULT)}),
    "harness": _body({**ASKED, "hybrid_alpha": NUMBER, "results": several(HARNESS_RESULT)}),
    "mcb": _body({"query": TEXT, "k": COUNT, "results": several(MCB_RESULT)}),
    "knowledge": _body({"retrieval_calls": several(RETRIEVAL_CALL)}),
    "cfs": _body({**ASKED, "results": several(CFS_RESULT)}),
}

CHUNK = closed(
    {
        "chunk_id": TEXT,
        "document_id": TEXT,
        "root": TEXT,
        "path": TEXT,
        "title": TEXT,
        "page": MAYBE_COUNT,
        "heading_path": TEXT,
        "lines": LINES,
        "content": TEXT,
    }
)
STATUS = closed(
    {
        "files": COUNT,
        "chunks": COUNT,
        "embedded": COUNT,
        "embedder": MAYBE_TEXT,
        "roots": several(
            closed({"name": TEXT, "location": TEXT, "only": {"type": ["array", "null"], "items": TEXT}})
        ),
        "generation": COUNT,
        "state_root": TEXT,
        "lag": closed(
            {
                "added": COUNT,
                "changed": COUNT,
                "removed": COUNT,
                "missing_roots": several(TEXT),
                "refused": COUNT,
            }
        ),
        "hnsw": {
            "anyOf": [
                closed({"rows": COUNT, "of": COUNT, "recall": NUMBERS, "building": FLAG}),
                {"type": "null"},
            ]
        },
        "tuned": NUMBERS,
        "cache": closed(dict.fromkeys(("hits", "misses", "evictions", "expired", "entries", "bytes"), COUNT)),
        "index": TEXT,
    }
)
PROGRESS = closed({"stage": TEXT, "done": COUNT, "total": COUNT})
REINDEXED = closed(
    {
        "indexed_files": COUNT,
        "skipped_files": COUNT,
        "indexed_paths": several(TEXT),
        "embedding_model": TEXT,
        "embedding_backend": TEXT,
        "removed_files": COUNT,
        "pending": COUNT,
        "problems": several(closed({"path": TEXT, "reason": TEXT})),
    },
    optional=("indexed_paths",),
)
RUN = closed(
    {
        "id": COUNT,
        "source_id": TEXT,
        "started_ms": COUNT,
        "state": one_of("running", "done", "failed"),
        "step": one_of("scan", "read", "remove", "embed", "done"),
        "path": MAYBE_TEXT,
        **dict.fromkeys(("scanned", "changed", "deleted"), COUNT),
        **dict.fromkeys(("created_documents", "updated_documents", "deleted_documents"), COUNT),
        "problems": several(closed({"path": TEXT, "reason": TEXT})),
        "unlisted_problems": COUNT,
        "error": MAYBE_TEXT,
        "finished_ms": MAYBE_COUNT,
    }
)
JOB = closed(
    {
        "id": TEXT,
        "kind": one_of("reindex", "sync"),
        "state": one_of("queued", "running", "done", "failed", "cancelled"),
        "cancel_requested": FLAG,
        "created": TEXT,
        "progress": {"anyOf": [PROGRESS, {"type": "null"}]},
        "result": {"anyOf": [REINDEXED, RUN, {"type": "null"}]},
        "error": {"anyOf": [ERROR["properties"]["error"], {"type": "null"}]},
    }
)
HEALTH = closed({"status": one_of("ok", "ready")})
