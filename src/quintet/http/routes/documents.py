"""The routes of documents: put as JSON or as files, listed, changed, removed, and had back as files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quintet.errors import Conflict, LimitError, UsageError
from quintet.http.citations import SOURCE_FILE
from quintet.http.knowledge_access import Reach
from quintet.http.limits import json_object
from quintet.http.routes.knowledge import BASE, guarded, named, query_of, whole_number
from quintet.http.schema.requests import known_fields
from quintet.http.source_file import opened, sent
from quintet.http.uploads import Received
from quintet.http.wire import answered, bounded
from quintet.knowledge import Outcome, Upload
from quintet.knowledge.results import DocumentFields

if TYPE_CHECKING:
    from quintet.http.routes.index import Site

ABOUT = ("title", "uri", "metadata")
FIELDS = ("text", "content", "id", "mime", *ABOUT)
MOST_LISTED = 1_000


class DocumentPage(TypedDict):
    documents: list[DocumentFields]
    next: str | None


class Outcomes(TypedDict):
    documents: list[Annotated[Any, Outcome]]


class DocumentRoutes:
    def __init__(self, site: "Site") -> None:
        self._site = site
        limits = site.limits
        self._for_texts = replace(limits, body_bytes=limits.texts_bytes, body_seconds=limits.upload_seconds)

    def all(self) -> list[Route]:
        at = partial(guarded, self._site)
        return [
            at(f"{BASE}/documents", GET=("read", self.listed), POST=("write", self.put)),
            at(
                f"{BASE}/documents/{{doc}}",
                GET=("read", self.get),
                PUT=("write", self.change),
                DELETE=("write", self.delete),
            ),
            at(SOURCE_FILE, GET=("read", self.source_file)),
        ]

    async def listed(self, request: Request, reach: Reach) -> Response:
        asked = query_of(request, ["after", "limit"])
        limit = whole_number(asked.get("limit", "100"), "limit", MOST_LISTED)
        found = await self._site.workers.run(
            lambda: named(request, reach).documents(asked.get("after"), limit)
        )
        page = {"documents": found, "next": found[-1]["id"] if len(found) == limit else None}
        return bounded(page, self._site.limits.result_bytes)

    async def get(self, request: Request, reach: Reach) -> Response:
        document = request.path_params["doc"]
        found = await self._site.workers.run(lambda: named(request, reach).get(document))
        return bounded(found, self._site.limits.result_bytes)

    async def put(self, request: Request, reach: Reach) -> Response:
        """One document or several, as JSON; or files, as a form."""
        await self._site.workers.run(lambda: named(request, reach).slug)  # before anybody sends much
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "multipart/form-data":
            return await self._put_files(request, reach)
        body = await json_object(request, self._for_texts)
        uploads = _uploads(body, self._site.limits.documents) if "documents" in body else None

        def work() -> list[Outcome]:
            base = named(request, reach)
            return base.put_many(uploads) if uploads else [base.put(**_checked(body, "a document"))]

        return _told(await self._site.writers.run(work))

    async def _put_files(self, request: Request, reach: Reach) -> Response:
        with self._site.uploads.place() as spool:
            received = await self._site.uploads.receive(request, spool)
            about = _about(received)

            def work() -> list[Outcome]:
                base = named(request, reach)
                batches = ([replace(one, **about) for one in batch] for batch in received.contents())
                return [outcome for batch in batches for outcome in base.put_many(batch)]

            return _told(await self._site.writers.run(work))

    async def change(self, request: Request, reach: Reach) -> Response:
        """With a text it replaces the document; without one it changes what is said about it."""
        body = await json_object(request, self._for_texts)
        known_fields(body, [name for name in FIELDS if name != "id"], "a document")
        document = request.path_params["doc"]
        if "text" not in body and "content" not in body:
            known_fields(body, ABOUT, "a change without a text")
            if not body:
                raise UsageError(f"there is nothing to change; give a text, or any of {', '.join(ABOUT)}")

        def work() -> Outcome:
            base = named(request, reach)
            if "text" in body or "content" in body:
                return base.put(**_checked({**body, "id": document}, "a document"))
            return base.update(document, **body)

        return _told([await self._site.writers.run(work)])

    async def delete(self, request: Request, reach: Reach) -> Response:
        document = request.path_params["doc"]
        await self._site.writers.run(lambda: named(request, reach).delete(document))
        return answered({"id": document, "outcome": "deleted"})

    async def source_file(self, request: Request, reach: Reach) -> Response:
        def work() -> Response:
            base, document = named(request, reach), request.path_params["doc"]
            if base.get(document)["source_type"] == "text":
                raise Conflict(
                    "this document was given as a text, so there is no file of it; its passages hold it all",
                    code="source_file_not_available",
                )
            file = base.source_file(document)
            return sent(file, opened(file), request.headers)

        return await self._site.workers.run(work)


def _uploads(body: Mapping[str, Any], most: int) -> list[Upload]:
    known_fields(body, ["documents"], "a call with several documents")
    given = body["documents"]
    if not isinstance(given, list) or not given or not all(isinstance(one, dict) for one in given):
        raise UsageError("documents must be a list of objects", details={"parameter": "documents"})
    if len(given) > most:
        raise LimitError(f"the call has {len(given)} documents; at most {most} are taken at once")
    return [_upload(one, f"documents[{place}]") for place, one in enumerate(given)]


def _upload(given: Mapping[str, Any], whose: str) -> Upload:
    one = _checked(given, whose)
    texts = [one[name] for name in ("text", "content") if one.get(name) is not None]
    if len(texts) != 1 or not isinstance(texts[0], str):
        raise UsageError(f"{whose} must have a text or a content, a string: one of them, not both")
    about = {name: one.get(name) for name in (*ABOUT, "id")}
    return Upload(texts[0].encode("utf-8", "replace"), mime=one.get("mime", "text/plain"), **about)


def _checked(given: Mapping[str, Any], whose: str) -> Mapping[str, Any]:
    known_fields(given, FIELDS, whose)
    if not isinstance(given.get("mime", ""), str):
        raise UsageError(f"mime of {whose} must be a media type, such as 'text/markdown'")
    return given


def _about(received: Received) -> dict[str, Any]:
    """What the form says besides its files. Only metadata can be of several files at once."""
    if not received.files:
        raise UsageError("the form holds no file; send each as a part with a filename")
    fields = {name: value.decode("utf-8", "replace") for name, value in received.fields.items()}
    alone = sorted(set(fields) - {"metadata"})
    if alone and len(received.files) > 1:
        raise UsageError(f"{alone[0]} can be given with one file only; send that file by itself")
    about: dict[str, Any] = {**fields}
    if "metadata" in fields:
        try:
            about["metadata"] = json.loads(fields["metadata"])
        except (ValueError, RecursionError):
            raise UsageError("metadata must be a JSON object", details={"parameter": "metadata"}) from None
    return about


def _told(outcomes: Sequence[Outcome]) -> Response:
    return answered({"documents": [asdict(one) for one in outcomes]})
