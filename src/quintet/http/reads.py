"""The reads that routes send to reader processes. Each makes one call and gives the bytes of the response."""

import json
import time
from typing import Any

from quintet.errors import LimitError
from quintet.http.citations import file_url, with_citations
from quintet.serving.reply import Reply
from quintet.serving.shared_index import SharedIndex


def search(
    shared: SharedIndex,
    query: Any,
    contract: str,
    params: dict[str, Any],
    receipt: bool,
    references: bool,
    max_bytes: int,
) -> Reply:
    start = time.perf_counter()
    response = shared.search(query, contract, params, receipt=receipt)
    seconds = time.perf_counter() - start
    wire = (with_citations(response) if references else response).wire()
    return Reply(limited_json(wire, max_bytes), seconds, response.seconds)


def search_all(
    shared: SharedIndex,
    query: Any,
    context: dict[str, Any],
    code: dict[str, Any],
    memory: dict[str, Any],
    max_bytes: int,
) -> Reply:
    return Reply(limited_json(shared.search_all(query, context, code, memory).wire(), max_bytes))


def context(shared: SharedIndex, query: Any, index: str, params: dict[str, Any], max_bytes: int) -> Reply:
    response = shared.index.context(query, **params, index=index, file_url=file_url)
    return Reply(limited_json(response.wire(), max_bytes))


def verify(shared: SharedIndex, receipt: Any, max_bytes: int) -> Reply:
    return Reply(limited_json(shared.verify(receipt).wire(), max_bytes))


def why(
    shared: SharedIndex, query: str, reference: str, contract: Any, params: dict[str, Any], max_bytes: int
) -> Reply:
    return Reply(limited_json(shared.why(query, reference, contract, params).wire(), max_bytes))


def to_json(value: object) -> bytes:
    """Byte for byte what `--json` prints."""
    return (json.dumps(value, ensure_ascii=False, default=str) + "\n").encode("utf-8", "replace")


def limited_json(value: object, max_bytes: int) -> bytes:
    """The value as JSON, or an error if that is larger than `max_bytes`."""
    content = to_json(value)
    if len(content) > max_bytes:
        raise LimitError(
            f"the answer has {len(content)} bytes, and the limit is {max_bytes}; ask for fewer results",
            details={"bytes": len(content), "limit": max_bytes},
        )
    return content
