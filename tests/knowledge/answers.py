"""Short ways into what a base answers."""

from typing import Any

from quintet import Response


def found(response: Response) -> list[dict[str, Any]]:
    body: Any = response.body
    return [result for call in body["retrieval_calls"] for result in call["results"]]


def ids(response: Response) -> list[str]:
    return [result["metadata"]["document_id"] for result in found(response)]
