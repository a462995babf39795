"""References over HTTP: where a document's file can be had from this server."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

from quintet.errors import UsageError
from quintet.knowledge.references import with_references
from quintet.model.documents import Json
from quintet.query.search import Response

SOURCE_FILE: Final = "/v1/playgrounds/knowledge-bases/{kb}/documents/{doc}/source-file"
WITH_FILES: Final = ("upload", "local_directory")  # a text has none, and folders are no knowledge base


def file_url(metadata: Mapping[str, Json]) -> str | None:
    """The route of a result's file; None where there is no file, or it is no document of a base."""
    if metadata.get("source_type") not in WITH_FILES:
        return None
    base, document = str(metadata["knowledge_base_id"]), str(metadata["document_id"])
    return SOURCE_FILE.format(kb=quote(base, safe=""), doc=quote(document, safe=""))


def wants_references(body: dict[str, Any]) -> bool:
    """Take `references` out of a retrieval request."""
    value = body.pop("references", False)
    if not isinstance(value, bool):
        raise UsageError("references must be true or false", details={"parameter": "references"})
    return value


def cited(found: Response) -> Response:
    return replace(found, body=with_references(found.body, file_url))
