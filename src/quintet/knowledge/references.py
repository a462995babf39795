"""References: the documents behind the results of spec 003, numbered as citations."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from quintet.knowledge.results import Reference
from quintet.model.documents import Json

FileUrl = Callable[[Mapping[str, Json]], str | None]  # from a result's metadata to a route for its file
LONGEST_RANGE = 1_000  # pages; of a longer range only both ends are kept
LOCAL = re.compile(r"(?:[a-z][a-z0-9+.-]*:){0,4}file:|[/\\]|[A-Za-z]:[/\\]|~[/\\]", re.IGNORECASE)


def is_local(uri: str) -> bool:
    """Whether this address is a place on a disk, which answers must not reveal.

    >>> [is_local(uri) for uri in ("file:///etc/hosts", "view-source:file:///etc/hosts", "/etc/hosts")]
    [True, True, True]
    >>> [is_local(uri) for uri in ("docs/a.md", "https://a.b/c", "urn:isbn:1")]
    [False, False, False]
    """
    return LOCAL.match(uri.strip()) is not None


def with_references(body: Mapping[str, Json], file_url: FileUrl | None = None) -> dict[str, Any]:
    """The body of a retrieval with `references`, and with each result's `reference_id`.

    A reference is a document, numbered by its best result; `pages` are the pages of all its results.
    """
    calls: Any = body["retrieval_calls"]
    by_document: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for result in (result for call in calls for result in call["results"]):
        by_document.setdefault(_document(result["metadata"]), []).append(result)
    number = {document: f"ref-{place}" for place, document in enumerate(by_document, 1)}
    tagged = [{**call, "results": [_tagged(result, number) for result in call["results"]]} for call in calls]
    references = [_reference(n, results, file_url) for n, results in enumerate(by_document.values(), 1)]
    return {**body, "retrieval_calls": tagged, "references": references}


def _document(metadata: Mapping[str, Any]) -> tuple[str, str]:
    return str(metadata["knowledge_base_id"]), str(metadata["document_id"])


def _tagged(result: Mapping[str, Any], number: Mapping[tuple[str, str], str]) -> dict[str, Json]:
    return {**result, "reference_id": number[_document(result["metadata"])]}


def _reference(number: int, results: Sequence[Mapping[str, Any]], file_url: FileUrl | None) -> Reference:
    metadata = results[0]["metadata"]
    pages = sorted({page for result in results for page in pages_of(result["metadata"])})
    uri = metadata.get("uri")
    reference: Reference = {
        "id": f"ref-{number}",
        "citation_label": f"[{number}]",
        "title": metadata["title"],
        "uri": uri if isinstance(uri, str) and not is_local(uri) else None,
        "pages": [*pages],
        "source_ids": [result["id"] for result in results],
    }
    url = file_url(metadata) if file_url else None
    if url is not None:
        reference["file_url"] = f"{url}#page={pages[0]}" if pages and _is_pdf(metadata) else url
    return reference


def _is_pdf(metadata: Mapping[str, Any]) -> bool:
    names = (metadata.get("source_path"), metadata.get("source_name"))
    return any(isinstance(name, str) and name.lower().endswith(".pdf") for name in names)


def pages_of(metadata: Mapping[str, Json]) -> set[int]:
    """The pages of a result: its own, a list, or a range from `page_start` to `page_end`.

    >>> sorted(pages_of({"page_number": 7, "pages": [2, "x"], "page_start": 3, "page_end": 5}))
    [2, 3, 4, 5, 7]
    """
    listed = metadata.get("pages")
    single = [metadata.get("page_number"), *(listed if isinstance(listed, list) else [listed])]
    return {page for page in single if _is_page(page)} | set(_range(metadata))


def _range(metadata: Mapping[str, Json]) -> Iterator[int]:
    first, last = metadata.get("page_start"), metadata.get("page_end")
    first, last = (first if _is_page(first) else last), (last if _is_page(last) else first)
    if isinstance(first, int) and isinstance(last, int) and _is_page(first) and first <= last:
        yield from range(first, last + 1) if last - first < LONGEST_RANGE else (first, last)


def _is_page(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
