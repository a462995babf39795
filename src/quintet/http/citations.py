"""References over HTTP: the route of the file behind each document."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from quintet.knowledge.references import with_references
from quintet.model.documents import Json
from quintet.query.search import Response

SOURCE_FILE: Final = "/v1/playgrounds/knowledge-bases/{kb}/documents/{doc}/source-file"
WITH_FILES: Final = (
    "upload",
    "local_directory",
)  # a text has no file


def file_url(metadata: Mapping[str, Json]) -> str | None:
    """The route of a result's file; None if there is no file or the document is in no knowledge base."""
    if metadata.get("source_type") not in WITH_FILES:
        return None
    base, document = str(metadata["knowledge_base_id"]), str(metadata["document_id"])
    return SOURCE_FILE.format(kb=quote(base, safe=""), doc=quote(document, safe=""))


def with_citations(response: Response) -> Response:
    return replace(response, body=with_references(response.body, file_url))
